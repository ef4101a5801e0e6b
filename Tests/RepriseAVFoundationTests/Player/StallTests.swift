import AVFoundation
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// Stalls, and what is known of an item.
@MainActor
@Suite struct StallTests {
    @Test func `after a stall it plays on by itself once the buffer is there, mistake18`() async throws {
        let world = try PlayerWorld(seconds: 20)
        let player = world.player
        try #require(!player.player.automaticallyWaitsToMinimizeStalling)
        let place = 4 * PlayerWorld.second
        world.hold(at: place)
        player.play(PlayerWorld.url(0))
        await world.until { player.loadedRanges.last?.upperBound == 4 }
        world.clock.advance(seconds: 6)
        await world.until { player.state == .stalled && player.position == 4 }
        #expect(player.player.rate == 0)
        // Less than three seconds are not enough.
        world.hold(at: place + 2 * PlayerWorld.second)
        await world.until { player.loadedRanges.last?.upperBound == 6 }
        #expect(player.state == .stalled)
        world.hold(at: nil)
        await world.until { player.state == .playing }
        try await world.play(60)
        await world.until { player.state == .ended && world.ends == [.finished] }
        #expect(world.media.origin.bodyBytes <= 20 * PlayerWorld.second + 64 * 1024)
        #expect(world.traps.isEmpty)
    }

    @Test func `a stall ends with what there is when the loading has failed, so that the failure is told`() async throws
    {
        let world = try PlayerWorld()
        let player = world.player
        player.stall = StallRule(bufferBeforeResuming: 5, patience: 0.25)
        world.hold(at: 2 * PlayerWorld.second)
        player.play(PlayerWorld.url(0))
        await world.until { player.loadedRanges.last?.upperBound == 2 }
        world.clock.advance(seconds: 3)
        await world.until { player.state == .stalled }
        world.hold(at: 3 * PlayerWorld.second)
        await world.until { player.loadedRanges.last?.upperBound == 3 }
        world.media.origin.change("/0.mp4") { $0.behaviour.status = 403 }
        await world.until { player.state == .playing }
        await world.until { [clock = world.clock] in
            clock.advance(seconds: 0.5)
            if case .failed = player.state { return true } else { return false }
        }
        #expect(player.position == 3)
    }

    @Test func `a stall that is reported after bytes have come is a stall all the same`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        player.play(PlayerWorld.url(0))
        try await world.play(1)
        await world.until { player.loadedRanges.last.map { $0.upperBound > 5 } ?? false }
        player.player.pause()
        await world.until { player.state == .paused }
        player.handle(.stalled, of: player.items[0])
        await world.until { player.state == .playing }
        // After the app's own pause it is not.
        player.pause()
        player.handle(.stalled, of: player.items[0])
        #expect(player.state == .paused)
        #expect(player.player.rate == 0)
    }

    @Test func `a pause during a stall is a pause`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        world.hold(at: 2 * PlayerWorld.second)
        player.play(PlayerWorld.url(0))
        await world.until { player.loadedRanges.last?.upperBound == 2 }
        world.clock.advance(seconds: 3)
        await world.until { player.state == .stalled }
        player.pause()
        world.hold(at: nil)
        await world.until { player.loadedRanges.last?.upperBound == 10 }
        #expect(player.state == .paused)
        #expect(player.player.rate == 0)
        player.resume()
        try await world.play(60)
        await world.until { world.ends == [.finished] }
    }

    @Test func `a buffer before the start is waited for`() async throws {
        var configuration = CachingPlayer.Configuration()
        configuration.bufferBeforeStarting = 5
        let world = try PlayerWorld(seconds: 20, configuration)
        let player = world.player
        world.hold(at: 3 * PlayerWorld.second)
        player.play(PlayerWorld.url(0))
        await world.until { player.loadedRanges.last?.upperBound == 3 }
        #expect(player.state == .loading)
        #expect(player.player.rate == 0)
        world.hold(at: nil)
        await world.until { player.state == .playing }
    }

    @Test func `stored ranges are told as times, loaded ranges apart`() async throws {
        let world = try PlayerWorld(seconds: 40)
        let player = world.player
        world.hold(at: 5 * PlayerWorld.second)
        player.play(PlayerWorld.url(0))
        await world.until { player.loadedRanges.last?.upperBound == 5 }
        // A block is stored whole or as a prefix, so what is stored is what arrived.
        await world.until { player.refreshed().storedRanges.last.map { $0.upperBound > 4.5 } ?? false }
        #expect(player.storedRanges.first?.lowerBound == 0)
        world.hold(at: nil)
        #expect(await player.seek(to: 30))
        await world.until { player.refreshed().storedRanges.last.map { $0.contains(31) } ?? false }
        #expect(player.storedRanges.count >= 2)
        #expect(player.loadedRanges.allSatisfy { $0.lowerBound >= 25 })
    }

    @Test func `what is stored whole is stored for the whole duration`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        player.play(PlayerWorld.url(0))
        try await world.play(60)
        await world.until { player.state == .ended && player.refreshed().storedRanges == [0..<10] }
        #expect(await world.media.settle())
        #expect(player.refreshed().storedRanges == [0..<10])
    }
}

extension CachingPlayer {
    /// Itself, after a look at the player.
    func refreshed() -> CachingPlayer {
        refresh()
        return self
    }
}
