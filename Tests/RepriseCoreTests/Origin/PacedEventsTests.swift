import RepriseCore
import RepriseHTTP
import Testing

@Suite struct PacedEventsTests {
    private let head = OriginResponseHead(status: 200, fields: [:])

    /// All that is due now, in words.
    private func drain(_ events: inout PacedEvents) -> [String] {
        var words: [String] = []
        while let event = events.next() {
            switch event {
            case .head(let head): words.append("head \(head.status)")
            case .interim(let head): words.append("interim \(head.status)")
            case .body(let bytes): words.append("body \(bytes.count)")
            case .end(let isDelimited, let trailers):
                words.append("end \(isDelimited)" + (trailers.isEmpty ? "" : " with trailers"))
            case .failed(let failure): words.append("failed \(failure.kind)")
            }
        }
        return words
    }

    private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    @Test func `what comes before and behind an answer keeps its place`() {
        var events = PacedEvents()
        for status in [103, 102] { events.received(interim: OriginResponseHead(status: status, fields: [:])) }
        events.received(head)
        events.received(zeros(1))
        events.ended(isDelimited: true, trailers: ["X": "1"])
        #expect(drain(&events) == ["interim 103", "interim 102", "head 200"])
        events.demand()
        #expect(drain(&events) == ["body 1", "end true with trailers"])
        events.received(interim: head)
        #expect(drain(&events) == [])
    }

    @Test func `small pieces that wait are joined, in order`() {
        var events = PacedEvents()
        events.received(head)
        for byte in UInt8(0)..<200 { events.received([byte]) }
        #expect(drain(&events) == ["head 200"])
        #expect(events.waiting == 200 && !events.isDemanded)
        events.demand()
        #expect(events.isDemanded)
        guard case .body(let piece)? = events.next() else {
            Issue.record("no piece")
            return
        }
        #expect(Array(piece) == Array(0..<200))
        #expect(events.waiting == 0 && !events.isDemanded)
    }

    @Test func `no piece that others are joined to is larger than the limit`() {
        var events = PacedEvents()
        events.received(zeros(PacedEvents.joinLimit - 1))
        events.received(zeros(1))
        events.received(zeros(1))
        for _ in 0..<2 { events.demand() }
        #expect(drain(&events) == ["body \(PacedEvents.joinLimit)", "body 1"])
    }

    @Test func `large pieces are cut, and what follows is not joined to them`() {
        var events = PacedEvents()
        events.received(head)
        events.received(zeros(600_000))
        events.received(zeros(1))
        for _ in 0..<5 { events.demand() }
        #expect(drain(&events) == ["head 200", "body 262144", "body 262144", "body 75712", "body 1"])
    }

    @Test func `an end waits for what came before, and nothing comes after it`() {
        var events = PacedEvents()
        events.received([1])
        events.ended(isDelimited: false)
        events.received([2])
        events.failed(OriginFailure(.interrupted, "late"))
        #expect(events.isEnding && !events.isOver && drain(&events).isEmpty)
        events.demand()
        #expect(!events.isDemanded && drain(&events) == ["body 1", "end false"])
        #expect(events.isOver)
    }

    @Test func `what came before a failure is handed on first, bug09`() {
        var events = PacedEvents()
        events.received([1])
        events.failed(OriginFailure(.interrupted, "reset"))
        events.demand()
        #expect(drain(&events) == ["body 1", "failed interrupted"])
    }

    @Test func `after a cancel nothing is told`() {
        var events = PacedEvents()
        events.received(head)
        events.received([1])
        events.demand()
        events.cancel()
        events.received([2])
        events.ended(isDelimited: true)
        #expect(drain(&events).isEmpty && events.isOver && events.waiting == 0)
    }
}
