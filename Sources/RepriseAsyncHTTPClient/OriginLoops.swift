#if Server
    import NIOCore
    import NIOPosix
    import ReprisePlatform

    /// On which event loop a request's events come: that of the connection which will carry it, as far as that can be known.
    ///
    /// The library makes a connection on the loop its request prefers, and of those at rest takes one on that loop first.
    /// Requests to one origin that come one after the other prefer the same loop; where they preferred any, half of them would
    /// be on another than their connection, and each piece of a body would change threads once more.
    ///
    /// Requests that are under way to one origin together have numbers, each the lowest that is free: origin and number
    /// are the loop. Nothing is kept of an origin that is not being asked. Any thread may call it.
    final class OriginLoops: Sendable {
        /// A request under way.
        struct Place: Sendable {
            let loop: any EventLoop
            fileprivate let origin: String
            fileprivate let number: Int
        }

        private let loops: [any EventLoop]
        /// Which numbers are taken, by origin.
        private let taken = Lock<[String: [Bool]]>([:])

        init(_ group: some EventLoopGroup) { loops = Array(group.makeIterator()) }

        /// A place for a request to `origin`; to be given back by `leave`, once.
        func enter(_ origin: String) -> Place {
            let number = taken.withLock { taken in
                let free = taken[origin]?.firstIndex(of: false)
                if let free { taken[origin]?[free] = true } else { taken[origin, default: []].append(true) }
                return free ?? (taken[origin]?.count ?? 1) - 1
            }
            let first = Int(UInt(bitPattern: origin.hashValue) % UInt(loops.count))
            return Place(loop: loops[(first + number) % loops.count], origin: origin, number: number)
        }

        /// The request is over.
        func leave(_ place: Place) {
            taken.withLock { taken in
                taken[place.origin]?[place.number] = false
                if taken[place.origin]?.contains(true) == false { taken[place.origin] = nil }
            }
        }

        /// Origins that are being asked, for tests.
        var originsUnderWay: Int { taken.withLock { $0.count } }
    }
#endif
