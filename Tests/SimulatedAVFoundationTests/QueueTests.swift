import AVFoundation
import Foundation
import Testing

/// Items one after the other, and over and over.
@Suite("The simulated queue")
struct QueueTests {
    private static let film: Int64 = 61_574_237

    @Test func `an item in the queue is probed and read in short ranges while the first one plays, R10`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        let next = PlayedOrigin(length: Self.film)
        let item = AVPlayerItem(asset: next.asset)
        try await stage.ready()
        stage.player.insert(item, after: nil)
        try await item.simulationReached(bytes: 131_072)
        next.settle()
        #expect(next.record.requests.map(\.offset) == [0, 0, 65536])
        #expect(next.record.requests.map(\.length) == [2, 65536, 65536])
        #expect(item.status == .readyToPlay)
        #expect(stage.player.items() == [stage.item, item])
    }

    @Test func `the queue goes on by itself, without losing time, and pauses behind the last item`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        let second = AVPlayerItem(asset: stage.origin.asset)
        stage.player.actionAtItemEnd = .advance
        try await stage.ready()
        stage.player.insert(second, after: stage.item)
        try await second.simulationReached(bytes: 131_072)
        stage.player.play()
        try await stage.player.simulatePlaying(seconds: 10.5)
        #expect(stage.player.currentItem === second)
        #expect(stage.player.currentTime().seconds == 0.5)
        try await stage.player.simulatePlaying(seconds: 60)
        #expect(stage.player.currentItem == nil)
        #expect(stage.player.rate == 0)
    }

    @Test func `moving on cancels nothing while the item lives, and its end does`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        let other = PlayedOrigin(length: Self.film)
        other.hold(at: 200_000)
        var item: AVPlayerItem? = AVPlayerItem(asset: other.asset)
        stage.player.replaceCurrentItem(with: item)
        try await item?.simulationReached(bytes: 200_000)
        stage.player.insert(stage.item, after: nil)
        stage.player.advanceToNextItem()
        #expect(stage.player.currentItem === stage.item)
        other.settle()
        #expect(other.record.open.count == 1)
        // Skipping back goes on where it was.
        stage.player.replaceCurrentItem(with: item)
        other.release(to: 300_000)
        try await item?.simulationReached(bytes: 300_000)
        #expect(other.record.requests.count == 2)
        stage.player.removeAllItems()
        #expect(other.record.open.count == 1)
        item = nil
        other.settle()
        #expect(other.record.open.isEmpty)
        #expect(other.events.last == "cancel")
    }

    @Test func `an item cannot be in a queue twice, nor in two players`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        try await stage.ready()
        #expect(!stage.player.canInsert(stage.item, after: nil))
        stage.player.insert(stage.item, after: nil)
        #expect(stage.player.items().count == 1)
        #expect(stage.player.simulationTraps.map(\.name) == ["NSInvalidArgumentException"])
        let other = AVPlayer(playerItem: stage.item)
        #expect(other.currentItem == nil)
        #expect(other.simulationTraps.count == 1)
    }

    @Test func `a looper plays three copies of an item in turn, through one loader`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        stage.player.actionAtItemEnd = .advance
        let looper = AVPlayerLooper(player: stage.player, templateItem: stage.item)
        try await stage.player.simulationReached { _ in
            stage.player.items().count == 3 && stage.player.status == .readyToPlay
        }
        #expect(looper.status == .ready)
        #expect(!stage.player.items().contains(stage.item))
        stage.player.play()
        try await stage.player.simulatePlaying(seconds: 45)
        #expect(looper.loopCount == 4)
        #expect(stage.player.items().count == 3)
        #expect(stage.player.currentTime().seconds == 5)
        #expect(stage.record.requests.count { $0.length == 2 } == 1)
        looper.disableLooping()
        try await stage.player.simulatePlaying(seconds: 60)
        #expect(stage.player.items().isEmpty)
    }

    @Test func `an item without a duration cannot be looped`() async throws {
        let behaviour = { () -> SimulatedBehaviour in
            var behaviour = SimulatedBehaviour()
            behaviour.nativeLength = 0
            return behaviour
        }()
        let asset = AVURLAsset(url: URL(string: "https://host/empty.mp4")!)
        asset.resourceLoader.simulationBehaviour = behaviour
        let player = AVQueuePlayer()
        let looper = AVPlayerLooper(player: player, templateItem: AVPlayerItem(asset: asset))
        #expect(looper.status == .failed)
        #expect(player.simulationTraps.count == 1)
    }

    @Test func `players of one clock move together, and what a player holds ends with it`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        weak var player: AVQueuePlayer?
        weak var item: AVPlayerItem?
        do {
            let short = SimulatedClock.$shared.withValue(stage.clock) { AVQueuePlayer() }
            let second = AVPlayerItem(asset: stage.origin.asset)
            short.automaticallyWaitsToMinimizeStalling = false
            short.insert(second, after: nil)
            try await stage.ready()
            try await second.simulationReached(bytes: .max)
            try await stage.item.simulationReached(bytes: .max)
            stage.player.play()
            short.play()
            stage.clock.advance(seconds: 2)
            #expect(short.currentTime().seconds == 2)
            #expect(stage.player.currentTime().seconds == 2)
            (player, item) = (short, second)
        }
        #expect(player == nil)
        #expect(item == nil)
    }
}
