import Foundation

/// What became of a check.
enum Verdict: Sendable, Hashable {
    case pass(String)
    case fail(String)
    case notRun(String)
}

/// One request pattern, and how to provoke it here.
struct Check: Sendable, Identifiable {
    let id: String
    let title: String
    /// Seconds after which it counts as hanging.
    var deadline = 60.0
    let run: @Sendable (Stage) async throws -> Verdict
}

/// A line of the report.
struct ReportLine: Sendable, Hashable, Identifiable {
    let id: String
    let title: String
    let verdict: Verdict

    var text: String {
        switch verdict {
        case .pass(let note): "pass     \(id)  \(title): \(note)"
        case .fail(let reason): "FAIL     \(id)  \(title): \(reason)"
        case .notRun(let reason): "not run  \(id)  \(title): \(reason)"
        }
    }
}

/// A check's condition that did not hold.
struct Unmet: Error {
    let reason: String
}

func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws {
    if !condition { throw Unmet(reason: reason()) }
}

/// Runs `check` on a stage of its own. A check that hangs fails at its deadline.
func report(of check: Check) async -> ReportLine {
    let verdict = await withTaskGroup(of: Verdict.self) { group in
        group.addTask {
            do {
                let stage = try Stage()
                let verdict = try await check.run(stage)
                try await stage.close()
                return verdict
            } catch let unmet as Unmet {
                return .fail(unmet.reason)
            } catch {
                return .fail("\(error)")
            }
        }
        group.addTask {
            do {
                try await Task.sleep(for: .seconds(check.deadline))
                return .fail("nothing happened for \(Int(check.deadline)) seconds")
            } catch {
                return .notRun("cancelled")
            }
        }
        let first = await group.next()
        group.cancelAll()
        return first ?? .notRun("cancelled")
    }
    return ReportLine(id: check.id, title: check.title, verdict: verdict)
}

/// Waits until `condition` holds, looking ten times a second; gives up when the check is cancelled.
func wait(for what: String, seconds: Double = 30, until condition: @Sendable () -> Bool) async throws {
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(seconds))
    while !condition() {
        try require(clock.now < end, "\(what) did not happen within \(Int(seconds)) seconds")
        try await Task.sleep(for: .milliseconds(100))
    }
}
