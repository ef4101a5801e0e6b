import RepriseHTTP
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// What a transfer asks, and what it believes of the answer.
@Suite struct RangeContinuationTests {
    private let generation: Generation
    private let wanted = ByteRange(1000, 2000)

    init() throws { generation = try TwoGenerations().first }

    private func known(
        ifRange: String? = nil, overlaps: Bool = true, isBlank: Bool = false, held: RangeContinuation.Overlap? = nil,
        elsewhere: RangeContinuation.Overlap? = nil, stored: ByteRange? = nil, isAll: Bool = true
    ) -> RangeContinuation.Known {
        let generation = generation
        return RangeContinuation.Known(
            guarding: ContinuationGuard(ifRange: ifRange, comparesOverlap: overlaps), isBlank: isBlank,
            isAll: { _ in isAll },
            held: { _ in held }, heldElsewhere: { _ in elsewhere }, stored: { _ in stored.map { (generation, $0) } })
    }

    private func sent(_ step: RangeContinuation.Step) -> RangeContinuation.Request? {
        if case .send(let request) = step { request } else { nil }
    }

    private func isGivenUp(_ step: RangeContinuation.Step) -> Bool { if case .giveUp = step { true } else { false } }

    private let overlap = RangeContinuation.Overlap(offset: 990, bytes: Array(0..<10))

    @Test func `a validator guards without an overlap`() {
        var continuation = RangeContinuation(limit: 10, withheldLimit: 400)
        let request = sent(continuation.next(wanted, isSequential: false, known(ifRange: "\"a\"", overlaps: false)))
        #expect(request == .init(range: wanted, ifRange: "\"a\"", isCheck: false))
        #expect(!continuation.isComparing)
    }

    @Test(arguments: [false, true])
    func `few bytes that adjoin show something only where they are all there is, inv01`(isSequential: Bool) {
        let few = RangeContinuation.Overlap(offset: isSequential ? 0 : 998, bytes: [1, 2])
        var continuation = RangeContinuation(limit: 32, withheldLimit: 400)
        let all = continuation.next(wanted, isSequential: isSequential, known(held: few))
        #expect(sent(all) != nil && continuation.isComparing)
        for known in [known(held: few, isAll: false), known(stored: few.range, isAll: false)] {
            var continuation = RangeContinuation(limit: 32, withheldLimit: 400)
            let next = continuation.next(wanted, isSequential: isSequential, known)
            #expect(isGivenUp(next))
        }
    }

    @Test func `where nothing is held nothing can be mixed`() {
        var continuation = RangeContinuation(limit: 10, withheldLimit: 400)
        let result1 = continuation.next(wanted, isSequential: false, known(isBlank: true))
        #expect(sent(result1)?.range == wanted)
        #expect(!continuation.isComparing)
    }

    @Test func `what the policy forbids and what cannot be compared is given up, inv16`() {
        var continuation = RangeContinuation(limit: 10, withheldLimit: 400)
        var forbidden = known()
        forbidden.guarding = nil
        let result2 = continuation.next(wanted, isSequential: false, forbidden)
        #expect(isGivenUp(result2))
        let result3 = continuation.next(wanted, isSequential: false, known())
        #expect(isGivenUp(result3))
        let result4 = continuation.next(.from(0), isSequential: true, known(elsewhere: overlap))
        #expect(isGivenUp(result4))
    }

    @Test func `bytes just before the joint are asked for with the request`() {
        var continuation = RangeContinuation(limit: 10, withheldLimit: 400)
        let request = sent(continuation.next(wanted, isSequential: false, known(held: overlap)))
        #expect(request == .init(range: ByteRange(990, 2000), ifRange: nil, isCheck: false))
        #expect(continuation.isComparing)
    }

    // MARK: Bytes elsewhere

    private let elsewhere = RangeContinuation.Overlap(offset: 0, bytes: [1, 2, 3])

