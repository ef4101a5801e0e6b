import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

/// Each state with each input: whether it is taken, and what the connection is then.
@Suite struct OriginConnectionTests {
    enum Form: CaseIterable { case idle, awaitingSlot, granted, requesting }

    private let hosts = HostTable(limit: 8)
    private let url = OriginURL("http://a/b")!
    private let ticket = SlotTicket(number: 3)

    private func slot() throws -> HostTable.Slot { try hosts.freeSlot(of: url) }

    private func request(_ slot: HostTable.Slot) -> OriginRequestState {
        OriginRequestState(5, to: url, slot, of: 1, now: 10)
    }

    private func connection(_ form: Form) throws -> OriginConnection<Int> {
        var connection = OriginConnection<Int>()
        if form == .idle { return connection }
        connection.awaitSlot(ticket, now: 7)
        if form == .awaitingSlot { return connection }
        let slot = try slot()
        let isTaken = connection.granted(slot, ticket)
        #expect(isTaken)
        guard form == .requesting else { return connection }
        let isSent = connection.begin(request(slot), for: 9)
        #expect(isSent)
        return connection
    }

    private func form(_ connection: OriginConnection<Int>) -> Form {
        if connection.isIdle { return .idle }
        if connection.awaitsSlotSince != nil { return .awaitingSlot }
        return connection.slot != nil ? .granted : .requesting
    }

    @Test(arguments: Form.allCases) func `one slot is waited for at a time, by who has none`(before: Form) throws {
        var connection = try connection(before)
        connection.awaitSlot(SlotTicket(number: 4), now: 8)
        #expect(form(connection) == (before == .idle ? .awaitingSlot : before))
        #expect(connection.awaitsSlotSince == [.idle: 8, .awaitingSlot: 7][before])
    }

    @Test(arguments: Form.allCases, [3, 4])
    func `a slot is taken by who waits for that one`(before: Form, number: Int) throws {
        var connection = try connection(before)
        let isTaken = connection.granted(try slot(), SlotTicket(number: number))
        #expect(isTaken == (before == .awaitingSlot && number == 3))
        #expect(form(connection) == (isTaken ? .granted : before))
    }

    @Test(arguments: Form.allCases) func `a slot without a use goes back`(before: Form) throws {
        var connection = try connection(before)
        let returned = connection.returnSlot()
        #expect((returned != nil) == (before == .granted))
        #expect(form(connection) == (before == .granted ? .idle : before))
    }

    @Test(arguments: Form.allCases) func `what ends is the request, or the wait for a slot`(before: Form) throws {
        var connection = try connection(before)
        let ended = connection.end()
        #expect((ended?.id.number == 5) == (before == .requesting))
        #expect(form(connection) == (before == .granted ? .granted : .idle))
    }

    @Test(arguments: Form.allCases) func `a request that was sent for something else is taken over`(before: Form) throws
    {
        var connection = try connection(before)
        connection.adopt(request(try slot()), for: 11)
        #expect(connection.requesting?.subject == 11 && connection.requesting?.request.id.number == 5)
    }

    @Test func `origins that were asked in vain are known until one has answered`() {
        var connection = OriginConnection<Int>()
        connection.failed(at: 2)
        connection.failed(at: 0)
        #expect(connection.tried == [2, 0])
        connection.forgetTried()
        #expect(connection.tried.isEmpty)
    }
}
