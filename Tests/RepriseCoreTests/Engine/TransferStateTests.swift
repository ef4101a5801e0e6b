import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

@Suite struct TransferStateTests {
    private let hosts = HostTable(limit: 2)
    private let url = OriginURL("http://a/b")!

    private func slot() throws -> HostTable.Slot { try hosts.freeSlot(of: url) }

    private func transfer() -> TransferState {
        TransferState(
            id: 1, representation: nil, start: 0, isSequential: false, requestIndex: 0, readers: [1], goal: 100, now: 0
        ) { RangeContinuation(limit: 10, withheldLimit: 100) }
    }

    private func request(_ slot: HostTable.Slot, id: Int = 5, isCheck: Bool = false) -> OriginRequestState {
        OriginRequestState(id, to: url, slot, of: 1, asked: ByteRange(0, 50), isCheck: isCheck, now: 10)
    }

    private let ticket = SlotTicket(number: 3)

    @Test func `a slot is waited for, granted, used and gone with its request`() throws {
        let transfer = transfer()
        transfer.awaitSlot(ticket, now: 4)
        #expect(transfer.awaitsSlotSince == 4)
        transfer.awaitSlot(SlotTicket(number: 9), now: 6)
        #expect(transfer.awaitsSlotSince == 4, "it waits for one at a time")
        let slot = try slot()
        #expect(!transfer.granted(slot, SlotTicket(number: 9)), "another's slot")
        #expect(transfer.granted(slot, ticket) && transfer.slot === slot)
        transfer.begin(request(slot), asking: ByteRange(0, 50), now: 10)
        #expect(transfer.request?.id.number == 5 && transfer.slot == nil)
        #expect(transfer.endRequest()?.slot === slot)
        #expect(transfer.request == nil && transfer.endRequest() == nil)
    }

    @Test func `a slot that is not used is given back, and one that comes too late is not taken`() throws {
        let transfer = transfer()
        transfer.awaitSlot(ticket, now: 0)
        let slot = try slot()
        _ = transfer.granted(slot, ticket)
        #expect(transfer.returnSlot() === slot && transfer.returnSlot() == nil)
        transfer.awaitSlot(ticket, now: 0)
        _ = transfer.endRequest()
        #expect(!transfer.granted(slot, ticket))
    }

    @Test func `what was begun for one origin says nothing of another, inv16`() throws {
        let transfer = transfer()
        transfer.awaitSlot(ticket, now: 0)
        let slot = try slot()
        _ = transfer.granted(slot, ticket)
        transfer.begin(request(slot), asking: ByteRange(0, 50), now: 0)
        _ = transfer.endRequest()
        transfer.begin(.entityTags)
        transfer.willAsk(at: "http://a")
        #expect(transfer.trial == .entityTags)
        transfer.willAsk(at: "http://b")
        #expect(transfer.trial == nil)
    }

    @Test func `what is asked again from the same byte counts once, and a check not at all`() throws {
        let transfer = transfer()
        func ask(_ range: ByteRange, isCheck: Bool = false) throws {
            transfer.awaitSlot(ticket, now: 0)
            let slot = try slot()
            _ = transfer.granted(slot, ticket)
            transfer.begin(request(slot, isCheck: isCheck), asking: range, now: 0)
            _ = transfer.endRequest()
            slot.release()
        }
        try ask(ByteRange(0, 50))
        try ask(ByteRange(0, 40))
        #expect(transfer.requestIndex == 1 && transfer.lastAsked == ByteRange(0, 40))
        try ask(ByteRange(0, 10), isCheck: true)
        #expect(transfer.lastAsked == ByteRange(0, 40))
        try ask(ByteRange(50, 90))
        #expect(transfer.requestIndex == 2)
    }

    @Test func `pausing keeps when it began, running tells whether it was paused`() {
        let transfer = transfer()
        #expect(!transfer.run(to: 200, for: [1, 2], now: 1))
        transfer.pause(at: 60, now: 5)
        transfer.pause(at: 60, now: 9)
        #expect(transfer.pausedSince == 5 && transfer.goal == 60)
        #expect(transfer.run(to: 300, for: [1], now: 11))
        #expect(transfer.pausedSince == nil && transfer.lastProgress == 11)
        transfer.noteWanted(false, head: 60, now: 12)
        transfer.noteWanted(false, head: 70, now: 13)
        #expect(transfer.unwanted == .init(since: 12, head: 60))
        transfer.noteWanted(true, head: 70, now: 14)
        #expect(transfer.unwanted == nil)
    }

    // MARK: One request

    @Test func `a chunk is asked for after the head, once at a time, and once the exchange is there`() throws {
        let request = request(try slot())
        #expect(!request.demandChunk().isNew, "no head yet")
        #expect(request.receivedHead(now: 30) == 20)
        let (isNew, exchange) = request.demandChunk()
        #expect(isNew && exchange == nil && request.isDemanding)
        #expect(!request.demandChunk().isNew, "one at a time")
        let started = StillExchange()
        #expect(request.started(started) as? StillExchange === started, "it is owed one")
        #expect(request.received(10) == (0, 10))
        #expect(!request.isDemanding)
        #expect(request.demandChunk().exchange as? StillExchange === started)
    }

    @Test func `bytes past the announced end belong to nothing`() throws {
        let request = request(try slot())
        _ = request.receivedHead(now: 0)
        request.beginBody(at: 100, end: 110)
        #expect(request.received(8) == (100, 8))
        #expect(request.received(8) == (108, 2))
        #expect(request.position == 110 && request.bodyBytes == 16)
        #expect(request.received(8) == (110, 0))
    }

    @Test func `a head is due until it came, a chunk while it is asked for`() throws {
        let transfer = transfer()
        transfer.awaitSlot(ticket, now: 0)
        let slot = try slot()
        _ = transfer.granted(slot, ticket)
        let request = request(slot)
        transfer.begin(request, asking: ByteRange(0, 50), now: 10)
        #expect(request.headDue(30) == 41 && transfer.stalledAt(20) == nil)
        _ = request.receivedHead(now: 12)
        #expect(request.headDue(30) == nil)
        _ = request.demandChunk()
        transfer.noteProgress(now: 15)
        #expect(transfer.stalledAt(20) == 36)
    }

    @Test func `a rate is measured over a spell, without pauses`() throws {
        let request = request(try slot())
        let second = TransferTuning.second
        _ = request.receivedHead(now: 0)
        #expect(request.measure(100, interval: second, now: second / 2) == nil)
        #expect(request.measure(100, interval: second, now: second) == 200)
        request.restartMeasure(now: 5 * second)
        #expect(request.measure(300, interval: second, now: 6 * second) == 300)
    }
}

/// An exchange that is only looked at.
private final class StillExchange: OriginExchange {
    func demand() {}
    func cancel() {}
}
