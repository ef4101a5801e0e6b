import Foundation
import ReprisePlatform
import RepriseTesting
import Testing

/// The whole cache among hostile origins, users, disks and operations, on one thread and a still clock: a seed is a run.
@Suite struct WorldSimulationTests {
    private static let shards: UInt64 = 4
    private static let isFound = Lock(false)

    private static func number(_ name: String) -> UInt64? { SystemCalls.environment(name).flatMap(UInt64.init) }

    private static func violation(_ plan: WorldPlan) -> WorldViolation? {
        do {
            var run = try WorldRun(plan)
            try run.run()
            return nil
        } catch let violation as WorldViolation { return violation } catch {
            return WorldViolation(oracle: "errors", text: "\(error)")
        }
    }

    /// Leaves steps out as long as the same oracle speaks.
    private static func minimised(_ plan: WorldPlan, _ oracle: String) -> WorldPlan {
        var plan = plan
        var size = max(1, plan.steps.count / 2)
        while size >= 1 {
            var start = 0
            while start < plan.steps.count {
                var smaller = plan
                smaller.steps.removeSubrange(start..<min(start + size, plan.steps.count))
                if violation(smaller)?.oracle == oracle { plan = smaller } else { start += size }
            }
            if size == 1 { break }
            size /= 2
        }
        return plan
    }

    /// `REPRISE_WORLD_SEEDS=n` runs n seeds from `REPRISE_FIRST` on; `REPRISE_WORLD_SEED=s` runs one, and makes it small.
    @Test(arguments: 0..<shards)
    func `in any world bytes are right, waits end, resources return and closed means closed, inv01 inv23 inv26 inv29`(
        shard: UInt64
    ) throws {
        if let seed = Self.number("REPRISE_WORLD_SEED") {
            guard shard == 0 else { return }
            try explain(WorldPlan(seed: seed))
            return
        }
        let first = Self.number("REPRISE_FIRST") ?? 1
        let seeds = Self.number("REPRISE_WORLD_SEEDS") ?? 200
        // A hunt for a mistake that was put in ends with the first seed that finds it.
        let isHunt = Self.number("REPRISE_WORLD_HUNT") != nil
        var failures = 0
        var met: [String: Int] = [:]
        for seed in first..<first + seeds where seed % Self.shards == shard && failures < 5 {
            if isHunt, Self.isFound.withLock({ $0 }) { break }
            if isHunt, seed % 100 == shard { FileHandle.standardError.write(Data("world: seeds to \(seed)\n".utf8)) }
            do {
                var run = try WorldRun(WorldPlan(seed: seed))
                try run.run()
                met.merge(run.met, uniquingKeysWith: +)
            } catch {
                failures += 1
                if isHunt { Self.isFound.withLock { $0 = true } }
                Issue.record(
                    "seed \(seed): \("\(error)".prefix(600)); replay with REPRISE_WORLD_SEED=\(seed) make simulate")
            }
        }
        let counts = met.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("simulation: world, shard \(shard): \(seeds) seeds from \(first), \(failures) failures; met \(counts)")
    }

    private func explain(_ plan: WorldPlan) throws {
        guard let found = Self.violation(plan) else { return }
        let small = Self.minimised(plan, found.oracle)
        print("simulation: world, seed \(plan.seed): \(small.steps.count) of \(plan.steps.count) steps are enough")
        print("shared \(plan.isShared), sealed \(plan.isSealed), block \(plan.blockSize), chunk \(plan.chunkSize)")
        for object in small.objects {
            print(object.path, object.length, object.isPerUser, WorldPlan.text(object.behaviour))
        }
        for step in small.steps {
            if case .behave(let object, let behaviour) = step.action {
                print("  behave \(object) \(WorldPlan.text(behaviour)), then \(step.time / 1_000_000) ms")
            } else {
                print("  \(step.action), then \(step.time / 1_000_000) ms, \(step.bytes) bytes")
            }
        }
        var run = try WorldRun(small)
        do { try run.run() } catch {
            for line in run.told.all.suffix(Self.number("REPRISE_WORLD_TOLD").map(Int.init) ?? 30) {
                print("  " + line.prefix(180))
            }
            throw error
        }
        throw found
    }
}

extension WorldPlan {
    /// What of a behaviour is not the usual.
    static func text(_ behaviour: OriginBehaviour) -> String {
        let usual = Mirror(reflecting: OriginBehaviour()).children.map { "\($0.value)" }
        return Mirror(reflecting: behaviour).children.enumerated()
            .filter { "\($0.element.value)" != usual[$0.offset] }
            .map { "\($0.element.label ?? "") \($0.element.value)" }.joined(separator: ", ")
    }
}
