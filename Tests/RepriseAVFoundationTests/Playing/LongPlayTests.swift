import AVFoundation
import Foundation
import RepriseCore
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// A song and a film of real size through a player: played, sought, aborted, played again. What that costs the origin,
/// and what it costs in memory.
@Suite(.serialized) struct LongPlayTests {
    /// A player of one item on a clock of its own. Counts the bytes that its loader was given, each once.
    private struct Stage {
        let clock = SimulatedClock()
        let player: AVQueuePlayer
        let asset: AVURLAsset
        let item: AVPlayerItem

        init(_ asset: AVURLAsset) {
            player = SimulatedClock.$shared.withValue(clock) { AVQueuePlayer() }
            player.actionAtItemEnd = .pause
            player.automaticallyWaitsToMinimizeStalling = false
            self.asset = asset
            item = AVPlayerItem(asset: asset)
        }

        func ready() async throws {
            player.replaceCurrentItem(with: item)
            try await item.simulationReached { $0.status != .unknown }
            #expect(item.status == .readyToPlay)
        }

        func play(_ seconds: Double) async throws {
            player.play()
            try await player.simulatePlaying(seconds: seconds)
        }

        func seek(_ seconds: Int64) async { _ = await player.seek(to: CMTime(value: seconds, timescale: 1)) }
    }

    @Test func `a song of ten megabytes is played, aborted, sought and played again: paid for once, inv10 inv13`()
        async throws
    {
        let length: Int64 = 10_240_000
        let world = try LoaderWorld(length: length)
        do {
            let stage = Stage(world.asset())
            try await stage.ready()
            try await stage.play(20)
        }
        #expect(await world.settle())
        let stage = Stage(world.asset())
        try await stage.ready()
        await stage.seek(60)
        try await stage.play(5)
        await stage.seek(0)
        try await stage.play(85)
        #expect(stage.player.currentTime().seconds >= 79.9)
        world.check(stage.asset)
        #expect(await world.settle())
        #expect(world.origin.bodyBytes <= length + length / 20)
        world.origin.resetLog()
        let again = Stage(world.asset())
        try await again.ready()
        try await again.play(85)
        world.check(again.asset)
        #expect(world.origin.requestCount == 0)
    }

    @Test(arguments: [SimulatedBehaviour.Layout.faststart, .moovLast])
    func
        `a film of two gigabytes: seeks, plays and aborts cost what was given, and memory stays flat, inv10 inv13 inv23`(
            layout: SimulatedBehaviour.Layout
        ) async throws
    {
        let world = try LoaderWorld(length: 2_147_483_648 + 4_321)
        var behaviour = SimulatedBehaviour()
        behaviour.layout = layout
        behaviour.bytesPerSecond = 1_000_000
        behaviour.bytesAhead = 4 << 20
        let stage = Stage(world.asset(LoaderWorld.url, behaviour))
        try await stage.ready()
        let before = ProcessUsage.ownMemory
        var most = before ?? 0
        for second: Int64 in [0, 1900, 300, 305, 1200, 0, 2140] {
            await stage.seek(second)
            try await stage.play(6)
            most = max(most, ProcessUsage.ownMemory ?? 0)
        }
        world.check(stage.asset)
        let retained = stage.asset.resourceLoader.simulationRecord.retainedBytes
        #expect(retained <= 16 << 20)
        stage.player.pause()
        #expect(await eventually { world.cache.activity.transfers == 0 })
        // Seven places to begin at: each may ask one window ahead of what the player took.
        let window = 7 * LoaderWorld.aheadOfOnePlace
        let given = world.given(stage.asset)
        #expect(world.origin.bodyBytes <= given + given / 20 + window, "given \(given)")
        let grown = before.map { "\((most - $0) >> 20) MiB" } ?? "not told"
        if let before { #expect(most - before <= 64 << 20, "\(grown)") }
        print("film: \(layout), given \(given), origin \(world.origin.bodyBytes), memory \(grown)")
    }

    @Test func `two players of one song share one transfer, and the one that leaves stops nothing, inv11 bug12`()
        async throws
    {
        let length: Int64 = 6_000_000
        let world = try LoaderWorld(length: length) { $0.bytesPerSecond = 8_000_000 }
        let first = Stage(world.asset())
        let second = Stage(world.asset())
        async let one: Void = first.ready()
        async let two: Void = second.ready()
        _ = try await (one, two)
        async let playing: Void = first.play(50)
        try await second.play(5)
        second.player.removeAllItems()
        try await playing
        #expect(first.player.currentTime().seconds >= 46)
        world.check(first.asset)
        world.check(second.asset)
        #expect(await world.settle())
        #expect(world.origin.bodyBytes <= length + 64 * 1024)
    }

    @MainActor @Test func `a looper's copies share the asset's loader: three rounds cost one`() async throws {
        let length: Int64 = 1_280_000
        let world = try LoaderWorld(length: length)
        let clock = SimulatedClock()
        let player = SimulatedClock.$shared.withValue(clock) { AVQueuePlayer() }
        player.automaticallyWaitsToMinimizeStalling = false
        let asset = world.asset()
        let template = AVPlayerItem(asset: asset)
        _ = try await asset.load(.duration)
        let looper = AVPlayerLooper(player: player, templateItem: template)
        #expect(player.items().count >= 3)
        player.play()
        try await player.simulationReached { $0.currentItem?.status == .readyToPlay }
        try await player.simulatePlaying(seconds: 32)
        world.check(asset)
        player.pause()
        withExtendedLifetime(looper) {}
        #expect(world.origin.bodyBytes <= length + 32 * 1024)
    }
}
