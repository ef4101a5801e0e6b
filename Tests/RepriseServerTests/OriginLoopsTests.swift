#if Server
    import NIOCore
    import NIOPosix
    import Testing

    @testable import RepriseAsyncHTTPClient

    struct OriginLoopsTests {
        private let group = MultiThreadedEventLoopGroup(numberOfThreads: 4)

        @Test func `requests that follow each other prefer one loop, so that they find its connection`() async throws {
            let loops = OriginLoops(group)
            let places = (0..<8).map { _ in
                let place = loops.enter("http://a:80")
                loops.leave(place)
                return ObjectIdentifier(place.loop)
            }
            #expect(Set(places).count == 1)
            try await group.shutdownGracefully()
        }

        @Test func `requests under way together are spread over all loops`() async throws {
            let loops = OriginLoops(group)
            let places = (0..<8).map { _ in loops.enter("http://a:80") }
            #expect(Set(places.map { ObjectIdentifier($0.loop) }).count == 4)
            // One that leaves makes room for the next on the same loop.
            loops.leave(places[2])
            #expect(loops.enter("http://a:80").loop === places[2].loop)
            try await group.shutdownGracefully()
        }

        @Test func `nothing is kept of an origin that is not being asked`() async throws {
            let loops = OriginLoops(group)
            let places =
                (0..<100).map { loops.enter("http://host\($0):80") } + (0..<3).map { _ in loops.enter("http://a:80") }
            #expect(loops.originsUnderWay == 101)
            for place in places { loops.leave(place) }
            #expect(loops.originsUnderWay == 0)
            try await group.shutdownGracefully()
        }
    }
#endif
