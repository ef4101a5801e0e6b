import Foundation
import RepriseCore
import RepriseHTTP
import RepriseURLSession
import Testing

/// The order of events, without a session.
@Suite struct ExchangeStateTests {
    private func state(_ fields: HTTPFields = [:], size: Int64? = nil) -> ExchangeState {
        ExchangeState(RangedParts(fields: fields, size: size))
    }

    /// All that is due now, in words.
    private func drain(_ state: inout ExchangeState) -> [String] {
        var words: [String] = []
        while true {
            switch state.next() {
            case .event(.head(let head)): words.append("head \(head.status)")
            case .event(.interim): words.append("interim")
            case .event(.body(let bytes)): words.append("body \(bytes.count)")
            case .event(.end(let isDelimited, _)): words.append("end \(isDelimited)")
            case .event(.failed(let failure)): words.append("failed \(failure.kind)")
            case .ask:
                words.append("ask")
                return words
            case .nothing: return words
            }
        }
    }

    @Test func `the head comes unasked, each piece for one demand, the end after the last`() throws {
        var state = state()
        #expect(drain(&state).isEmpty)
        try state.received(OriginResponseHead(status: 200, fields: ["Content-Length": "7"]))
        try state.received([1, 2, 3])
        #expect(drain(&state) == ["head 200"])
        #expect(state.waiting == 3)
        state.demand()
        #expect(drain(&state) == ["body 3"])
        try state.received([4, 5, 6, 7])
        state.ended(isFramed: false)
        #expect(drain(&state).isEmpty)
        state.demand()
        #expect(drain(&state) == ["body 4", "end true"])
        #expect(state.isFinished && state.waiting == 0)
        state.demand()
        #expect(drain(&state).isEmpty)
    }

    @Test func `a demand may come before anything has`() throws {
        var state = state()
        state.demand()
        try state.received(OriginResponseHead(status: 200, fields: [:]))
        try state.received([1])
        #expect(drain(&state) == ["head 200", "body 1"])
    }

    @Test func `what came before a failure is handed on first, bug09`() throws {
        var state = state()
        try state.received(OriginResponseHead(status: 200, fields: ["Content-Length": "7"]))
        try state.received([1, 2, 3])
        state.failed(OriginFailure(.interrupted, "reset"))
        try state.received([4])
        #expect(drain(&state) == ["head 200"])
        state.demand()
        #expect(drain(&state) == ["body 3", "failed interrupted"])
    }

    @Test(arguments: [
        ("Content-Length: 0", 200, false, true), ("Transfer-Encoding: chunked", 200, false, true),
        ("X: y", 200, false, false), ("X: y", 200, true, true), ("X: y", 204, false, true), ("X: y", 304, false, true),
    ])
    func `an end is delimited where a length, a last chunk or the protocol says so`(
        field: String, status: Int, isFramed: Bool, isDelimited: Bool
    ) throws {
        var state = state()
        let words = field.components(separatedBy: ": ")
        try state.received(OriginResponseHead(status: status, fields: HTTPFields([(words[0], words[1])])))
        state.ended(isFramed: isFramed)
        #expect(drain(&state) == ["head \(status)", "end \(isDelimited)"])
    }

    @Test(arguments: ["gzip", "X-GZIP", "deflate", "br", "br, gzip"])
    func `what the system has decoded is not told as coded, nor as the bytes that a tag is for`(coding: String) throws {
        let gone = ["Content-Encoding", "Content-Length", "ETag", "Last-Modified", "Accept-Ranges"]
        var fields = HTTPFields(gone.map { ($0, "7") } + [("X-Own", "1")])
        fields["Content-Encoding"] = coding
        for status in [200, 404] {
            var state = state()
            try state.received(OriginResponseHead(status: status, fields: fields))
            guard case .event(.head(let head)) = state.next() else {
                Issue.record("no head")
                continue
            }
            #expect(head.fields.lines.map(\.name) == ["X-Own"])
            state.ended(isFramed: false)
            #expect(drain(&state) == ["end true"])
        }
        fields["Content-Range"] = "bytes 0-6/9"
        var state = state()
        #expect(throws: OriginFailure.self) { try state.received(OriginResponseHead(status: 206, fields: fields)) }
    }

    @Test func `the next part is asked for when somebody waits for it, and not before`() throws {
        var state = state(["Range": "bytes=0-"], size: 4)
        let first = OriginResponseHead(status: 206, fields: ["Content-Range": "bytes 0-3/6", "ETag": "\"a\""])
        try state.received(first)
        try state.received([0, 1, 2, 3])
        state.ended(isFramed: false)
        state.demand()
        #expect(drain(&state) == ["head 206", "body 4"])
        state.demand()
        #expect(drain(&state) == ["ask"])
        #expect(state.fields["Range"] == "bytes=4-5")
        #expect(drain(&state).isEmpty)
        try state.received(OriginResponseHead(status: 206, fields: ["Content-Range": "bytes 4-5/6", "ETag": "\"a\""]))
        try state.received([4, 5])
        state.ended(isFramed: false)
        #expect(drain(&state) == ["body 2", "end true"])
    }

    @Test func `an answer without a head is malformed, and a cancelled exchange is silent`() throws {
        var state = state()
        state.ended(isFramed: false)
        #expect(drain(&state) == ["failed malformed"])
        var other = self.state()
        try other.received(OriginResponseHead(status: 200, fields: [:]))
        other.cancel()
        other.failed(OriginFailure(.interrupted, "late"))
        #expect(drain(&other).isEmpty)
    }
}
