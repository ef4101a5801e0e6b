import RepriseHTTP
import RepriseRanges
import Testing

@testable import RepriseProxy

/// How an answer's body is sent, piece by piece, without a socket and without a store.
@Suite struct AnswerStateMachineTests {
    private static let presumed = ByteRange(0, 1000)

    private func answer(
        _ range: ByteRange? = nil, parts: MultipartByteRanges? = nil, text: String? = nil, isDelimited: Bool = true
    ) -> ServerExchange.Answer {
        ServerExchange.Answer(
            status: 200, fields: [:], range: range, parts: parts, text: text, isDelimited: isDelimited)
    }

    /// The steps of a body whose reader gives so many bytes at a time, `available` in all.
    private func sent(
        _ answer: ServerExchange.Answer, by count: Int64 = 100, available: Int64 = .max, fails: Bool = false
    ) -> [AnswerStateMachine.Step] {
        var machine = AnswerStateMachine()
        #expect(machine.next() == nil, "nothing is sent before the head")
        #expect(machine.open(answer, method: "GET", at: Self.presumed) == .body)
        var steps: [AnswerStateMachine.Step] = []
        var (left, inRange) = (available, answer.range?.count ?? 0)
        while let step = machine.next(), steps.count < 1000 {
            if step != .read || steps.last != .read { steps.append(step) }
            switch step {
            case .seek(let range): inRange = range.count
            case .read where left == 0: if fails { machine.readerFailed() } else { machine.readerEnded() }
            case .read:
                let taken = min(count, left, answer.isDelimited ? inRange : left)
                machine.took(taken)
                left -= taken
                inRange -= taken
            case .end, .broken: machine.end()
            case .text: break
            }
        }
        #expect(machine.isOver)
        return steps
    }

    @Test(arguments: ["GET", "HEAD"]) func `what has no body is all said by its head`(method: String) {
        var machine = AnswerStateMachine()
        let isHead = method == "HEAD"
        #expect(machine.open(answer(), method: method, at: Self.presumed) == (isHead ? .headAlone : .text))
        #expect(machine.next() == nil && machine.isOpening)
        #expect(machine.open(answer(text: "no"), method: method, at: Self.presumed) == .text)
    }

    @Test func `a body of a length ends when all of it was read, and the reader goes only where it is not yet`() {
        #expect(sent(answer(Self.presumed)) == [.read, .end(mayHaveTrailers: false)])
        let other = ByteRange(500, 700)
        #expect(sent(answer(other)) == [.seek(other), .read, .end(mayHaveTrailers: false)])
        #expect(sent(answer(ByteRange(0, 0))) == [.seek(ByteRange(0, 0)), .end(mayHaveTrailers: false)])
    }

    @Test(arguments: [false, true]) func `less than the head announced closes the connection`(fails: Bool) {
        #expect(sent(answer(Self.presumed), available: 999, fails: fails) == [.read, .broken])
        let parts = MultipartByteRanges(
            ranges: [ByteRange(0, 10), ByteRange(20, 30)], total: 100, partType: "a/b", boundary: "B")
        let cut = sent(answer(parts: parts), available: 15, fails: fails)
        #expect(cut.last == .broken && cut.count == 7)
    }

    @Test func `a body without a length ends with its reader, and only such may have trailers`() {
        let open = answer(Self.presumed, isDelimited: false)
        #expect(sent(open, available: 5000) == [.read, .end(mayHaveTrailers: true)])
        #expect(sent(open, available: 0) == [.read, .end(mayHaveTrailers: true)])
        #expect(sent(open, available: 5000, fails: true) == [.read, .broken], "its end is not told")
    }

    @Test func `parts come in their order, each behind its text, and the closing line is the last`() {
        let ranges = [ByteRange(900, 1000), ByteRange(0, 1), ByteRange(5, 305)]
        let parts = MultipartByteRanges(ranges: ranges, total: 1000, partType: "a/b", boundary: "B")
        let steps = sent(answer(parts: parts))
        let texts = parts.pieces.compactMap { piece in
            if case .text(let text) = piece { AnswerStateMachine.Step.text(text) } else { nil }
        }
        var expected: [AnswerStateMachine.Step] = []
        for (text, range) in zip(texts, ranges) { expected += [text, .seek(range), .read] }
        #expect(steps == expected + [texts[3], .end(mayHaveTrailers: false)])
    }

    @Test func `while something is on its way nothing more is read, nor ended`() {
        var machine = AnswerStateMachine()
        _ = machine.open(answer(Self.presumed), method: "GET", at: Self.presumed)
        #expect(machine.next() == .read)
        machine.took(1000)
        machine.isBusy = true
        #expect(machine.next() == nil)
        machine.isBusy = false
        #expect(machine.next() == .end(mayHaveTrailers: false))
        machine.end()
        #expect(machine.next() == nil && machine.isOver)
    }
}
