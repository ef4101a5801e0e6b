import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// Every state of a representation's storage with every input.
@Suite struct StorageStateTests {
    private let generations: TwoGenerations

    init() throws { generations = try TwoGenerations() }

    enum Name: String, CaseIterable, Sendable {
        case undecided, creating, storing, waiting, declined, failed, failedEmpty, left, silent, silentEmpty
    }

    private func make(_ name: Name) -> StorageState {
        var state = StorageState.storing(in: generations.first)
        switch name {
        case .undecided: return .undecided
        case .creating:
            state = .undecided
            state.create(now: 5)
        case .storing: break
        case .waiting: state.waitForSpace(since: 5)
        case .declined: state.decline(.declined)
        case .failed: state.fail(keepsFiles: true, now: 0, firstPause: 10, longestPause: 40)
        case .failedEmpty: state.fail(keepsFiles: false, now: 0, firstPause: 10, longestPause: 40)
        case .left: state.leave(isReadable: true)
        case .silent: state.silence(now: 0, firstPause: 10, longestPause: 40)
        case .silentEmpty:
            state = .undecided
            state.create(now: 5)
            state.silence(now: 0, firstPause: 10, longestPause: 40)
        }
        return state
    }

    /// What others see of a state.
    private func text(_ state: StorageState) -> String {
        let place =
            switch state.destination {
            case .undecided: state.isCreating ? "creating" : "undecided"
            case .files: state.waitsForSpaceSince == nil ? "storing" : "waiting"
            case .nowhere: (state.isSilent ? "silent" : "off ") + "\(state.refusal.map { "\($0)" } ?? "")"
            }
        let files =
            if let generation = state.generation { generation === generations.first ? " reads 1" : " reads 2" } else {
                ""
            }
        return place + files
    }

    @Test func `each state shows one destination, and files only where there are some`() {
        #expect(
            Name.allCases.map { "\($0.rawValue): \(text(make($0)))" } == [
                "undecided: undecided", "creating: creating", "storing: storing reads 1", "waiting: waiting reads 1",
                "declined: off declined reads 1", "failed: off failed reads 1", "failedEmpty: off failed",
                "left: off left reads 1", "silent: silent", "silentEmpty: silent",
            ])
        for name in Name.allCases {
            let state = make(name)
            #expect((state.target != nil) == (state.destination != .nowhere && state.destination != .undecided))
            #expect(state.writable == nil || state.target === state.writable)
            #expect(state.isSettled == (state.destination != .undecided))
        }
    }

    @Test func `files that were made are taken by a state that waits for them, and by no other`() {
        for name in Name.allCases {
            var state = make(name)
            let before = text(state)
            state.created(generations.second)
            #expect(text(state) == (name == .creating ? "storing reads 2" : before), "\(name)")
        }
    }

    @Test func `files that others deleted are made anew, and nothing is read from them meanwhile`() {
        var state = make(.storing)
        state.filesLost(now: 5)
        #expect(text(state) == "creating")
        // Where no new ones can be made what is open is read on.
        state.fail(keepsFiles: false, now: 0, firstPause: 10, longestPause: 40)
        #expect(text(state) == "off failed reads 1")
    }

    @Test func `a disk that does not answer has its files left alone until it does`() {
        var found: [String] = []
        for name in Name.allCases {
            var state = make(name)
            let before = text(state)
            state.silence(now: 0, firstPause: 10, longestPause: 40)
            #expect(name == .undecided || state.generation == nil && state.isOff, "\(name)")
            state.created(generations.second)
            #expect(name == .undecided || state.isSilent, "\(name)")
            let isAnswered = state.answered(.other) || state.answered(.making)
            #expect(isAnswered == (name != .undecided), "\(name)")
            let again = state.answered(.other) || state.answered(.making)
            #expect(!again)
            if text(state) != before { found.append("\(name.rawValue): \(text(state))") }
        }
        #expect(
            found == [
                "creating: off failed", "storing: off failed reads 1", "waiting: off failed reads 1",
                "silent: off failed reads 1", "silentEmpty: off failed",
            ])
    }

    @Test func `files that are being made are known to be until that has ended, however long it takes`() {
        for name in Name.allCases {
            var state = make(name)
            let isMaking = name == .creating || name == .silentEmpty
            #expect(state.awaitsFiles == isMaking, "\(name)")
            state.restartWait(now: 50)
            #expect(name != .creating || state.creatingSince == 50)
            state.silence(now: 0, firstPause: 10, longestPause: 40)
            let isOtherAnswer = state.answered(.other)
            #expect(isOtherAnswer == (!isMaking && name != .undecided), "\(name)")
            #expect(state.awaitsFiles == isMaking, "\(name)")
            let hasEnded = state.answered(.making)
            #expect(hasEnded == isMaking && !state.awaitsFiles, "\(name)")
        }
        var left = make(.creating)
        left.leave(isReadable: true)
        #expect(text(left) == "silent" && left.awaitsFiles)
    }

    @Test func `files that are left while the disk does not answer are read again when it does`() {
        var state = make(.silent)
        state.leave(isReadable: true)
        #expect(text(state) == "silent")
        _ = state.answered(.other)
        #expect(text(state) == "off left reads 1")
        var lost = make(.silent)
        lost.leave(isReadable: false)
        #expect(text(lost) == "silent")
        _ = lost.answered(.other)
        #expect(text(lost) == "off left")
    }

    @Test func `space that is waited for ends in storing or in a failure`() {
        var state = make(.waiting)
        state.spaceFound()
        #expect(text(state) == "storing reads 1")
        state.spaceFound()
        #expect(text(state) == "storing reads 1")
        var other = make(.waiting)
        other.fail(keepsFiles: true, now: 7, firstPause: 10, longestPause: 40)
        #expect(text(other) == "off failed reads 1" && other.retryAt == 17)
    }

    @Test func `a failure is tried again after a pause that doubles up to the longest`() {
        var state = make(.failed)
        #expect(!state.isRetryDue(9) && state.isRetryDue(10))
        var pauses: [Int64] = []
        for _ in 0..<4 {
            state.retryLater(now: 100, firstPause: 10, longestPause: 40)
            pauses.append((state.retryAt ?? 0) - 100)
        }
        #expect(pauses == [20, 40, 40, 40])
        #expect(!state.isFirstFailure)
    }

    @Test func `only storing that lasts ends a run of failures`() {
        var state = make(.failed)
        let result1 = state.reopen()
        #expect(result1)
        state.stored(15)
        #expect(!state.isFirstFailure)
        state.stored(21)
        #expect(state.isFirstFailure)
    }

    @Test func `what is off for another reason than a failure is not tried again by itself`() {
        for name in [Name.declined, .left, .storing, .waiting, .undecided, .creating] {
            #expect(!make(name).isRetryDue(.max), "\(name)")
        }
    }

    @Test func `files are taken up again only where there are some`() {
        var kept = make(.declined)
        let result2 = kept.reopen()
        #expect(result2 && text(kept) == "storing reads 1")
        var none = make(.failedEmpty)
        let result3 = none.reopen()
        #expect(!result3 && text(none) == "off failed")
        var storing = make(.storing)
        let result4 = storing.reopen()
        #expect(!result4)
    }

    @Test func `files that belong to another process are read on or not at all`() {
        for isReadable in [true, false] {
            var state = make(.storing)
            state.leave(isReadable: isReadable)
            #expect(text(state) == (isReadable ? "off left reads 1" : "off left"))
        }
    }
}
