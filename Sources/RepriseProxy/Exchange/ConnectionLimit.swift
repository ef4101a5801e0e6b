import Synchronization

/// What a connection does, as far as it matters for who has to go when there are too many.
package enum ConnectionStanding: Sendable, Hashable {
    /// No complete request is there, since that moment.
    case waiting(since: Int64)
    /// An answer is on its way, and its bytes are taken as they come or come from the origin.
    case answering
    /// An answer is on its way, and the client has taken none of it since that moment.
    case stalled(since: Int64)
}

/// Who gives way when all places are taken, so that connections that do nothing cannot lock others out. No I/O.
///
/// A connection without a request costs its client a new one, which RFC 9112 §9.6 has every client ready for; a player
/// that was paused asks again from where it stood. An answer that is being taken is never cut.
package enum ConnectionLimit {
    /// A client that has taken nothing for as long may be let go for another; players take something each second or so.
    package static let stallLimit: Int64 = 10_000_000_000

    /// Connections at a time, where so many are wanted and the process may have so many descriptors: their other half is for
    /// what is stored, and for the origins.
    package static func count(wanted: Int, descriptors: Int) -> Int { min(wanted, max(1, descriptors / 2)) }

    /// Requests at origins at a time, where so many are wanted and the process may have so many descriptors: those that are
    /// forwarded, or an edge server's own at each origin. Each has a connection: without a bound they would take what clients, the
    /// others and the store need.
    package static func originCount(wanted: Int, descriptors: Int) -> Int { min(wanted, max(1, descriptors / 8)) }

    /// Connections beyond the places that are told so, or were and have time to read it, at a time; where all of those are
    /// still to be told, further ones are closed at once.
    package static func refusedCount(places: Int) -> Int { max(4, places / 8 * 3) }

    /// The one to close, and what it was seen to do: who waits longest without a request, else who has taken nothing for
    /// longest; `nil` where everybody is busy.
    /// - Parameter now: In nanoseconds, on the clock of the standings.
    package static func leastNeeded<ID>(
        of connections: some Sequence<(id: ID, standing: ConnectionStanding)>, now: Int64
    ) -> (id: ID, standing: ConnectionStanding)? {
        var waiting: (id: ID, since: Int64)?
        var stalled: (id: ID, since: Int64)?
        for connection in connections {
            switch connection.standing {
            case .answering: break
            case .waiting(let since):
                if since < waiting?.since ?? .max { waiting = (connection.id, since) }
            case .stalled(let since):
                guard now - since >= stallLimit else { break }
                if since < stalled?.since ?? .max { stalled = (connection.id, since) }
            }
        }
        if let waiting { return (waiting.id, .waiting(since: waiting.since)) }
        return stalled.map { ($0.id, .stalled(since: $0.since)) }
    }
}

/// A connection's standing where other threads can see it, without a lock on the way of every request.
package final class SharedStanding: Sendable {
    // Moments are above 0: below are the stalled ones, 0 is answering.
    private let word: Atomic<Int64>

    package init(_ standing: ConnectionStanding) { word = Atomic(SharedStanding.encode(standing)) }

    package var value: ConnectionStanding {
        get {
            let word = word.load(ordering: .relaxed)
            return word > 0 ? .waiting(since: word) : word < 0 ? .stalled(since: -word) : .answering
        }
        set { word.store(SharedStanding.encode(newValue), ordering: .relaxed) }
    }

    private static func encode(_ standing: ConnectionStanding) -> Int64 {
        switch standing {
        case .waiting(let since): max(1, since)
        case .answering: 0
        case .stalled(let since): -max(1, since)
        }
    }
}
