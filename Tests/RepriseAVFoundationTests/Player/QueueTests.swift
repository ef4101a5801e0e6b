import AVFoundation
import RepriseCore
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// Several items: moving on and back, looping, and what the cache does meanwhile.
@MainActor
@Suite struct QueueTests {
    @Test func `five songs play one after the other, each fetched once, the next made ready`() async throws {
        let world = try PlayerWorld(songs: 5, seconds: 3)
        let player = world.player
        player.play(PlayerWorld.songs(5))
        await world.until { player.state == .playing }
        #expect(player.player.items().count == 2)
        for song in 0..<5 {
            await world.until { player.currentIndex == song }
            try await world.play(3)
        }
        await world.until { player.state == .ended }
        await world.until { world.ends == Array(repeating: .finished, count: 5) }
        #expect(await world.media.settle())
        #expect(world.media.origin.bodyBytes == 15 * PlayerWorld.second)
        #expect(world.traps.isEmpty)
    }

    @Test func `skipping forward and back fetches each byte once and cancels nobody else's`() async throws {
        let world = try PlayerWorld(songs: 5, seconds: 3)
        let player = world.player
        player.play(PlayerWorld.songs(5))
        var expected = 0
        for step in [1, 1, 1, 1, -1, -1, 1, -1, -1, -1] {
            await world.until { player.state == .playing }
            try await world.play(0.5)
            #expect(step > 0 ? player.next() : player.previous())
            expected += step
            let place = expected
            await world.until { player.currentIndex == place }
        }
        #expect(expected == 0)
        for song in 0..<5 {
            await world.until { player.currentIndex == song }
            try await world.play(3)
        }
        await world.until { player.state == .ended }
        #expect(await world.media.settle())
        #expect(world.media.origin.bodyBytes == 15 * PlayerWorld.second)
        await world.until { world.ends.count { $0 == .left } == 10 }
        await world.until { world.ends.count { $0 == .finished } == 5 }
        #expect(!player.next())
        #expect(world.traps.isEmpty)
    }

