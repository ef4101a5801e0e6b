package import RepriseHTTP
import ReprisePlatform

/// Which URL took the place of which, for all resources of a cache: whoever comes with one that ran out is not refused
/// again. Bounded; what is forgotten costs one refusal. Its lock is a leaf.
package final class FreshURLs: Sendable {
    private struct State {
        var newest: [OriginURL: OriginURL] = [:]
        /// The replaced ones, the oldest first.
        var order: [OriginURL] = []
    }

    /// Most URLs it remembers. (A guess: a playlist is shorter.)
    private static let limit = 1024

    private let refresher: URLRefresher
    private let state = Lock(State())

    package init(_ refresher: URLRefresher) { self.refresher = refresher }

    /// The URL that stands for `url` now.
    package func newest(_ url: OriginURL) -> OriginURL { state.withLock { $0.newest[url] ?? url } }

    /// Asks for a fresh one; `answer` is called once, on any thread.
    package func ask(
        _ refused: RefusedURL, _ answer: @escaping @Sendable (Result<OriginURL?, any Error>) -> Void
    ) {
        refresher.ask(refused) { found in
            if case .success(let fresh?) = found { self.note(fresh, for: refused.url) }
            answer(found)
        }
    }

    private func note(_ fresh: OriginURL, for old: OriginURL) {
        state.withLock { state in
            // One that was replaced once may be good again.
            state.newest[fresh] = nil
            state.order.removeAll { $0 == fresh }
            for (replaced, newest) in state.newest where newest == old { state.newest[replaced] = fresh }
            guard old != fresh else { return }
            if state.newest.updateValue(fresh, forKey: old) == nil { state.order.append(old) }
            if state.order.count > FreshURLs.limit { state.newest[state.order.removeFirst()] = nil }
        }
    }
}
