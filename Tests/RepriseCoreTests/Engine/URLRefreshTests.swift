import RepriseHTTP
import Testing

@testable import RepriseCore

@Suite struct URLRefreshTests {
    private let old = OriginURL("http://a/old")!
    private let fresh = OriginURL("http://a/fresh")!
    private let key = ResourceKey("song")

    private func refuse(
        _ renewal: inout URLRefresh, _ status: Int = 403, _ sent: OriginURL? = nil, current: OriginURL? = nil,
        id: Int = 1
    ) -> String {
        switch renewal.refused(
            status, sent ?? old, to: [:], current: current ?? old, key: key, RequestID(number: id), now: 10)
        {
        case .stands: "stands"
        case .renewing: "renewing"
        case .ask(let id, let refused, let isRepeated):
            "ask \(id) for \(refused.url)\(isRepeated ? " again" : "")"
        }
    }

    private func asking() -> URLRefresh {
        var renewal = URLRefresh()
        _ = refuse(&renewal)
        return renewal
    }

    private func provisional() -> URLRefresh {
        var renewal = asking()
        _ = renewal.renewed(RequestID(number: 1), fresh, current: old)
        return renewal
    }

    @Test func `only 403 and 410 of the present URL are asked about, once`() {
        var renewal = URLRefresh()
        #expect(refuse(&renewal, 404) == "stands")
        #expect(refuse(&renewal, 403, current: fresh) == "renewing")
        #expect(refuse(&renewal, 410) == "ask 1 for http://a/old")
        #expect(renewal.isAsking)
        #expect(refuse(&renewal, 403, id: 2) == "renewing")
    }

    @Test func `an answer counts for its own question, and only while no newer URL came`() {
        var renewal = asking()
        #expect(renewal.renewed(RequestID(number: 9), fresh, current: old) == nil)
        #expect(renewal.isAsking)
        let used = renewal.renewed(RequestID(number: 1), fresh, current: old)
        #expect(used?.use == fresh && !renewal.isAsking)
        var outdated = asking()
        let unused = outdated.renewed(RequestID(number: 1), fresh, current: fresh)
        #expect(unused != nil && unused?.use == nil)
    }

    @Test func `a fresh URL that is refused as well is the error readers see, until it was good once`() {
        var refused = provisional()
        #expect(refuse(&refused, 403, fresh, current: fresh) == "stands")
        var accepted = provisional()
        accepted.accepted(fresh)
        #expect(refuse(&accepted, 403, fresh, current: fresh, id: 2) == "ask 2 for http://a/fresh again")
    }

    @Test func `a question is repeated until something came that was missing`() {
        var renewal = provisional()
        renewal.accepted(fresh)
        renewal.progressed()
        #expect(refuse(&renewal, 403, fresh, current: fresh, id: 2) == "ask 2 for http://a/fresh")
        _ = renewal.renewed(RequestID(number: 2), old, current: fresh)
        renewal.accepted(old)
        #expect(refuse(&renewal, 410, old, current: old, id: 3) == "ask 3 for http://a/old again")
    }

    @Test func `a question that takes too long is given up`() {
        var renewal = asking()
        #expect(renewal.failsAt(100) == 110)
        #expect(renewal.expire(100, now: 109) == nil)
        #expect(renewal.expire(100, now: 110)?.url.url == old)
        #expect(!renewal.isAsking && renewal.failsAt(100) == nil)
    }
}
