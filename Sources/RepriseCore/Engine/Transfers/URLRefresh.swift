import RepriseHTTP
import RepriseRanges

/// An expired URL is replaced: a fresh one is asked for, once, however many readers wait.
///
///     idle --refused--> asking --renewed--> provisional --accepted--> accepted --what was refused came--> idle
///      ^                 ^  \__ none, or too late --> idle   \            \__ a new reader, and none waits --> idle
///      |                 |___ refused: asked again, slower _______________/
///      |______________________ refused: that stands _______/
struct URLRefresh {
    private enum State {
        case idle
        /// The one question under way. May become `idle`, `provisional`.
        case asking(RequestID, Refused, since: Int64)
        /// A fresh URL that no answer has come for yet, for the byte `offset` where it is one. May become `idle`, `accepted`.
        case provisional(OriginURL, offset: Int64?)
        /// The origin answers under the fresh URL, and has still to bring that byte: one may answer under each, and bring nothing.
        /// May become `idle`, `asking`.
        case accepted(offset: Int64?)
    }

    /// What was refused: a URL, to callers with these fields, at the byte `offset`.
    struct Refused {
        let url: RefusedURL
        let offset: Int64?
        fileprivate(set) var callers: Set<HTTPFields>
    }

    /// What becomes of a refusal.
    enum Refusal {
        /// Readers are told.
        case stands
        /// Another URL is, or will be, asked.
        case renewing
        /// A fresh URL is to be asked for; whether one was before, and has brought nothing.
        case ask(RequestID, RefusedURL, isRepeated: Bool)
    }

    private var state = State.idle

    // MARK: State

    /// Whether a fresh URL is awaited.
    var isAsking: Bool { if case .asking = state { true } else { false } }

    /// Whether a fresh URL was accepted and has still to bring what was refused.
    var awaitsByte: Bool { if case .accepted = state { true } else { false } }

    /// When the question has taken too long, in nanoseconds; `nil` where there is none.
    func failsAt(_ deadline: Int64) -> Int64? {
        guard case .asking(_, _, let since) = state else { return nil }
        return since.adding(deadline)
    }

    // MARK: Inputs

    /// The origin refused a request for `sent`.
    /// - Parameters:
    ///   - fields: The caller's, whose request it was.
    ///   - offset: The byte it was to bring; `nil` where it was no certain one.
    ///   - current: The URL that a request would be sent to now.
    ///   - id: Names the question, where one is to be asked.
    mutating func refused(
        _ status: Int, _ sent: OriginURL, to fields: HTTPFields, at offset: Int64?, current: OriginURL,
        key: ResourceKey, _ id: RequestID, now: Int64
    ) -> Refusal {
        guard status == 403 || status == 410 else { return .stands }
        switch state {
        case .asking(let id, var refused, let since):
            if sent == refused.url.url { refused.callers.insert(fields) }
            state = .asking(id, refused, since: since)
            return .renewing
        // A newer URL came while the request was under way.
        case .idle where sent != current, .accepted where sent != current, .provisional where sent != current:
            return .renewing
        case .provisional(sent, _):
            state = .idle
            return .stands
        case .idle, .provisional: return ask(RefusedURL(url: sent, key: key, status: status), isRepeated: false)
        case .accepted: return ask(RefusedURL(url: sent, key: key, status: status), isRepeated: true)
        }
        func ask(_ url: RefusedURL, isRepeated: Bool) -> Refusal {
            state = .asking(id, Refused(url: url, offset: offset, callers: [fields]), since: now)
            return .ask(id, url, isRepeated: isRepeated)
        }
    }

    /// The question was answered, by a fresh URL or none; `nil` where it is not the one that is under way.
    /// - Parameter current: The URL that a request would be sent to now: one that a reader brought meanwhile is newer.
    mutating func renewed(_ id: RequestID, _ fresh: OriginURL?, current: OriginURL) -> (Refused, use: OriginURL?)? {
        guard case .asking(id, let refused, _) = state else { return nil }
        state = .idle
        guard let fresh, current == refused.url.url else { return (refused, nil) }
        state = .provisional(fresh, offset: refused.offset)
        return (refused, fresh)
    }

    /// The origin answered a request for `sent` with something better than a refusal.
    mutating func accepted(_ sent: OriginURL) {
        if case .provisional(sent, let offset) = state { state = .accepted(offset: offset) }
    }

    /// Bytes came that were missing: whether the one that was refused is among them ends it.
    mutating func progressed(by contains: (Int64) -> Bool) {
        if case .accepted(let offset) = state, offset.map(contains) ?? true { state = .idle }
    }

    /// The origin answered as it should, or a reader came while none waits: what comes next begins anew.
    mutating func reset() { if awaitsByte { state = .idle } }

    /// The question has taken `deadline` or longer: what was refused; `nil` where it has not.
    mutating func expire(_ deadline: Int64, now: Int64) -> Refused? {
        guard case .asking(_, let refused, let since) = state, now - since >= deadline else { return nil }
        state = .idle
        return refused
    }
}
