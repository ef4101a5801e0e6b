import AVFoundation
import Foundation
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// What the system does to a player: interruptions, its own end, other screens.
@MainActor
@Suite struct SystemTests {
    @Test func `an interruption pauses and its end resumes`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        player.play(PlayerWorld.url(0))
        try await world.play(2)
        player.handle(.began)
        #expect(player.state == .paused)
        #expect(player.player.rate == 0)
        player.handle(.ended(shouldResume: true))
        try await world.play(1)
        await world.until { player.position == 3 }
        player.handle(.outputLost)
        #expect(player.state == .paused)
        player.handle(.ended(shouldResume: true))
        #expect(player.state == .paused)
    }

    @Test func `after a reset of the media services everything is new and goes on where it was`() async throws {
        let world = try PlayerWorld(songs: 2)
        let player = world.player
        (player.volume, player.rate) = (0.5, 2)
        player.play(PlayerWorld.songs(2))
        try await world.play(2)
        await world.until { player.position == 4 }
        let (old, item) = (player.player, player.player.currentItem)
        player.handle(.servicesLost)
        SimulatedClock.$shared.withValue(world.clock) { player.handle(.servicesReset) }
        #expect(player.player !== old)
        #expect(player.player.currentItem !== item)
        #expect(player.player.currentItem?.asset !== item?.asset)
        #expect(old.items().isEmpty)
        #expect(player.player.volume == 0.5)
        #expect(!player.player.automaticallyWaitsToMinimizeStalling)
        #expect(player.position == 4)
        await world.until { player.state == .playing && player.player.currentTime().seconds == 4 }
        try await world.play(1)
        await world.until { player.position == 6 }
        try await world.play(2)
        await world.until { player.currentIndex == 1 }
        await world.until { world.ends == [.finished] }
    }

    @Test func `a seek that a reset overtakes is answered, and what comes after it moves on`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        world.hold(at: 6 * PlayerWorld.second)
        player.play(PlayerWorld.url(0))
        try await world.play(2)
        let seek = Task { await player.seek(to: 8) }
        await world.until { player.items.first?.isSeeking == true }
        SimulatedClock.$shared.withValue(world.clock) { player.handle(.servicesReset) }
        #expect(await seek.value == false)
        world.hold(at: nil)
        await world.until { player.state == .playing && player.player.currentTime().seconds == 8 }
        try await world.play(1)
        await world.until { player.position == 9 }
    }

    @Test func `what somebody else started during an interruption plays on after a reset`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        player.play(PlayerWorld.url(0))
        try await world.play(2)
        player.handle(.began)
        SimulatedClock.$shared.withValue(world.clock) { player.player.rate = 1 }
        await world.until { player.state == .playing }
        SimulatedClock.$shared.withValue(world.clock) { player.handle(.servicesReset) }
        await world.until { player.state == .playing }
    }

    @Test func `a seek that waits for its item is answered where that is stopped`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        world.hold(at: 6 * PlayerWorld.second)
        player.play(PlayerWorld.url(0))
        let seek = Task { await player.seek(to: 8) }
        await world.until { player.items.first?.isSeeking == true }
        player.stop()
        #expect(await seek.value == false)
    }

    @Test func `a reset while paused stays paused, at the same place`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        player.play(PlayerWorld.url(0))
        try await world.play(5)
        player.pause()
        SimulatedClock.$shared.withValue(world.clock) { player.handle(.servicesReset) }
        await world.until { player.player.currentTime().seconds == 5 }
        #expect(player.state == .paused)
        #expect(player.player.rate == 0)
    }

    @Test func `another screen is off for what is cached, and on for a file`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        player.play(PlayerWorld.url(0))
        #expect(!player.player.allowsExternalPlayback)
        let file = URL(fileURLWithPath: world.media.directory.path + "/song.mp3")
        try Data(count: 256_000).write(to: file)
        player.play(file)
        #expect(player.player.allowsExternalPlayback)
    }

    @Test func `where the app wants it, another screen gets the origin's URL at the same place`() async throws {
        var configuration = CachingPlayer.Configuration()
        configuration.externalPlayback = .swapToOrigin
        let world = try PlayerWorld(songs: 2, seconds: 7, configuration)
        let player = world.player
        player.play(PlayerWorld.songs(2))
        try await world.play(3)
        await world.until { player.position == 3 }
        player.player.simulateExternalPlayback(true)
        await world.until { (player.player.currentItem?.asset as? AVURLAsset)?.url == PlayerWorld.url(0) }
        await world.until { player.state == .playing && player.player.currentTime().seconds == 3 }
        #expect(player.items.allSatisfy { $0.asset.cacheRoute == nil })
        player.player.simulateExternalPlayback(false)
        #expect(player.next())
        #expect(player.previous())
        #expect(player.items.first?.asset.cacheRoute == .loader(PlayerWorld.url(0)))
    }

    @Test func `once another screen is off, all that follows goes through the cache again`() async throws {
        var configuration = CachingPlayer.Configuration()
        configuration.externalPlayback = .swapToOrigin
        configuration.itemsAhead = 2
        let world = try PlayerWorld(songs: 4, seconds: 7, configuration)
        let player = world.player
        player.play(PlayerWorld.songs(4))
        try await world.play(3)
        player.player.simulateExternalPlayback(true)
        await world.until { player.items.count == 3 && player.items.allSatisfy { $0.asset.cacheRoute == nil } }
        player.player.simulateExternalPlayback(false)
        await world.until { player.items.dropFirst().allSatisfy { $0.asset.cacheRoute != nil } }
        #expect(player.items.count == 3)
        #expect(player.next())
        #expect(player.items.count == 3 && player.items.allSatisfy { $0.asset.cacheRoute != nil })
    }

    @Test func `an app's own queue player is followed: what is left pauses, what is current goes on`() async throws {
        let world = try PlayerWorld(songs: 2, seconds: 600)
        for path in ["/0.mp4", "/1.mp4"] { world.media.origin.change(path) { $0.behaviour.bytesPerSecond = 2_000_000 } }
        let assets = [0, 1].map { world.media.cache.asset(for: PlayerWorld.url($0)) }
        let items = assets.map { AVPlayerItem(asset: $0) }
        let own = SimulatedClock.$shared.withValue(world.clock) { AVQueuePlayer(items: items) }
        var follower: QueueFollower? = QueueFollower(own)
        await world.until { items[0].status == .readyToPlay }
        own.advanceToNextItem()
        await world.until { assets[0].isCachingPaused }
        #expect(!assets[1].isCachingPaused)
        own.removeAllItems()
        await world.until { assets[1].isCachingPaused }
        own.insert(AVPlayerItem(asset: assets[0]), after: nil)
        await world.until { !assets[0].isCachingPaused }
        weak let held = follower
        follower = nil
        #expect(held == nil)
    }

    @Test func `a looper's copies share one loader, and following its queue pauses none of them`() async throws {
        let world = try PlayerWorld(seconds: 2)
        let asset = world.media.cache.asset(for: PlayerWorld.url(0))
        let own = SimulatedClock.$shared.withValue(world.clock) { AVQueuePlayer() }
        own.automaticallyWaitsToMinimizeStalling = false
        let follower = QueueFollower(own)
        let looper = AVPlayerLooper(player: own, templateItem: AVPlayerItem(asset: asset))
        await world.until { own.items().count == 3 }
        own.play()
        try await own.simulatePlaying(seconds: 9)
        #expect(looper.loopCount == 4)
        follower.look()
        #expect(!asset.isCachingPaused)
        #expect(await world.media.settle())
        #expect(world.media.origin.bodyBytes == 2 * PlayerWorld.second)
        own.removeAllItems()
        await world.until { asset.isCachingPaused }
    }

    @Test func `two players of one song cost one transfer`() async throws {
        let world = try PlayerWorld()
        let other = SimulatedClock.$shared.withValue(world.clock) { CachingPlayer(cache: world.media.cache) }
        world.player.play(PlayerWorld.url(0))
        other.play(PlayerWorld.url(0))
        await world.until { world.player.state == .playing && other.state == .playing }
        try await world.play(3)
        other.stop()
        try await world.play(60)
        await world.until { world.ends == [.finished] }
        #expect(await world.media.settle())
        #expect(world.media.origin.bodyBytes == 10 * PlayerWorld.second)
    }
}
