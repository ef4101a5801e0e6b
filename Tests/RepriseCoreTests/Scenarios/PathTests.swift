import RepriseCore
import RepriseTesting
import Testing

/// What happens when the network comes back.
@Suite struct PathTests {
    @Test func `who waits in back-off is tried again at once when the path returns`() throws {
        let world = try World()
        world.put("/a", length: 2_000_000)
        let player = world.player("/a")
        player.play(to: 100_000)
        world.origin.setDown(true)
        player.play(patience: 12 * second)
        #expect(player.failure == nil)
        let stuck = player.position
        world.origin.setDown(false)
        let before = world.queues.time
        world.cache.networkPathReturned()
        player.play(to: stuck + 1, patience: second)
        #expect(player.position == stuck + 1)
        #expect(world.queues.time - before < 10 * millisecond)
        player.finish()
        player.expectWhole(2_000_000)
    }

    @Test func `a path that returns to an origin still down costs one try and prolongs nobody's wait`() throws {
        let world = try World()
        world.put("/a", length: 2_000_000)
        let player = world.player("/a")
        player.play(to: 100_000)
        world.origin.setDown(true)
        let start = world.queues.time
        for _ in 0..<10 {
            player.play(patience: 2 * second)
            world.cache.networkPathReturned()
        }
        player.play(patience: 5 * second)
        #expect(player.failure?.code == .originUnreachable)
        #expect(world.queues.time - start < 30 * second)
    }

    @Test func `what the origin asked to wait for is waited for, whatever the path does`() throws {
        let world = try World()
        world.put("/a", length: 2_000_000) { behaviour in
            behaviour.status = 503
            behaviour.retryAfter = 1
            behaviour.faultyRequests = 1
        }
        let player = world.player("/a")
        player.play(patience: second / 2)
        let requests = world.origin.requestCount
        for _ in 0..<3 {
            world.cache.networkPathReturned()
            world.queues.settle()
        }
        #expect(world.origin.requestCount == requests)
        player.finish()
        player.expectWhole(2_000_000)
    }

    @Test func `where nothing waits a returning path asks for nothing`() throws {
        let world = try World()
        world.put("/a", length: 300_000)
        let player = world.player("/a")
        player.play(to: 100_000)
        let requests = world.origin.requestCount
        world.cache.networkPathReturned()
        world.queues.settle()
        #expect(world.origin.requestCount == requests)
        player.finish()
        player.expectWhole(300_000)
    }
}
