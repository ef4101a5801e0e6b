import RepriseHTTP
import RepriseRanges

/// An expired URL is replaced: a fresh one is asked for, once, however many readers wait.
///
///     idle --refused--> asking --renewed--> provisional --accepted--> idle
///      ^                  \__ none, or too late --> idle     \__ refused: the refusal stands --> idle
struct URLRefresh {
    private enum State {
        case idle
        /// The one question under way. May become `idle`, `provisional`.
        case asking(RequestID, Refused, since: Int64)
        /// A fresh URL that no answer has come for yet. May become `idle`, `asking`.
        case provisional(OriginURL)
    }

    /// What was refused: a URL, to callers with these fields.
    struct Refused {
        let url: RefusedURL
        fileprivate(set) var callers: Set<HTTPFields>
    }

    /// What becomes of a refusal.
    enum Refusal {
        /// Readers are told.
        case stands
        /// Another URL is, or will be, asked.
        case renewing
        /// A fresh URL is to be asked for; whether one was before, and nothing has come since that was missing. An origin may
        /// answer under each fresh URL, and bring nothing.
        case ask(RequestID, RefusedURL, isRepeated: Bool)
    }

    private var state = State.idle
    /// Whether a fresh URL was asked for since something came that was missing.
    private var isRepeated = false

    // MARK: State

    /// Whether a fresh URL is awaited.
    var isAsking: Bool { if case .asking = state { true } else { false } }

    /// When the question has taken too long, in nanoseconds; `nil` where there is none.
    func failsAt(_ deadline: Int64) -> Int64? {
        guard case .asking(_, _, let since) = state else { return nil }
        return since.adding(deadline)
    }

    // MARK: Inputs

    /// The origin refused a request for `sent`.
    /// - Parameters:
    ///   - fields: The caller's, whose request it was.
    ///   - current: The URL that a request would be sent to now.
    ///   - id: Names the question, where one is to be asked.
    mutating func refused(
        _ status: Int, _ sent: OriginURL, to fields: HTTPFields, current: OriginURL, key: ResourceKey, _ id: RequestID,
        now: Int64
    ) -> Refusal {
        guard status == 403 || status == 410 else { return .stands }
        switch state {
        case .asking(let id, var refused, let since):
            if sent == refused.url.url { refused.callers.insert(fields) }
            state = .asking(id, refused, since: since)
            return .renewing
        // A newer URL came while the request was under way.
        case .idle where sent != current, .provisional where sent != current: return .renewing
        case .provisional(sent):
            state = .idle
            return .stands
        case .idle, .provisional:
            let refused = RefusedURL(url: sent, key: key, status: status)
            state = .asking(id, Refused(url: refused, callers: [fields]), since: now)
            defer { isRepeated = true }
            return .ask(id, refused, isRepeated: isRepeated)
        }
    }

    /// The question was answered, by a fresh URL or none; `nil` where it is not the one that is under way.
    /// - Parameter current: The URL that a request would be sent to now: one that a reader brought meanwhile is newer.
    mutating func renewed(_ id: RequestID, _ fresh: OriginURL?, current: OriginURL) -> (Refused, use: OriginURL?)? {
        guard case .asking(id, let refused, _) = state else { return nil }
        state = .idle
        guard let fresh, current == refused.url.url else { return (refused, nil) }
        state = .provisional(fresh)
        return (refused, fresh)
    }

    /// The origin answered a request for `sent` with something better than a refusal.
    mutating func accepted(_ sent: OriginURL) { if case .provisional(sent) = state { state = .idle } }

    /// What was missing came, or the origin's word about it.
    mutating func progressed() { isRepeated = false }

    /// The question has taken `deadline` or longer: what was refused; `nil` where it has not.
    mutating func expire(_ deadline: Int64, now: Int64) -> Refused? {
        guard case .asking(_, let refused, let since) = state, now - since >= deadline else { return nil }
        state = .idle
        return refused
    }
}
