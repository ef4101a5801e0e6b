import AVFoundation
import Foundation
import Testing

/// What a player asks its loader for.
@Suite("The simulated player: loading")
struct PlayerLoadingTests {
    private static let film: Int64 = 61_574_237

    private static func behaviour(_ change: (inout SimulatedBehaviour) -> Void) -> SimulatedBehaviour {
        var behaviour = SimulatedBehaviour()
        behaviour.bytesAhead = 1 << 20
        change(&behaviour)
        return behaviour
    }

    @Test func `reading ahead ends with a cancel, and goes on at the same byte when half of it is played, R2`()
        async throws
    {
        let stage = PlayerStage(length: Self.film, behaviour: Self.behaviour { _ in })
        try await stage.ready()
        try await stage.untilRequests(2, ended: true)
        let first = stage.record.requests[1]
        #expect(first.outcome == .cancelled)
        #expect(first.currentOffset >= 1 << 20)
        #expect(stage.item.isPlaybackBufferFull)
        stage.player.play()
        try await stage.player.simulatePlaying(seconds: 5)
        try await stage.untilRequests(3, ended: true)
        let second = stage.record.requests[2]
        #expect(second.isToEnd)
        #expect(second.offset == first.currentOffset)
        // What is kept is what is ahead, and no more than a block behind.
        try await stage.player.simulatePlaying(seconds: 30)
        #expect(stage.record.retainedBytes <= (1 << 20) + 4 * 65536)
    }

    @Test func `the buffer can be made shorter than the window`() async throws {
        let stage = PlayerStage(length: Self.film, behaviour: Self.behaviour { $0.bytesAhead = 32 << 20 })
        stage.item.preferredForwardBufferDuration = 4
        try await stage.ready()
        try await stage.untilRequests(2, ended: true)
        #expect(stage.record.requests[1].currentOffset < 1 << 20)
    }

    @Test(arguments: [true, false])
    func `a seek cancels and asks at the block of its time, in either order`(cancelsFirst: Bool) async throws {
        let behaviour = Self.behaviour {
            $0.cancelsBeforeNewRequest = cancelsFirst
            $0.bytesAhead = 8 << 20
        }
        let stage = PlayerStage(length: Self.film, behaviour: behaviour)
        stage.origin.hold(at: 200_000)
        try await stage.ready()
        try await stage.item.simulationReached(bytes: 200_000)
        let log = Log(of: stage.item)
        async let isThere = stage.player.seek(to: CMTime(value: 100, timescale: 1))
        try await stage.untilRequests(3)
        stage.origin.release()
        #expect(await isThere)
        #expect(stage.player.currentTime().seconds == 100)
        let requests = stage.record.requests
        #expect(requests[2].offset == 12_800_000 / 65536 * 65536)
        #expect(requests[2].isToEnd)
        #expect(requests[1].outcome == .cancelled)
        #expect(stage.origin.events[2..<4] == (cancelsFirst ? ["cancel", "ask"] : ["ask", "cancel"]))
        #expect(stage.item.loadedTimeRanges.first?.timeRangeValue.containsTime(stage.player.currentTime()) == true)
        await stage.clock.settle()
        #expect(log.notifications == ["AVPlayerItemTimeJumpedNotification"])
    }

    @Test func `a seek inside what has come asks for nothing, and a newer seek ends an older one`() async throws {
        let stage = PlayerStage(length: 1_280_000)
        try await stage.ready()
        try await stage.item.simulationReached(bytes: .max)
        #expect(await stage.item.seek(to: CMTime(value: 7, timescale: 1)))
        #expect(stage.record.requests.count == 2)
        // It is never shown that the first of two answers true: its bytes do not come.
        let other = PlayerStage(length: Self.film)
        other.origin.hold(at: 200_000)
        try await other.ready()
        async let first = other.player.seek(to: CMTime(value: 300, timescale: 1))
        try await other.untilRequests(3)
        async let second = other.player.seek(to: CMTime(value: 1, timescale: 1))
        #expect(await first == false)
        #expect(await second)
        other.item.seek(to: .invalid, completionHandler: nil)
        #expect(other.item.simulationTraps.count == 1)
    }

    @Test func `a seek to the end asks for nothing, and playing from there ends at once`() async throws {
        let stage = PlayerStage(length: Self.film)
        try await stage.ready()
        let log = Log(of: stage.item)
        #expect(await stage.item.seek(to: .positiveInfinity))
        stage.player.play()
        stage.clock.advance(seconds: 0.1)
        await stage.clock.settle()
        #expect(log.notifications.last == "AVPlayerItemDidPlayToEndTimeNotification")
        #expect(stage.player.rate == 0)
        #expect(stage.record.requests.count == 2)
    }

