import AVFoundation
import Foundation
import Testing

/// What a player does with one item, under a clock that a test moves.
@Suite("The simulated player")
struct PlayerTests {
    @Test func `an item is not loaded before it is in a player, and then made ready and played to its end`()
        async throws
    {
        let stage = PlayerStage(length: 1_280_000)
        #expect(stage.record.requests.isEmpty)
        let log = Log(of: stage.item)
        stage.player.automaticallyWaitsToMinimizeStalling = false
        stage.player.replaceCurrentItem(with: stage.item)
        try await stage.item.simulationReached { $0.status == .readyToPlay }
        #expect(stage.player.status == .readyToPlay)
        #expect(stage.item.duration.seconds == 10)
        stage.player.play()
        #expect(stage.player.timeControlStatus == .playing)
        try await stage.player.simulatePlaying(seconds: 4)
        #expect(stage.player.currentTime().seconds == 4)
        try await stage.player.simulatePlaying(seconds: 60)
        #expect(stage.player.timeControlStatus == .paused)
        #expect(stage.player.rate == 0)
        #expect(stage.player.currentTime() == stage.item.duration)
        await stage.clock.settle()
        #expect(log.notifications == ["AVPlayerItemDidPlayToEndTimeNotification"])
        #expect(stage.record.requests.map(\.offset) == [0, 0])
        #expect(stage.record.requests.map(\.isToEnd) == [false, true])
        #expect(stage.record.retainedBytes <= 65536)
    }
}
