import RepriseHTTP
import RepriseRanges
import RepriseStorage
import Testing

@testable import RepriseCore

@Suite struct RevalidationTests {
    private let hosts = HostTable(limit: 2)
    private let url = OriginURL("http://a/b")!
    private let ticket = SlotTicket(number: 3)

    private func slot() throws -> HostTable.Slot { try hosts.freeSlot(of: url) }

    private func request(_ slot: HostTable.Slot) -> OriginRequestState {
        OriginRequestState(1, to: url, slot, isConditional: true)
    }

    @Test func `one request at a time, with one slot, confirms for all`() throws {
        var revalidation = Revalidation()
        revalidation.want(for: Caller([:], for: url), now: 0)
        revalidation.awaitSlot(ticket, now: 2)
        #expect(revalidation.awaitsSlotSince == 2 && !revalidation.isIdle)
        let slot = try slot()
        let isOther = revalidation.granted(slot, SlotTicket(number: 4))
        let isOwn = revalidation.granted(slot, ticket)
        #expect(!isOther && isOwn)
        revalidation.begin(request(slot), of: 7, restingUntil: 10)
        #expect(revalidation.inFlight?.representation == 7 && revalidation.background == nil)
        let late = revalidation.granted(slot, ticket)
        let ended = revalidation.end()
        let again = revalidation.end()
        #expect(!late && ended?.slot === slot && again == nil && revalidation.isIdle)
    }

    @Test func `what is handed out stale asks again once the origin's word came, or after a rest`() throws {
        var revalidation = Revalidation()
        let caller = Caller([:], for: url)
        func ask(at now: Int64) throws {
            revalidation.want(for: caller, now: now)
            guard revalidation.background != nil else { return }
            revalidation.awaitSlot(ticket, now: now)
            _ = revalidation.granted(try slot(), ticket)
            revalidation.begin(request(try slot()), of: 7, restingUntil: now + 10)
        }
        try ask(at: 0)
        _ = revalidation.end()
        revalidation.want(for: caller, now: 9)
        #expect(revalidation.background == nil)
        try ask(at: 10)
        #expect(revalidation.end() != nil)
        revalidation.confirmed()
        revalidation.want(for: caller, now: 11)
        #expect(revalidation.background != nil)
    }

    @Test func `a slot that has no use goes back, and one that comes after the end is not taken`() throws {
        var revalidation = Revalidation()
        revalidation.awaitSlot(ticket, now: 0)
        let slot = try slot()
        _ = revalidation.granted(slot, ticket)
        let returned = revalidation.returnSlot()
        #expect(returned === slot && revalidation.isIdle)
        revalidation.awaitSlot(ticket, now: 0)
        _ = revalidation.end()
        let late = revalidation.granted(slot, ticket)
        #expect(!late)
    }

    // MARK: Which answer a request may be given

    private func representation(
        _ fields: HTTPFields, checked: Int64 = 0, variant: String? = nil, isPrivate: Bool = false
    ) -> Representation {
        var info = EntryInfo(
            key: "k", url: url.description, generation: 0, identity: 1, fileExtension: "mp3",
            validator: Validator(fields: [:]), length: 10, servesRanges: true, fields: fields, checked: checked)
        info.variant = variant
        return Representation(
            id: 1, info: info, storage: .undecided, audience: isPrivate ? .only(nil) : .everybody, kind: .unknown,
            now: 0)
    }

    private func reader(_ fields: HTTPFields = [:], id: ReaderID = 1) -> Reader {
        Reader(
            id: id, caller: Caller(fields, for: url), position: 0, end: 10, priority: .playing,
            cacheControl: RequestCacheControl(fields), outcome: CacheStatus(forward: .uriMiss), now: 0)
    }

    private func selector(_ policy: FreshnessPolicy = .http, isPrivate: Bool = false) -> ResponseSelector {
        ResponseSelector(policy: policy, isPrivate: isPrivate, isOfVariant: false)
    }