    @Test func `with the index behind the media the player jumps there and back before it is ready, R5, R6`()
        async throws
    {
        let behaviour = Self.behaviour {
            $0.layout = .moovLast
            $0.indexOffset = 937 * 65536
        }
        let stage = PlayerStage(length: Self.film, behaviour: behaviour)
        try await stage.ready()
        let requests = stage.record.requests
        #expect(requests.map(\.offset) == [0, 0, 937 * 65536, 0])
        #expect(requests.map(\.isToEnd) == [false, true, true, true])
        #expect(requests[1].outcome == .cancelled)
        #expect(requests[2].outcome == .finished)
    }

    @Test func `a seek while the index is read begins at its own place`() async throws {
        let stage = PlayerStage(length: Self.film, behaviour: Self.behaviour { $0.layout = .moovLast })
        stage.origin.hold(at: 8192)
        stage.player.replaceCurrentItem(with: stage.item)
        try await stage.untilRequests(3)
        async let isThere = stage.player.seek(to: CMTime(value: 10, timescale: 1))
        while stage.player.currentTime().seconds != 10 { await Task.yield() }
        stage.origin.release()
        #expect(await isThere)
        #expect(stage.record.requests.map(\.offset).last == 1_245_184)
    }

    @Test
    func `a film of 256 MB, played with seeks, is asked for once and kept for a moment only`() async throws {
        let stage = PlayerStage(length: 256 << 20, behaviour: Self.behaviour { $0.bytesPerSecond = 1_000_000 })
        try await stage.ready()
        stage.player.play()
        var random = SystemRandomNumberGenerator(), most: Int64 = 0
        for place in 0..<20 {
            try await stage.player.simulatePlaying(seconds: Double.random(in: 1..<10, using: &random))
            most = max(most, stage.record.retainedBytes)
            await stage.player.seek(to: CMTime(value: Int64(place * 13), timescale: 1))
        }
        try await stage.player.simulatePlaying(seconds: 300)
        #expect(stage.player.currentTime() == stage.item.duration)
        #expect(most <= 2 << 20)
        // What has all its bytes is finished by its loader, which nobody waits for.
        while !stage.record.open.isEmpty { await Task.yield() }
        #expect(stage.record.retainedBytes == 0)
        #expect(stage.record.requests.allSatisfy { $0.excess == 0 && $0.finishes <= 1 && !$0.isAbandoned })
    }

    @Test func `older systems read small blocks before they ask to the end, R3`() async throws {
        let stage = PlayerStage(length: Self.film, behaviour: .iOS(12))
        try await stage.ready()
        try await stage.untilRequests(5)
        let requests = stage.record.requests.prefix(5)
        #expect(requests.map(\.offset) == [0, 0, 65536, 131_072, 196_608])
        #expect(requests.map(\.length).prefix(4) == [2, 65536, 65536, 65536])
        #expect(requests.map(\.isToEnd) == [false, false, false, false, true])
    }

    @Test func `fragments are ranges of their own`() async throws {
        let stage = PlayerStage(length: 3_000_000, behaviour: Self.behaviour { $0.layout = .fragmented })
        try await stage.ready()
        stage.player.play()
        try await stage.player.simulatePlaying(seconds: 60)
        #expect(stage.record.requests.map(\.offset) == [0, 0, 1 << 20, 2 << 20])
        #expect(stage.record.requests.allSatisfy { $0.outcome == .finished })
    }

    @Test func `interleaved media keeps several requests open, R4`() async throws {
        let stage = PlayerStage(length: Self.film, behaviour: Self.behaviour { $0.requestsInParallel = 3 })
        try await stage.ready()
        try await stage.untilRequests(4)
        let requests = stage.record.requests
        #expect(requests.map(\.offset).prefix(4) == [0, 0, 1 << 20, 2 << 20])
        #expect(requests.map(\.length).dropFirst(2).prefix(2) == [131_072, 131_072])
    }

    @Test func `what is at hand is read in small pieces and little is kept, R15`() async throws {
        let stage = PlayerStage(length: 6_400_000, isOnDemand: true)
        try await stage.ready()
        stage.player.play()
        try await stage.player.simulatePlaying(seconds: 20)
        let media = stage.record.requests.dropFirst()
        #expect(media.count > 8)
        #expect(media.allSatisfy { $0.length <= 4 * 65536 })
        #expect(stage.record.retainedBytes <= 9 * 65536)
    }

    @Test func `a file is played without a delegate`() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mp4")
        try Data(count: 256_000).write(to: url)
        let clock = SimulatedClock()
        let player = SimulatedClock.$shared.withValue(clock) { AVPlayer(url: url) }
        let item = try #require(player.currentItem)
        try await item.simulationReached { $0.status == .readyToPlay }
        player.play()
        clock.advance(seconds: 3)
        #expect(player.currentTime().seconds == 2)
        try FileManager.default.removeItem(at: url)
    }
}
