import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// A URL ran out: a fresh one takes its place.
///
///     refused --ask once--> refreshing --fresh URL--> provisional --answer--> (none)
///                              \__ none, or too late __/ refused again: the error readers see
extension SessionState {
    /// The one question under way.
    struct Refreshing {
        var serial: Int
        var refused: RefusedURL
        var since: Int64
    }

    /// Whether what was refused is asked for again by another URL: readers wait for that. `false` where the refusal
    /// stands.
    mutating func asksAnew(after status: Int, of sent: OriginURL) -> Bool {
        guard status == 403 || status == 410, environment.freshURLs != nil else { return false }
        if refreshing != nil { return true }
        // A newer URL came while the request was under way.
        if sent != url { return true }
        if sent == provisionalURL {
            provisionalURL = nil
            return false
        }
        let refused = RefusedURL(url: url, key: key.primary, status: status)
        let serial = makeID()
        refreshing = Refreshing(serial: serial, refused: refused, since: now)
        effects.append(.refresh(serial: serial, refused))
        scheduleTick()
        return true
    }

    /// There is a fresh URL, or none.
    mutating func refreshed(_ serial: Int, _ answer: Result<OriginURL?, any Error>) {
        guard let asked = refreshing, asked.serial == serial else { return }
        refreshing = nil
        switch answer {
        case .success(let fresh?):
            // One that a reader brought meanwhile is newer than the question.
            if url == asked.refused.url {
                url = fresh
                provisionalURL = fresh
            }
        case .success(nil): failRefused(asked, "no fresh URL was given")
        case .failure(let error): failRefused(asked, "no fresh URL could be had: \(error)")
        }
        plan()
    }

    /// The origin answered a request for that URL with something better than a refusal.
    mutating func noteAccepted(_ sent: OriginURL?) {
        if let sent, sent == provisionalURL { provisionalURL = nil }
    }

    /// Nobody waits for ever for a fresh URL.
    mutating func failSlowRefresh() {
        guard let refreshing, now - refreshing.since >= tuning.retryDeadline else { return }
        self.refreshing = nil
        failRefused(refreshing, "no fresh URL came in time")
    }

    private mutating func failRefused(_ asked: Refreshing, _ reason: String) {
        let status = asked.refused.status
        let served = Set(transfers.filter { $0.request != nil }.flatMap(\.readers))
        for id in readers.ids where !served.contains(id) {
            guard let reader = readers[id], reader.isWaiting, isStarving(reader) else { continue }
            readers[id]?.outcome.forwardStatus = status
            fail(id, CacheError(.originRefused(status: status), "the origin answered \(status); \(reason)"))
        }
    }
}