    @Test func `what is fresh is used, what is stale is confirmed, for media and private entries all is used`() {
        let stored = representation(["Cache-Control": "max-age=10"])
        let http = selector()
        #expect(http.select(stored, for: reader(), wallClock: 5) == .use(isConfirmedMeanwhile: false))
        #expect(http.select(stored, for: reader(), wallClock: 50) == .validate(.stale))
        for other in [selector(.immutable), selector(isPrivate: true)] {
            #expect(other.select(stored, for: reader(), wallClock: 50) == .use(isConfirmedMeanwhile: false))
        }
    }

    @Test func `stale-while-revalidate, only-if-cached and a confirmed reader have their own words`() {
        let swr = representation(["Cache-Control": "max-age=1, stale-while-revalidate=100"])
        #expect(selector().select(swr, for: reader(), wallClock: 50) == .use(isConfirmedMeanwhile: true))
        let stale = representation(["Cache-Control": "max-age=1"])
        let only = reader(["Cache-Control": "only-if-cached"])
        #expect(selector().select(stale, for: only, wallClock: 50) == .onlyIfCachedMiss)
        let confirmed = reader()
        confirmed.confirm()
        #expect(selector().select(stale, for: confirmed, wallClock: 50) == .use(isConfirmedMeanwhile: false))
    }

    @Test func `an answer for other request fields, or for its own caller alone, is another entry's, inv29`() throws {
        let varying = representation(["Vary": "Accept-Language", "Cache-Control": "max-age=100"], variant: "other")
        let redirect = selector().select(varying, for: reader(["Accept-Language": "de"]), wallClock: 0)
        guard case .redirect(.variant) = redirect else {
            Issue.record("\(redirect)")
            return
        }
        var own = selector()
        own.answeredAlone(["Authorization": "1"])
        let shared = representation(["Cache-Control": "max-age=100"])
        #expect(own.select(shared, for: reader(["Authorization": "1"]), wallClock: 0) == .redirect(.alone))
        #expect(own.select(shared, for: reader(), wallClock: 0) == .use(isConfirmedMeanwhile: false))
    }

    @Test func `credentials stay with the origin they were given for`() {
        let caller = Caller(["Authorization": "secret", "Accept": "audio/*"], for: url)
        #expect(ResponseSelector.allowed(caller, at: url)["Authorization"] == "secret")
        #expect(ResponseSelector.allowed(caller, at: OriginURL("http://a/other")!)["Authorization"] == "secret")
        let elsewhere = ResponseSelector.allowed(caller, at: OriginURL("http://c/b")!)
        #expect(elsewhere["Authorization"] == nil && elsewhere["Accept"] == "audio/*")
    }

    @Test func `fields that were refused are not sent for others any more`() {
        var selector = selector(.immutable)
        var readers = ReaderTable()
        readers.insert(reader())
        let newest = Caller(["Authorization": "expired"], for: url)
        #expect(selector.requester(for: [1], of: readers, newest: newest) == nil)
        selector.refused(newest.fields)
        #expect(selector.requester(for: [1], of: readers, newest: newest) == 1)
    }

    @Test(arguments: [FreshnessPolicy.http, .immutable])
    func `a request is sent for who waits, and where the newest fields were refused for who was not`(
        policy: FreshnessPolicy
    ) {
        var selector = selector(policy)
        var readers = ReaderTable()
        let paused = reader(["Authorization": "1"])
        readers.insert(paused)
        readers.insert(reader(["Authorization": "2"], id: 2))
        let newest = Caller(["Authorization": "3"], for: url)
        selector.refused(newest.fields)
        func requester() -> ReaderID? { selector.requester(for: [1, 2], of: readers, newest: newest) }
        #expect(requester() == 1)
        _ = paused.served(upTo: 5, isStored: false, holdsRegion: false, now: 0)
        #expect(requester() == 2)
        selector.refused(["Authorization": "2"])
        #expect(requester() == (policy == .immutable ? 1 : 2))
    }
}
