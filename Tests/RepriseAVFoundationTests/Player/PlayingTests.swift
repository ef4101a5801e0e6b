import AVFoundation
import Foundation
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// One item: start, pause, seek, rate, end and failure.
@MainActor
@Suite struct PlayingTests {
    @Test func `a song plays to its end, and the second time without the origin`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        #expect(player.state == .idle)
        player.play(PlayerWorld.url(0))
        #expect(player.state == .loading || player.state == .playing)
        #expect(!player.player.automaticallyWaitsToMinimizeStalling)
        try await world.play(4)
        await world.until { player.position == 4 && player.duration == 10 }
        try await world.play(60)
        await world.until { player.state == .ended && world.ends == [.finished] }
        #expect(player.position == 10)
        #expect(await world.media.settle())
        let bytes = world.media.origin.bodyBytes
        #expect(bytes == 10 * PlayerWorld.second)
        player.resume()
        try await world.play(60)
        await world.until { player.state == .ended && world.ends == [.finished, .finished] }
        #expect(world.media.origin.bodyBytes == bytes)
        #expect(world.traps.isEmpty)
    }

    @Test func `pausing pauses, and resuming goes on from there`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        player.play(PlayerWorld.url(0))
        try await world.play(2)
        player.pause()
        #expect(player.state == .paused)
        world.clock.advance(seconds: 3)
        #expect(player.player.currentTime().seconds == 2)
        player.resume()
        try await world.play(1)
        await world.until { player.position == 3 }
    }

    @Test func `rate, volume and silence reach the player`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        (player.rate, player.volume, player.isMuted) = (2, 0.25, true)
        player.play(PlayerWorld.url(0))
        try await world.play(2)
        await world.until { player.position == 4 }
        #expect(player.player.volume == 0.25)
        #expect(player.player.isMuted)
        player.rate = 1
        try await world.play(2)
        await world.until { player.position == 6 }
        (player.rate, player.volume) = (0, 7)
        #expect(player.rate == 1)
        #expect(player.volume == 1)
    }

    @Test func `a seek arrives, also one that comes before the item can be sought in`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        #expect(await player.seek(to: 3) == false)
        player.play(PlayerWorld.url(0))
        #expect(await player.seek(to: 6))
        await world.until { player.state == .playing && player.position == 6 }
        #expect(await player.seek(to: 2, tolerance: 0.5))
        try await world.play(1)
        await world.until { player.position == 3 }
        #expect(await player.seek(to: 99))
        await world.until { player.position == 10 }
    }

    @Test func `of two seeks that wait the later one counts, and one that will not be carried out says so`()
        async throws
    {
        let world = try PlayerWorld(songs: 2)
        let player = world.player
        world.hold(at: 0)
        player.play(PlayerWorld.url(0))
        async let first = player.seek(to: 2)
        await world.until { player.pendingSeek?.continuation != nil }
        async let second = player.seek(to: 5)
        await world.until { player.position == 5 }
        #expect(await first == false)
        player.play(PlayerWorld.url(1))
        #expect(await second == false)
        await world.until { player.state == .playing }
    }

    @Test func `a failing item says why, and can be tried again`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        world.media.origin.change("/0.mp4") { $0.behaviour.status = 404 }
        player.play(PlayerWorld.url(0))
        await world.until { if case .failed = player.state { !world.ends.isEmpty } else { false } }
        guard case .failed(let error) = player.state else { return }
        #expect(error.code == .media)
        #expect(error.cause?.domain == NSURLErrorDomain)
        #expect(error.cause?.code == -1100)
        await world.until { world.ends == [.failed(error)] }
        world.media.origin.change("/0.mp4") { $0.behaviour.status = nil }
        player.resume()
        try await world.play(60)
        await world.until { world.ends.last == .finished }
    }

    @Test func `an item that has failed is not sought in, and resumes where it was to go`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        world.media.origin.change("/0.mp4") { $0.behaviour.status = 404 }
        player.play(PlayerWorld.url(0))
        await world.until { if case .failed = player.state { !world.ends.isEmpty } else { false } }
        #expect(await player.seek(to: 3) == false)
        #expect(player.position == 3)
        world.media.origin.change("/0.mp4") { $0.behaviour.status = nil }
        player.resume()
        await world.until { player.state == .playing && player.position >= 3 }
        #expect(world.ends.count == 1)
    }

    @Test func `a seek that waits for its item ends with its task, and holds no player`() async throws {
        let world = try PlayerWorld()
        world.media.origin.change("/0.mp4") { $0.behaviour.firstByteDelay = 3_600_000_000_000 }
        let player = world.player
        player.play(PlayerWorld.url(0))
        let seeking = Task { await player.seek(to: 3) }
        await world.until { player.pendingSeek?.continuation != nil }
        seeking.cancel()
        #expect(await seeking.value == false)
        #expect(player.pendingSeek == nil)
    }

    @Test func `an item that fails midway resumes from where it was`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        world.hold(at: 4 * PlayerWorld.second)
        player.play(PlayerWorld.url(0))
        try await world.play(3)
        world.media.origin.change("/0.mp4") { $0.behaviour.status = 403 }
        await world.until { [clock = world.clock] in
            clock.advance(seconds: 0.5)
            if case .failed = player.state { return true } else { return false }
        }
        let place = player.position
        #expect(place >= 3 && place <= 4)
        world.media.origin.change("/0.mp4") { $0.behaviour = OriginBehaviour() }
        player.resume()
        await world.until { player.state == .playing && player.position >= place }
        try await world.play(60)
        await world.until { world.ends.last == .finished }
    }

    @Test func `a bundle without the resource is a failure that names it, and the next item plays`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        player.play([.resource("nowhere", withExtension: "mp3"), .url(PlayerWorld.url(0))])
        guard case .failed(let error) = player.state else { return #expect(Bool(false), "\(player.state)") }
        #expect(error.code == .missingResource)
        #expect(error.message.contains("nowhere.mp3"))
        #expect(player.next())
        try await world.play(60)
        await world.until { world.ends == [.failed(error), .finished] }
    }

    @Test func `a file of the sandbox plays as it is`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        let file = URL(fileURLWithPath: world.media.directory.path + "/song.mp3")
        try Data(count: 256_000).write(to: file)
        player.play(file)
        try await world.play(60)
        await world.until { world.ends == [.finished] }
        #expect(player.duration == 2)
        #expect(player.storedRanges.isEmpty)
        #expect(world.media.origin.requestCount == 0)
    }

    @Test func `what others do to the player is taken over`() async throws {
        let world = try PlayerWorld()
        let player = world.player
        player.play(PlayerWorld.url(0))
        try await world.play(1)
        await world.until { player.loadedRanges.last.map { $0.upperBound > 3 } ?? false }
        player.player.pause()
        await world.until { player.state == .paused }
        world.clock.advance(seconds: 1)
        #expect(player.player.rate == 0)
        player.player.rate = 1.5
        await world.until { player.state == .playing && player.rate == 1.5 }
    }

    @Test func `stopping forgets everything but what is stored`() async throws {
        let world = try PlayerWorld(songs: 2)
        let player = world.player
        player.play(PlayerWorld.songs(2))
        try await world.play(1)
        player.stop()
        #expect(player.state == .idle)
        #expect(player.queue.isEmpty)
        #expect(player.currentIndex == nil)
        #expect(player.player.items().isEmpty)
        #expect(player.position == 0)
        await world.until { world.ends == [.left] }
        player.resume()
        #expect(player.state == .idle)
        #expect(await world.media.settle())
    }

    @Test func `a player that is let go ends, and with it the sequences of its ends`() async throws {
        let world = try PlayerWorld()
        var player: CachingPlayer? = SimulatedClock.$shared.withValue(world.clock) {
            CachingPlayer(cache: world.media.cache)
        }
        weak let held = player
        weak let system = player?.player
        let ends = try #require(player?.ends())
        player?.play(PlayerWorld.url(0))
        await world.until { held?.state == .playing }
        player = nil
        await world.until { held == nil && system == nil }
        for await _ in ends {}
        #expect(await world.media.settle())
    }
}