    @Test func `what was left asks for nothing more, and goes on when it is current again`() async throws {
        let world = try PlayerWorld(songs: 2, seconds: 120)
        let player = world.player
        for path in ["/0.mp4", "/1.mp4"] { world.media.origin.change(path) { $0.behaviour.bytesPerSecond = 4_000_000 } }
        player.play(PlayerWorld.songs(2))
        try await world.play(1)
        let left = try #require(player.items.first?.asset)
        // An item that somebody still holds cancels nothing by itself.
        let item = player.player.currentItem
        #expect(player.next())
        await world.until { left.isCachingPaused }
        await world.until { player.currentIndex == 1 && player.state == .playing }
        #expect(
            left.resourceLoader.simulationRecord.requests.allSatisfy {
                if case .failed? = $0.outcome { false } else { true }
            })
        #expect(player.previous())
        await world.until { !left.isCachingPaused && player.state == .playing }
        #expect(player.items.first?.asset === left)
        withExtendedLifetime(item) {}
    }

    @Test func `looping plays again and again from one transfer, until it is turned off`() async throws {
        let world = try PlayerWorld(songs: 2, seconds: 2)
        let player = world.player
        player.isLooping = true
        player.play(PlayerWorld.songs(2))
        for _ in 0..<4 {
            try await world.play(1)
            let item = player.player.currentItem
            await world.until { player.items.count == 2 }
            #expect(player.currentIndex == 0)
            try await world.play(1)
            await world.until { player.player.currentItem !== item && player.state == .playing }
        }
        #expect(world.ends.isEmpty)
        #expect(world.requests(1) == 0)
        #expect(await world.media.settle())
        #expect(world.media.origin.bodyBytes == 2 * PlayerWorld.second)
        player.isLooping = false
        try await world.play(2)
        await world.until { player.currentIndex == 1 && player.state == .playing }
        await world.until { world.ends == [.finished] }
        #expect(world.traps.isEmpty)
    }

    @Test(arguments: [0, 1, 2])
    func `what is asked for before the news of another item has come counts for that item`(way: Int) async throws {
        let world = try PlayerWorld(songs: 3, seconds: 2)
        let player = world.player
        player.isLooping = way == 2
        player.play(PlayerWorld.songs(3))
        try await world.play(1)
        await world.until { player.items.count == 2 && player.items[1].item.status == .readyToPlay }
        let second = player.items[1].item
        try await world.play(15.0 / 16)
        // No turn of the main actor lies between the end of the first item and what is asked for.
        world.clock.advance(seconds: 1.0 / 16)
        #expect(player.player.currentItem === second)
        switch way {
        case 0:
            #expect(player.next())
            #expect(player.currentIndex == 2)
            await world.until { world.ends == [.finished, .left] }
        case 1:
            player.enqueue(PlayerWorld.url(0))
            #expect(player.currentIndex == 1)
            #expect(player.items.map(\.entry.id) == [2, 3])
        default:
            player.isLooping = false
            #expect(player.player.currentItem === second)
            #expect(player.items.map(\.entry.id) == [1, 2])
        }
        #expect(world.traps.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a main thread that was held up for longer than what is queued loses nothing`(isLooping: Bool) async throws {
        let world = try PlayerWorld(songs: 3, seconds: 1)
        let player = world.player
        player.isLooping = isLooping
        player.play(PlayerWorld.songs(3))
        try await world.play(0.5)
        await world.until {
            player.items.count == 2
                && player.items.allSatisfy { $0.item.loadedTimeRanges.last?.timeRangeValue.end.seconds == 1 }
        }
        let played = player.items.map(\.item)
        // Both play to their ends without a turn of the main actor.
        world.clock.advance(seconds: 1.5)
        #expect(player.player.currentItem == nil)
        #expect(player.items.count == 2)
        await world.until { player.state == .playing && player.items.allSatisfy { !played.contains($0.item) } }
        #expect(player.currentIndex == (isLooping ? 0 : 2))
        await world.until { world.ends == (isLooping ? [] : [.finished, .finished]) }
        #expect(world.traps.isEmpty)
    }

    @Test func `a list without preloading plays on too`() async throws {
        var configuration = CachingPlayer.Configuration()
        configuration.itemsAhead = 0
        let world = try PlayerWorld(songs: 2, seconds: 2, configuration)
        let player = world.player
        player.play(PlayerWorld.songs(2))
        try await world.play(1)
        #expect(world.requests(1) == 0)
        try await world.play(2)
        await world.until { player.currentIndex == 1 }
        try await world.play(2)
        await world.until { player.state == .ended && world.ends == [.finished, .finished] }
    }

    @Test func `what is added later is played, also after the end`() async throws {
        let world = try PlayerWorld(songs: 3, seconds: 2)
        let player = world.player
        player.enqueue(PlayerWorld.url(0))
        #expect(player.state == .paused)
        #expect(player.currentIndex == 0)
        player.resume()
        try await world.play(1)
        player.enqueue(PlayerWorld.url(1))
        try await world.play(1)
        await world.until { player.currentIndex == 1 }
        try await world.play(2)
        await world.until { player.state == .ended }
        player.enqueue([.url(PlayerWorld.url(2))])
        player.resume()
        #expect(player.currentIndex == 2)
        try await world.play(2)
        await world.until { world.ends == [.finished, .finished, .finished] }
        #expect(player.queue.count == 3)
    }

    @Test func `at the first song back means its start`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        #expect(!player.previous())
        player.play(PlayerWorld.url(0))
        try await world.play(3)
        #expect(player.previous())
        await world.until { player.state == .playing && player.position < 1 }
    }

    @Test func `the beginning of the next song can be brought into the cache`() async throws {
        var configuration = CachingPlayer.Configuration()
        configuration.prefetchBytes = 600_000
        let world = try PlayerWorld(songs: 2, seconds: 8, configuration)
        let player = world.player
        player.play(PlayerWorld.songs(2))
        try await world.play(1)
        let resource = try world.media.cache.resource(for: PlayerWorld.url(1))
        await world.until { (resource.snapshot()?.stored.run(from: 0) ?? 0) >= 600_000 }
    }
}
