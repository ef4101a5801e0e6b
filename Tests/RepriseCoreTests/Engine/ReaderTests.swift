import RepriseHTTP
import RepriseStorage
import Testing

@testable import RepriseCore

@Suite struct ReaderTests {
    /// Every phase, by the inputs that lead there.
    enum Reached: CaseIterable {
        case unbound, awaitingValidation, awaitingIndex, bound, announced, redirected, failed
    }

    private func reader(_ reached: Reached = .unbound, at position: Int64 = 0) -> Reader {
        let url = OriginURL("http://a/b")!
        let reader = Reader(
            id: 1, caller: Caller([:], for: url), position: position, end: 100, priority: .playing,
            outcome: CacheStatus(forward: .uriMiss), now: 0)
        switch reached {
        case .unbound: break
        case .awaitingValidation: reader.awaitValidation()
        case .awaitingIndex: reader.awaitIndex()
        case .bound: reader.bind(to: 7)
        case .announced:
            reader.bind(to: 7)
            reader.announce()
        case .redirected: _ = reader.redirect(.alone)
        case .failed: _ = reader.fail(.onlyIfCached)
        }
        return reader
    }

    @Test func `a reader that was given an answer without ranges reads its own range of the resource again`() {
        let reader = reader(at: 50)
        for _ in 1...2 {
            reader.readAll(now: 1)
            #expect(reader.position == 0 && reader.end == .max)
        }
        reader.readOwnRange(now: 2)
        #expect(reader.position == 50 && reader.end == 100)
        reader.readAll(now: 3)
        reader.seek(to: 7, end: 9, now: 4)
        reader.readOwnRange(now: 5)
        #expect(reader.position == 7 && reader.end == 9, "where it went meanwhile")
    }

    @Test(arguments: Reached.allCases)
    func `a reader that was told of its representation keeps it, and an ended one ends, inv01`(reached: Reached) {
        let reader = reader(reached)
        let isFinal = [.announced, .redirected, .failed].contains(reached)
        reader.bind(to: 8)
        let isBound = reader.representation == 8
        #expect(isBound == !isFinal)
        reader.unbind()
        #expect(reader.isUnbound == !isFinal)
        #expect(reader.isAnnounced == (reached == .announced))
    }

    @Test(arguments: Reached.allCases)
    func `only a reader that was told nothing is redirected, once`(reached: Reached) {
        let reader = reader(reached)
        let isRedirected = reader.redirect(.alone)
        #expect(isRedirected == ![.announced, .redirected, .failed].contains(reached))
        let again = reader.redirect(.alone)
        #expect(!again)
    }

    @Test(arguments: Reached.allCases)
    func `a reader fails once, from any phase but an end`(reached: Reached) {
        let reader = reader(reached)
        let fails = reader.fail(.beyondAnyResource)
        #expect(fails == ![.redirected, .failed].contains(reached))
        #expect(reader.hasEnded && !reader.isFetchable && !reader.isAwaiting)
        let again = reader.fail(.onlyIfCached)
        #expect(!again)
    }

    @Test(arguments: Reached.allCases)
    func `what waits for the origin's word, or for the index, is not fetched for`(reached: Reached) {
        #expect(reader(reached).isFetchable == [.unbound, .bound, .announced].contains(reached))
    }

    @Test func `a waker is called once for each time it was given`() {
        let reader = reader(.bound)
        #expect(reader.takeWaker(now: 1) == nil)
        reader.wait({}, now: 2)
        #expect(reader.isCalled)
        #expect(reader.takeWaker(now: 3) != nil)
        #expect(reader.takeWaker(now: 4) == nil && reader.lastStep == 3)
        #expect(reader.isWaiting, "it waits until it is served")
    }

    @Test func `the time of waiting begins anew with each byte, not with each call`() {
        let reader = reader(.bound)
        reader.wait({}, now: 5)
        #expect(reader.waitsSince == 0, "it has waited since it came")
        _ = reader.served(upTo: 10, isStored: true, holdsRegion: false, now: 6)
        reader.wait({}, now: 7)
        reader.wait({}, now: 9)
        #expect(reader.waitsSince == 7 && reader.position == 10 && reader.isAnnounced)
    }

    @Test func `confirming ends the wait for validation, and is remembered`() {
        let reader = reader(.awaitingValidation)
        reader.confirm()
        #expect(reader.isConfirmed && reader.isUnbound && !reader.awaitsValidation)
    }

    @Test func `a reader that comes near where another ended goes on with its request size`() {
        var table = ReaderTable()
        table.insert(reader(at: 1000))
        #expect(table.remove(1, requestIndex: 3, now: 10) != nil)
        #expect(table.remove(1, requestIndex: 3, now: 10) == nil)
        #expect(table.inheritedRequestIndex(at: 1050, distance: 64, time: 100, now: 20) == 3)
        #expect(table.inheritedRequestIndex(at: 1065, distance: 64, time: 100, now: 20) == 0)
        #expect(table.inheritedRequestIndex(at: 1050, distance: 64, time: 100, now: 111) == 0)
    }
}
