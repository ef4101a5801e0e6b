#if canImport(Glibc)
    import Glibc
    import ReprisePlatform
    import Testing

    /// Writing past a channel, to one end of a pair of sockets.
    @Suite struct SocketCallsTests {
        /// A pair of connected sockets that do not block.
        private final class Pair {
            let ends: (Int32, Int32)

            init() {
                var numbers: [Int32] = [0, 0]
                let result = unsafe socketpair(
                    AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &numbers)
                precondition(result == 0)
                ends = (numbers[0], numbers[1])
            }

            deinit {
                close(ends.0)
                close(ends.1)
            }

            /// Takes what has come.
            func received() -> [UInt8] {
                var all: [UInt8] = []
                while true {
                    let piece = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { room, filled in
                        filled = max(0, unsafe recv(ends.1, room.baseAddress, room.count, 0))
                    }
                    if piece.isEmpty { return all }
                    all += piece
                }
            }

            func write(_ first: [UInt8], then second: [UInt8]) -> Int {
                unsafe first.withUnsafeBytes { first in
                    unsafe second.withUnsafeBytes { unsafe SocketCalls.write(first, then: $0, to: ends.0) }
                }
            }
        }

        private static func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        }

        @Test(arguments: [(0, 0), (0, 5), (300, 0), (300, 1), (300, 65_536)])
        func `two pieces arrive one after the other`(first: Int, second: Int) {
            let pair = Pair()
            let all = Self.bytes(first + second)
            #expect(pair.write(Array(all[..<first]), then: Array(all[first...])) == first + second)
            #expect(pair.received() == all)
        }

        @Test func `what a full socket does not take is told, and can be sent later`() throws {
            let pair = Pair()
            let all = Self.bytes(3_000_000)
            var (sent, calls, received) = (0, 0, [UInt8]())
            while sent < all.count {
                let middle = min(all.count, sent + 300)
                let taken = pair.write(Array(all[sent..<middle]), then: Array(all[middle...]))
                sent += taken
                calls += 1
                if taken > 0 { continue }
                let piece = pair.received()
                try #require(!piece.isEmpty, "nothing is taken, and nothing has come")
                received += piece
            }
            #expect(calls > 2)
            received += pair.received()
            #expect(received == all)
        }

        @Test func `to whom nobody listens nothing is taken, and no signal comes`() {
            let pair = Pair()
            shutdown(pair.ends.1, Int32(SHUT_RDWR))
            #expect(pair.write([1], then: [2]) == 0)
        }
    }
#endif
