import AVFoundation
import Dispatch
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
        try await stage.ready()
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
        #expect(stage.record.retainedBytes == 0)
    }

    @Test func `what failed to load fails the item, without another attempt`() async throws {
        let stage = PlayerStage(length: 1000)
        let dead = AVURLAsset(url: URL(string: "own://host/film.mp4")!)
        let item = AVPlayerItem(asset: dead)
        stage.player.replaceCurrentItem(with: item)
        stage.player.play()
        try await item.simulationReached { $0.status == .failed }
        #expect((item.error as NSError?)?.code == NSURLErrorUnsupportedURL)
        #expect(stage.player.rate == 0)
        #expect(await item.seek(to: .zero) == false)
    }

    @Test func `without waiting a stall is the end of playing until the app plays again`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        let log = Log(of: stage.item)
        stage.origin.hold(at: 128_000)
        try await stage.ready()
        stage.player.play()
        try await stage.item.simulationReached(bytes: 128_000)
        stage.clock.advance(seconds: 3)
        #expect(stage.player.currentTime().seconds == 1)
        #expect(stage.player.rate == 0)
        #expect(stage.player.timeControlStatus == .paused)
        #expect(stage.item.isPlaybackBufferEmpty)
        await stage.clock.settle()
        #expect(log.notifications == ["AVPlayerItemPlaybackStalledNotification"])
        #expect(log.mainThreadPosts == 0)
        stage.origin.release()
        try await stage.item.simulationReached(bytes: .max)
        stage.clock.advance(seconds: 3)
        #expect(stage.player.currentTime().seconds == 1)
        stage.player.play()
        stage.clock.advance(seconds: 3)
        #expect(stage.player.currentTime().seconds == 4)
    }

    @Test func `with waiting playing begins, and goes on after a stall, only with a large share of the file`()
        async throws
    {
        let stage = PlayerStage(length: 1_280_000)
        stage.player.automaticallyWaitsToMinimizeStalling = true
        stage.origin.hold(at: 0)
        stage.player.replaceCurrentItem(with: stage.item)
        stage.player.play()
        #expect(stage.player.timeControlStatus == .waitingToPlayAtSpecifiedRate)
        #expect(stage.player.reasonForWaitingToPlay == .evaluatingBufferingRate)
        stage.origin.release(to: 640_000)
        try await stage.item.simulationReached(bytes: 640_000)
        #expect(stage.player.reasonForWaitingToPlay == .toMinimizeStalls)
        stage.origin.release(to: 1_000_000)
        try await stage.item.simulationReached(bytes: 1_000_000)
        #expect(stage.player.timeControlStatus == .playing)
        stage.clock.advance(seconds: 9)
        #expect(stage.player.rate == 1)
        #expect(stage.player.timeControlStatus == .waitingToPlayAtSpecifiedRate)
        stage.origin.release()
        try await stage.item.simulationReached(bytes: .max)
        #expect(stage.player.timeControlStatus == .playing)
    }

    @Test func `playing immediately needs no share, and pausing keeps the place`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        stage.player.automaticallyWaitsToMinimizeStalling = true
        stage.origin.hold(at: 256_000)
        stage.player.replaceCurrentItem(with: stage.item)
        try await stage.item.simulationReached(bytes: 256_000)
        stage.player.playImmediately(atRate: 2)
        stage.clock.advance(seconds: 0.5)
        stage.player.pause()
        stage.clock.advance(seconds: 5)
        #expect(stage.player.currentTime().seconds == 1)
        stage.player.defaultRate = 0.5
        stage.player.play()
        #expect(stage.player.rate == 0.5)
    }

    @Test
    func `a media request that fails is tried once more at the same place, R17, before the item fails to play on`()
        async throws
    {
        let stage = PlayerStage(length: 1_280_000)
        let log = Log(of: stage.item)
        stage.origin.hold(at: 128_000)
        try await stage.ready()
        stage.player.play()
        try await stage.item.simulationReached(bytes: 128_000)
        stage.origin.fail(with: [URLError(.timedOut)])
        stage.clock.advance(seconds: 0.5)
        stage.origin.release()
        try await stage.item.simulationReached(bytes: .max)
        #expect(stage.record.requests.map(\.offset) == [0, 0, 128_000])
        await stage.clock.settle()
        #expect(log.notifications.isEmpty)

        stage.player.pause()
        let other = PlayerStage(length: 1_280_000)
        let otherLog = Log(of: other.item)
        other.origin.hold(at: 128_000)
        try await other.ready()
        other.player.play()
        try await other.item.simulationReached(bytes: 128_000)
        other.origin.fail(with: [URLError(.timedOut), URLError(.notConnectedToInternet)])
        try await other.untilRequests(3, ended: true)
        #expect(other.player.rate == 1)
        other.clock.advance(seconds: 3)
        #expect(other.player.rate == 0)
        await other.clock.settle()
        #expect(otherLog.notifications == ["AVPlayerItemFailedToPlayToEndTimeNotification"])
        #expect(otherLog.errorCodes == [NSURLErrorNotConnectedToInternet])
        #expect(other.item.status == .readyToPlay)
        other.origin.release()
        other.player.play()
        try await other.item.simulationReached(bytes: .max)
    }

    @Test func `a to-end request finished early ends the resource there`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        stage.origin.hold(at: 128_000)
        try await stage.ready()
        stage.player.play()
        try await stage.item.simulationReached(bytes: 128_000)
        stage.origin.finishEarly()
        try await stage.item.simulationReached { $0.duration.seconds == 1 }
        try await stage.player.simulatePlaying(seconds: 5)
        #expect(stage.player.currentTime().seconds == 1)
    }

    @Test func `the time is told at each interval, and where playing begins, stops or jumps`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        try await stage.ready()
        try await stage.item.simulationReached(bytes: .max)
        let queue = DispatchQueue(label: "times")
        let times = Times()
        let interval = CMTime(value: 1, timescale: 1)
        let token = stage.player.addPeriodicTimeObserver(forInterval: interval, queue: queue) { times.add($0) }
        stage.player.play()
        stage.clock.advance(seconds: 2.5)
        stage.player.pause()
        await stage.player.seek(to: CMTime(value: 5, timescale: 1))
        queue.sync {}
        #expect(times.all == [0, 1, 2, 2.5, 5])
        stage.player.removeTimeObserver(token)
        stage.player.play()
        stage.clock.advance(seconds: 2)
        queue.sync {}
        #expect(times.all.count == 5)
        stage.player.removeTimeObserver(token)
        #expect(stage.player.simulationTraps.count == 1)
    }

    @Test func `changes are told under the names of their key paths, until the token is let go`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        let (player, item) = (Names(), Names())
        var tokens = [
            stage.player.simulatedObservation { player.add($0) }, stage.item.simulatedObservation { item.add($0) },
        ]
        try await stage.ready()
        try await stage.item.simulationReached(bytes: .max)
        stage.player.play()
        stage.clock.advance(seconds: 20)
        #expect(player.all.isSuperset(of: ["status", "currentItem", "rate", "timeControlStatus"]))
        #expect(item.all.isSuperset(of: ["status", "loadedTimeRanges", "isPlaybackLikelyToKeepUp", "duration"]))
        tokens.removeAll()
        let count = player.count
        stage.player.replaceCurrentItem(with: nil)
        #expect(player.count == count)
    }

    @Test func `a player without an item waits for one`() {
        let player = AVPlayer()
        player.play()
        #expect(player.timeControlStatus == .waitingToPlayAtSpecifiedRate)
        #expect(player.reasonForWaitingToPlay == .noItemToPlay)
        player.actionAtItemEnd = .advance
        #expect(player.actionAtItemEnd == .pause)
        #expect(player.simulationTraps.count == 1)
        player.simulateExternalPlayback(true)
        #expect(player.isExternalPlaybackActive)
        player.allowsExternalPlayback = false
        #expect(player.simulationTraps.count == 1)
    }

    @Test func `a time range comes out of its box as it went in`() {
        let range = CMTimeRange(
            start: CMTime(value: -7, timescale: 600), duration: CMTime(value: 1 << 40, timescale: 1_000_000_000))
        #expect(NSValue(timeRange: range).timeRangeValue == range)
        #expect(!NSValue(timeRange: .invalid).timeRangeValue.isValid)
    }
}
