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
            status, sent ?? old, to: [:], at: 500, current: current ?? old, key: key, RequestID(number: id), now: 10)
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

    @Test func `a question is repeated until what was refused has come, or a new reader has`() {
        func next(_ change: (inout URLRefresh) -> Void) -> String {
            var renewal = provisional()
            renewal.accepted(fresh)
            change(&renewal)
            return refuse(&renewal, 410, fresh, current: fresh, id: 2)
        }
        #expect(next { _ in } == "ask 2 for http://a/fresh again")
        #expect(next { $0.progressed { (100..<500).contains($0) } } == "ask 2 for http://a/fresh again")
        #expect(next { $0.progressed { (500..<501).contains($0) } } == "ask 2 for http://a/fresh")
        #expect(next { $0.reset() } == "ask 2 for http://a/fresh")
    }

    @Test func `a question that had no answer is not repeated by the next`() {
        var renewal = asking()
        _ = renewal.renewed(RequestID(number: 1), nil, current: old)
        #expect(refuse(&renewal, id: 2) == "ask 2 for http://a/old")
    }

    @Test func `a question that takes too long is given up`() {
        var renewal = asking()
        #expect(renewal.failsAt(100) == 110)
        #expect(renewal.expire(100, now: 109) == nil)
        #expect(renewal.expire(100, now: 110)?.url.url == old)
        #expect(!renewal.isAsking && renewal.failsAt(100) == nil)
    }
}