    @Test func `few bytes elsewhere are no evidence, inv16`() {
        var continuation = RangeContinuation(limit: 4, withheldLimit: 400)
        let step = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
        #expect(isGivenUp(step))
        let stored = continuation.next(wanted, isSequential: false, known(stored: ByteRange(0, 3)))
        #expect(isGivenUp(stored))
    }

    /// One that has asked for what is wanted and was given it.
    private func withheld() -> RangeContinuation {
        var continuation = RangeContinuation(limit: 3, withheldLimit: 400)
        let request = sent(continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere)))
        #expect(request == .init(range: ByteRange(1000, 1400), ifRange: nil, isCheck: false))
        #expect(continuation.isComparing && continuation.isConfirmed)
        guard case .withheld(isFull: false) = continuation.compare([8, 9], at: 1000) else {
            Issue.record("not withheld")
            return continuation
        }
        continuation.requestEnded(received: 2, at: 0)
        return continuation
    }

    @Test func `what is wanted is withheld until bytes elsewhere, asked for after it, were the same, inv01 inv16`() {
        var continuation = withheld()
        // Twice: the first time there may have been no connection slot.
        for _ in 0..<2 {
            let check = sent(continuation.next(wanted, isSequential: false, known(elsewhere: overlap)))
            #expect(check == .init(range: ByteRange(0, 3), ifRange: nil, isCheck: true))
        }
        guard case .open = continuation.compare([1, 2], at: 0), continuation.isComparing,
            case .same(nil, released: [8, 9]) = continuation.compare([3], at: 2)
        else {
            Issue.record("not released")
            return
        }
        #expect(!continuation.isComparing)
        continuation.requestEnded(received: 3, at: 0)
        let later = continuation.next(ByteRange(1002, 2000), isSequential: false, known())
        #expect(isGivenUp(later), "that one is no licence for another")
    }

    @Test func `what a check shows to be another version's is not released`() {
        var continuation = withheld()
        _ = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
        guard case .different = continuation.compare([1, 9, 3], at: 0) else {
            Issue.record("it is taken for the same")
            return
        }
    }

    @Test(arguments: [true, false])
    func `a check of another version shows nothing of what was withheld for it, once, inv01`(byTag: Bool) {
        func validator(_ version: Int) -> Validator {
            byTag ? Validator(entityTag: EntityTag("\"\(version)\"")) : Validator(lastModified: "\(version)")
        }
        var continuation = RangeContinuation(limit: 3, withheldLimit: 400)
        for version in [1, 2] {
            _ = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
            let begins = continuation.agrees(with: validator(version), trustsTags: true)
            #expect(begins)
            _ = continuation.compare([8, 9], at: 1000)
            continuation.requestEnded(received: 2, at: 0)
            let check = sent(continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere)))
            #expect(check?.isCheck == true)
            let shows = continuation.agrees(with: validator(version + 1), trustsTags: true)
            #expect(shows == (version == 2), "where every answer has its own, bytes decide")
        }
        guard case .same(nil, released: [8, 9]) = continuation.compare([1, 2, 3], at: 0) else {
            Issue.record("not released")
            return
        }
    }

    @Test func `where every answer has its own tag a date still shows another version, once, inv01`() {
        func validator(_ tag: Int, _ date: String) -> Validator {
            Validator(entityTag: EntityTag("W/\"\(tag)\""), lastModified: date)
        }
        var continuation = RangeContinuation(limit: 3, withheldLimit: 400)
        for (answer, check, shows) in [
            (validator(1, "new"), validator(2, "new"), false),
            (validator(3, "new"), validator(4, "old"), false),
            (validator(5, "new"), validator(6, "old"), true),
        ] {
            _ = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
            let begins = continuation.agrees(with: answer, trustsTags: true)
            #expect(begins)
            _ = continuation.compare([8, 9], at: 1000)
            continuation.requestEnded(received: 2, at: 0)
            _ = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
            let agrees = continuation.agrees(with: check, trustsTags: true)
            #expect(agrees == shows)
        }
    }

    @Test func `where tags differ without reason they say nothing of a check, inv10`() {
        var continuation = RangeContinuation(limit: 3, withheldLimit: 400)
        _ = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
        for tag in ["\"1\"", "\"2\""] {
            let isSame = continuation.agrees(with: Validator(entityTag: EntityTag(tag)), trustsTags: false)
            #expect(isSame)
            _ = continuation.compare([8, 9], at: 1000)
            continuation.requestEnded(received: 2, at: 0)
            _ = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
        }
    }

    @Test func `what a check is not answered with is asked for by the next`() {
        var continuation = withheld()
        _ = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
        _ = continuation.compare([1, 2], at: 0)
        continuation.requestEnded(received: 2, at: 0)
        let again = sent(continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere)))
        #expect(again == .init(range: ByteRange(2, 3), ifRange: nil, isCheck: true))
        guard case .same(nil, released: [8, 9]) = continuation.compare([3], at: 2) else {
            Issue.record("not released")
            return
        }
    }

    @Test func `what one origin sent is checked at that origin, or asked for again, inv01`() {
        var continuation = withheld()
        #expect(continuation.isBoundToOrigin)
        continuation.requestEnded(received: 2, at: 0)
        #expect(continuation.isBoundToOrigin)
        continuation.changedOrigin()
        #expect(!continuation.isBoundToOrigin && !continuation.isComparing)
        let request = sent(continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere)))
        #expect(request == .init(range: ByteRange(1000, 1400), ifRange: nil, isCheck: false))
        var trial = RangeContinuation(limit: 10, withheldLimit: 400)
        trial.begin(.otherHost)
        #expect(trial.isBoundToOrigin)
        trial.changedOrigin()
        #expect(!trial.isBoundToOrigin && trial.trial == nil)
    }

    @Test func `what was withheld is forgotten once a validator guards, inv01`() {
        var continuation = withheld()
        continuation.requestEnded(received: 2, at: 0)
        let guarded = sent(continuation.next(wanted, isSequential: false, known(ifRange: "\"a\"", overlaps: false)))
        #expect(guarded == .init(range: wanted, ifRange: "\"a\"", isCheck: false))
        #expect(!continuation.isComparing && !continuation.isConfirmed)
        guard case .open = continuation.compare([8, 9], at: 1000) else {
            Issue.record("still compared")
            return
        }
        let later = ByteRange(1002, 2000)
        let request = sent(continuation.next(later, isSequential: false, known(elsewhere: elsewhere)))
        #expect(request?.isCheck == false && request?.range?.lowerBound == 1002)
    }

    @Test func `no more is withheld than the limit, whatever the origin sends`() {
        var continuation = RangeContinuation(limit: 3, withheldLimit: 4)
        _ = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
        // Wider than asked: what is before the wanted bytes is not among them.
        guard case .withheld(isFull: false) = continuation.compare([5, 6, 7, 8], at: 998),
            case .withheld(isFull: true) = continuation.compare([9, 10], at: 1002)
        else {
            Issue.record("not withheld")
            return
        }
        continuation.requestEnded(received: 6, at: 0)
        _ = continuation.next(wanted, isSequential: false, known(elsewhere: elsewhere))
        guard case .same(nil, released: [7, 8, 9, 10]) = continuation.compare([1, 2, 3], at: 0) else {
            Issue.record("not released")
            return
        }
    }

    @Test func `an answer without a byte, and a transfer that goes elsewhere, leave nothing withheld`() {
        var empty = RangeContinuation(limit: 3, withheldLimit: 4)
        _ = empty.next(wanted, isSequential: false, known(elsewhere: elsewhere))
        empty.requestEnded(received: 0, at: 0)
        var gone = withheld()
        gone.wentElsewhere()
        for var continuation in [empty, gone] {
            #expect(!continuation.isComparing)
            let next = sent(continuation.next(wanted, isSequential: false, known(held: overlap)))
            #expect(next?.range == ByteRange(990, 2000))
        }
    }

    @Test func `stored bytes are read first, and one that waits is not read twice`() {
        var continuation = RangeContinuation(limit: 10, withheldLimit: 400)
        let stored = known(stored: ByteRange(990, 1000))
        guard case .read(_, ByteRange(990, 1000)) = continuation.next(wanted, isSequential: false, stored) else {
            Issue.record("it does not read")
            return
        }
        guard case .wait = continuation.next(wanted, isSequential: false, stored) else {
            Issue.record("it does not wait")
            return
        }
        continuation.overlapRead(Array(0..<10))
        // Twice: the first time there may have been no connection slot.
        for _ in 0..<2 {
            let result5 = continuation.next(wanted, isSequential: false, stored)
            #expect(sent(result5)?.range == ByteRange(990, 2000))
        }
    }

    @Test(arguments: [nil, [], [1, 2, 3]] as [[UInt8]?])
    func `an overlap that cannot be read is no proof, inv01 inv16`(bytes: [UInt8]?) {
        var continuation = RangeContinuation(limit: 10, withheldLimit: 400)
        let stored = known(stored: ByteRange(990, 1000))
        _ = continuation.next(wanted, isSequential: false, stored)
        continuation.overlapRead(bytes)
        let result6 = continuation.next(wanted, isSequential: false, stored)
        #expect(isGivenUp(result6))
        // Other bytes may be readable: a damaged block is not stored any more.
        guard case .read = continuation.next(wanted, isSequential: false, known(stored: ByteRange(0, 10))) else {
            Issue.record("it does not try other bytes")
            return
        }
    }

    private func comparing() -> RangeContinuation {
        var continuation = RangeContinuation(limit: 10, withheldLimit: 400)
        _ = continuation.next(wanted, isSequential: false, known(held: overlap))
        return continuation
    }

    @Test(arguments: [1, 3, 10, 25])
    func `the same bytes in chunks of any size confirm, once all of them came`(size: Int) {
        var continuation = comparing()
        let answer = Array(0..<10) + [UInt8](repeating: 9, count: 20)
        var offset = 0
        while offset < answer.count {
            let chunk = answer[offset..<min(offset + size, answer.count)]
            let comparison = continuation.compare(chunk, at: 990 + Int64(offset))
            if case .different = comparison { Issue.record("at \(offset)") }
            #expect(continuation.isComparing == (offset + size < 10))
            offset += size
        }
        #expect(continuation.isConfirmed)
    }

    @Test(arguments: 0..<10) func `one other byte is a difference`(index: Int) {
        var continuation = comparing()
        var answer = Array(0..<10 as Range<UInt8>)
        answer[index] = 99
        guard case .different = continuation.compare(answer[...], at: 990) else {
            Issue.record("it is taken for the same")
            return
        }
    }

    @Test func `an answer that is wider than asked is compared where it has to be`() {
        var continuation = comparing()
        let answer = [7, 7, 7] + Array(0..<10 as Range<UInt8>) + [8, 8]
        guard case .same = continuation.compare(answer[...], at: 987) else {
            Issue.record("it is not compared")
            return
        }
    }

    @Test
    func `an answer that ended before the joint is asked for with a shorter overlap, never with a few bytes, inv01`() {
        var limits: [Int64] = []
        var continuation = RangeContinuation(limit: 4096, withheldLimit: 8192)
        for _ in 0..<14 {
            let step = continuation.next(
                wanted, isSequential: false,
                RangeContinuation.Known(
                    guarding: ContinuationGuard(ifRange: nil, comparesOverlap: true), isBlank: false,
                    isAll: { _ in false },
                    held: { limit in
                        limits.append(limit)
                        return .init(
                            offset: 1000 - min(limit, 1000), bytes: Array(repeating: 1, count: Int(min(limit, 1000))))
                    }, heldElsewhere: { _ in nil }, stored: { _ in nil }))
            #expect(sent(step) != nil)
            continuation.requestEnded(received: 600, at: 990)
        }
        #expect(limits.first == 4096 && limits.last == 16)
        #expect(limits == limits.sorted(by: >))
    }

    @Test(arguments: [10, 11] as [Int64]) func `each answer is compared, inv01 inv16`(received: Int64) {
        var continuation = comparing()
        _ = continuation.compare(overlap.bytes[...], at: 990)
        continuation.requestEnded(received: received, at: 990 + received)
        let next = continuation.next(ByteRange(1001, 2000), isSequential: false, known())
        // Where nothing came behind so short an overlap, that is asked for after what is wanted.
        if received == 10 { #expect(sent(next)?.range?.lowerBound == 1001) } else { #expect(isGivenUp(next)) }
    }

    @Test func `where no answer has a byte more than the overlap, the two are asked for apart`() {
        let last = RangeContinuation.Overlap(offset: 999, bytes: [9])
        var continuation = RangeContinuation(limit: 1, withheldLimit: 400)
        _ = continuation.next(wanted, isSequential: false, known(held: last))
        _ = continuation.compare([9], at: 999)
        continuation.requestEnded(received: 1, at: 1000)
        let next = sent(continuation.next(wanted, isSequential: false, known(held: last)))
        #expect(next == .init(range: ByteRange(1000, 1400), ifRange: nil, isCheck: false))
        _ = continuation.compare([10], at: 1000)
        continuation.requestEnded(received: 1, at: 1001)
        let check = sent(continuation.next(wanted, isSequential: false, known(held: last)))
        #expect(check == .init(range: ByteRange(999, 1000), ifRange: nil, isCheck: true))
    }

    @Test
    func `an answer that ends with the overlap is asked for with half of it, as the object may change in between`() {
        var limits: [Int64] = []
        var continuation = RangeContinuation(limit: 64, withheldLimit: 400)
        var asked: RangeContinuation.Request?
        for _ in 0..<4 {
            let step = continuation.next(
                wanted, isSequential: false,
                RangeContinuation.Known(
                    guarding: ContinuationGuard(ifRange: nil, comparesOverlap: true), isBlank: false,
                    isAll: { _ in false },
                    held: { limit in
                        limits.append(limit)
                        return .init(offset: 1000 - limit, bytes: Array(repeating: 1, count: Int(limit)))
                    }, heldElsewhere: { _ in nil }, stored: { _ in nil }))
            asked = sent(step)
            guard let start = asked?.range?.lowerBound, start < 1000 else { break }
            _ = continuation.compare(Array(repeating: 1, count: Int(1000 - start))[...], at: start)
            continuation.requestEnded(received: 1000 - start, at: 1000)
        }
        // Few bytes of another version could be the same: the last overlap is asked for by itself.
        #expect(limits == [64, 32, 16] && asked?.range?.lowerBound == 1000)
    }

    @Test func `an answer that begins before the overlap and ends with it brings nothing either, inv15`() {
        var continuation = comparing()
        let answer = Array(repeating: 7, count: 90) + overlap.bytes
        guard case .same = continuation.compare(answer[...], at: 900) else {
            Issue.record("it is not compared")
            return
        }
        continuation.requestEnded(received: 100, at: 1000)
        let next = sent(continuation.next(wanted, isSequential: false, known()))
        #expect(next?.range?.lowerBound == 1000)
    }

    @Test func `a trial ends with the comparison, and a new one begins from nothing`() {
        var continuation = comparing()
        continuation.begin(.entityTags)
        #expect(continuation.trial == .entityTags && !continuation.isComparing)
        _ = continuation.next(wanted, isSequential: false, known(held: overlap))
        guard case .same(.entityTags, _) = continuation.compare(overlap.bytes[...], at: 990) else {
            Issue.record("the trial is not told of")
            return
        }
        #expect(continuation.trial == nil)
    }
}
