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
        elsewhere: RangeContinuation.Overlap? = nil, stored: ByteRange? = nil
    ) -> RangeContinuation.Known {
        let generation = generation
        return RangeContinuation.Known(
            guarding: ContinuationGuard(ifRange: ifRange, comparesOverlap: overlaps), isBlank: isBlank,
            held: { _ in held }, heldElsewhere: { _ in elsewhere }, stored: { _ in stored.map { (generation, $0) } })
    }

    private func sent(_ step: RangeContinuation.Step) -> RangeContinuation.Request? {
        if case .send(let request) = step { request } else { nil }
    }

    private func isGivenUp(_ step: RangeContinuation.Step) -> Bool { if case .giveUp = step { true } else { false } }

    private let overlap = RangeContinuation.Overlap(offset: 990, bytes: Array(0..<10))

    @Test func `a validator guards without an overlap`() {
        var continuation = RangeContinuation(limit: 10)
        let request = sent(continuation.next(wanted, isSequential: false, known(ifRange: "\"a\"", overlaps: false)))
        #expect(request == .init(range: wanted, ifRange: "\"a\"", isCheck: false))
        #expect(!continuation.isComparing)
    }

    @Test func `where nothing is held nothing can be mixed`() {
        var continuation = RangeContinuation(limit: 10)
        let result1 = continuation.next(wanted, isSequential: false, known(isBlank: true))
        #expect(sent(result1)?.range == wanted)
        #expect(!continuation.isComparing)
    }

    @Test func `what the policy forbids and what cannot be compared is given up, inv16`() {
        var continuation = RangeContinuation(limit: 10)
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
        var continuation = RangeContinuation(limit: 10)
        let request = sent(continuation.next(wanted, isSequential: false, known(held: overlap)))
        #expect(request == .init(range: ByteRange(990, 2000), ifRange: nil, isCheck: false))
        #expect(continuation.isComparing)
    }

    @Test func `bytes elsewhere are asked for alone`() {
        var continuation = RangeContinuation(limit: 10)
        let other = RangeContinuation.Overlap(offset: 0, bytes: [1, 2, 3])
        let request = sent(continuation.next(wanted, isSequential: false, known(elsewhere: other)))
        #expect(request == .init(range: ByteRange(0, 3), ifRange: nil, isCheck: true))
    }

    @Test func `stored bytes are read first, and one that waits is not read twice`() {
        var continuation = RangeContinuation(limit: 10)
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
        var continuation = RangeContinuation(limit: 10)
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
        var continuation = RangeContinuation(limit: 10)
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
        #expect(
            sent(continuation.next(ByteRange(3000, 4000), isSequential: false, known()))?.range == ByteRange(3000, 4000)
        )
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
    func `an answer that ended before the joint is asked for with a shorter overlap, and in the end with one byte`() {
        var limits: [Int64] = []
        var continuation = RangeContinuation(limit: 4096)
        for _ in 0..<14 {
            let step = continuation.next(
                wanted, isSequential: false,
                RangeContinuation.Known(
                    guarding: ContinuationGuard(ifRange: nil, comparesOverlap: true), isBlank: false,
                    held: { limit in
                        limits.append(limit)
                        return .init(
                            offset: 1000 - min(limit, 1000), bytes: Array(repeating: 1, count: Int(min(limit, 1000))))
                    }, heldElsewhere: { _ in nil }, stored: { _ in nil }))
            #expect(sent(step) != nil)
            continuation.requestEnded(received: 600, isCheck: false)
        }
        #expect(limits.first == 4096 && limits.last == 1)
        #expect(limits == limits.sorted(by: >))
    }

    @Test(arguments: [(10, false), (11, false), (10, true)] as [(Int64, Bool)])
    func `each answer is compared, but for the one that follows a check, inv01 inv16`(
        received: Int64, isCheck: Bool
    ) {
        var continuation = comparing()
        _ = continuation.compare(overlap.bytes[...], at: 990)
        continuation.requestEnded(received: received, isCheck: isCheck)
        let next = continuation.next(ByteRange(1001, 2000), isSequential: false, known())
        #expect((sent(next) != nil) == isCheck)
        // That one is no licence for another.
        continuation.requestEnded(received: 10, isCheck: false)
        let later = continuation.next(ByteRange(1011, 2000), isSequential: false, known())
        #expect(sent(later) == nil)
    }

    @Test
    func `an answer that ends with the overlap is asked for with half of it, as the object may change in between`() {
        var continuation = comparing()
        var limits: [Int64] = []
        for _ in 0..<5 {
            _ = continuation.compare(overlap.bytes[...], at: 990)
            continuation.requestEnded(received: overlap.range.count, isCheck: false)
            _ = continuation.next(
                wanted, isSequential: false,
                RangeContinuation.Known(
                    guarding: ContinuationGuard(ifRange: nil, comparesOverlap: true), isBlank: false,
                    held: { limit in
                        limits.append(limit)
                        return overlap
                    }, heldElsewhere: { _ in nil }, stored: { _ in nil }))
        }
        #expect(limits == [5, 2, 1, 1, 1])
    }

    @Test func `a trial ends with the comparison, and a new one begins from nothing`() {
        var continuation = comparing()
        continuation.begin(.entityTags)
        #expect(continuation.trial == .entityTags && !continuation.isComparing)
        _ = continuation.next(wanted, isSequential: false, known(held: overlap))
        guard case .same(.entityTags) = continuation.compare(overlap.bytes[...], at: 990) else {
            Issue.record("the trial is not told of")
            return
        }
        #expect(continuation.trial == nil)
    }
}
