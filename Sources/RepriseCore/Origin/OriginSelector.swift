package import RepriseHTTP

/// Which of the origins that serve a resource a request goes to. A value made for one decision; no I/O.
package struct OriginSelector: Sendable {
    /// One of the places a resource is at.
    package struct Candidate: Sendable {
        package var location: OriginURL
        package var breaker: CircuitBreaker
        /// Whether it asked not to be asked for this now.
        package var isHeldOff: Bool

        package init(_ location: OriginURL, breaker: CircuitBreaker = CircuitBreaker(), isHeldOff: Bool = false) {
            self.location = location
            self.breaker = breaker
            self.isHeldOff = isHeldOff
        }
    }

    private let candidates: [Candidate]
    /// The number of the one that is preferred; the others follow in their order.
    private let home: Int

    package init(_ candidates: [Candidate], home: Int = 0) {
        self.candidates = candidates
        self.home = home
    }

    /// The places a request tries in turn, by their numbers: those that are well as they are preferred, then the others, the one
    /// that was left alone longest first. One that asked to be left alone is no other place, unless all did.
    package func order(now: Int64) -> [Int] {
        let all = [home] + candidates.indices.filter { $0 != home }
        let willing = all.filter { !candidates[$0].isHeldOff }
        let preferred = willing.isEmpty ? all : willing
        let others = preferred.filter { !candidates[$0].breaker.isReady(now) }
            .sorted { candidates[$0].breaker.openUntil < candidates[$1].breaker.openUntil }
        return preferred.filter { candidates[$0].breaker.isReady(now) } + others
    }

    /// Where a request goes that was sent to `tried` before; `nil` where it was everywhere it may go. Where all asked to be left
    /// alone one is asked, not one after the other.
    package func next(besides tried: [Int], now: Int64) -> (place: Int, location: OriginURL)? {
        order(now: now).first { !tried.contains($0) && (tried.isEmpty || !candidates[$0].isHeldOff) }
            .map { ($0, candidates[$0].location) }
    }
}
