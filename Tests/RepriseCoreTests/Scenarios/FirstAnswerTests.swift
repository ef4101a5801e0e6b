import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

/// Answers that come while no byte of a version is held: nothing but the bytes that come first can show which they are of.
@Suite struct FirstAnswerTests {
    private func plain(_ rate: Int64, _ delay: Int64 = 100 * millisecond) -> (inout OriginBehaviour) -> Void {
        { behaviour in
            behaviour.dropValidators()
            behaviour.firstByteDelay = delay
            behaviour.bytesPerSecond = rate
        }
    }

    /// Two readers, asked for before either is answered; the object is replaced between the two requests.
    private func readTwoVersions(_ world: World, _ change: @escaping (inout OriginBehaviour) -> Void) throws -> [Player]
    {
        let (slow, fast) = (plain(50_000), plain(100_000))
        world.put("/a", length: 1_000_000) {
            slow(&$0)
            change(&$0)
        }
        let first = world.player("/a")
        first.play(to: 1, patience: millisecond)
        world.put("/a", length: 1_000_000, generation: 2) {
            fast(&$0)
            change(&$0)
        }
        let second = world.player("/a", ByteRange(270_000, 1_000_000))
        second.play(to: 270_001, patience: millisecond)
        try #require(world.origin.requestCount == 2)
        world.origin.change("/a") { $0.behaviour.bytesPerSecond = 0 }
        world.drive([first, second], for: 300 * TransferTuning.second)
        return [first, second]
    }

    @Test(arguments: [false, true])
    func `two first answers that nothing shows to be of one version are not joined, inv01`(isSequential: Bool) throws {
        let world = try World(pieceSize: 64)
        world.put("/a", length: 1_000_000) {
            plain(64)(&$0)
            if isSequential { $0.ranges = .ignored }
        }
        let first = world.player("/a")
        first.play(to: 64, patience: millisecond)
        world.put("/a", length: 1_000_000, generation: 2, plain(64))
        let second = world.player("/a", ByteRange(600_000, 1_000_000))
        second.play(to: 600_064, patience: millisecond)
        #expect(world.origin.requestCount == 2, "both were asked for before either had answered")
        world.origin.change("/a") { $0.behaviour.bytesPerSecond = 0 }
        second.play(to: 700_000)
        first.finish()
        #expect(first.violation == nil)
        second.finish()
        #expect(second.violation == nil)
        let last = world.play("/a")
        #expect(last.violation == nil && last.isAtEnd)
    }

    @Test func `bytes before the joint of a wider answer prove nothing, inv01`() throws {
        let world = try World(pieceSize: 1000)
        let players = try readTwoVersions(world) { $0.widensRanges = 10_000 }
        #expect(players.allSatisfy { $0.violation == nil })
        #expect(world.play("/a").violation == nil)
    }

    @Test func `a weak tag that two versions share proves nothing, inv01`() throws {
        let world = try World(pieceSize: 1000)
        let players = try readTwoVersions(world) { $0.extraFields["ETag"] = "W/\"same\"" }
        #expect(players.allSatisfy { $0.violation == nil })
        #expect(world.play("/a").violation == nil)
    }

    @Test func `the answer that shows a change has to prove itself like any other, inv01`() throws {
        let world = try World(pieceSize: 1000)
        world.put("/a", length: 1_000_000, plain(50_000))
        world.play("/a", ByteRange(0, 40_000)).expectWhole(40_000)
        world.queues.advance(2 * second)
        world.put("/a", length: 1_100_000, generation: 2, plain(2000))
        let first = world.player("/a", ByteRange(600_000, 610_000))
        world.drive([first], for: 150 * millisecond)
        world.put("/a", length: 1_100_000, generation: 3, plain(0, 0))
        let second = world.player("/a", ByteRange(900_000, 910_000))
        world.drive([first, second], for: 60 * TransferTuning.second)
        world.origin.setDown(true)
        let last = world.player("/a", ByteRange(600_000, 1_100_000))
        last.play(to: 601_000)
        last.seek(to: 900_000)
        last.play(to: 901_000)
        #expect(first.violation == nil && second.violation == nil && last.violation == nil)
    }

    @Test func `what a confirmation brings instead has to prove itself like any other, inv01`() throws {
        let world = try World(pieceSize: 1000) { $0.freshness = .http }
        func put(_ generation: Int, _ rate: Int64, _ delay: Int64) {
            world.put("/a", length: 1_000_000, generation: generation) {
                plain(rate, delay)(&$0)
                $0.extraFields["Cache-Control"] = "max-age=5"
            }
        }
        put(1, 0, 0)
        world.play("/a").expectWhole(1_000_000)
        world.queues.advance(10 * second)
        put(2, 2000, 100 * millisecond)
        let first = world.player("/a")
        world.drive([first], for: 150 * millisecond)
        put(3, 0, 0)
        let second = world.player("/a", ByteRange(900_000, 910_000))
        world.drive([first, second], for: TransferTuning.second)
        first.seek(to: 900_000)
        world.drive([first], for: TransferTuning.second)
        #expect(first.violation == nil && second.violation == nil)
    }

    @Test func `a length that another version's answer tells is not believed, inv28`() throws {
        let world = try World(pieceSize: 1000)
        world.put("/a", length: 1_000_000) {
            plain(50_000)(&$0)
            $0.ranges = .ignored
            $0.framing = .chunked
        }
        let first = world.player("/a")
        first.play(to: 1, patience: millisecond)
        world.put("/a", length: 400_000, generation: 2, plain(1000))
        let second = world.player("/a", ByteRange(300_000, 400_000))
        second.play(to: 300_001, patience: millisecond)
        try #require(world.origin.requestCount == 2)
        world.drive([first, second], for: 105 * millisecond)
        second.leave()
        world.drive([first], for: 300 * TransferTuning.second)
        first.expectWhole(1_000_000)
    }

    @Test func `who leaves before it is answered takes no version from those who read it, inv15`() throws {
        let world = try World(pieceSize: 1000) { $0.sameness = SamenessRules(.strict) }
        world.put("/a", length: 1_000_000, plain(50_000))
        let first = world.player("/a")
        first.play(to: 1, patience: millisecond)
        world.origin.change("/a") { $0.behaviour.firstByteDelay = 300 * millisecond }
        let second = world.player("/a", ByteRange(270_000, 1_000_000))
        second.play(to: 270_001, patience: millisecond)
        world.drive([first, second], for: 150 * millisecond)
        second.leave()
        world.drive([first], for: 300 * TransferTuning.second)
        first.expectWhole(1_000_000)
    }

    @Test(arguments: [false, true])
    func `bytes that come after an answer without any do not go by its tag, inv01`(isSequential: Bool) throws {
        let world = try World(pieceSize: 1000)
        func put(_ generation: Int, _ change: (inout OriginBehaviour) -> Void) {
            world.put("/a", length: 1_000_000, generation: generation) {
                if isSequential { $0.ranges = .ignored }
                change(&$0)
            }
        }
        put(1) { $0.body = .stall(at: 0) }
        let first = world.player("/a")
        world.drive([first], for: TransferTuning.second)
        put(2) {
            plain(100_000, 0)(&$0)
            $0.body = .reset(at: 300_000)
        }
        while first.position == 0, world.queues.runOne(until: 100 * TransferTuning.second) {
            if first.wasWoken { first.take() }
        }
        #expect(first.position > 0)
        put(1) { _ in }
        world.drive([first], for: 300 * TransferTuning.second)
        #expect(first.violation == nil)
        let last = world.play("/a")
        #expect(last.violation == nil && last.isAtEnd)
    }

    @Test(arguments: [false, true])
    func `bytes that come after an answer without any do not end where that said, inv28`(isSequential: Bool) throws {
        let world = try World(pieceSize: 1000)
        world.put("/a", length: 400_000) {
            plain(0, 0)(&$0)
            $0.body = .stall(at: 0)
        }
        let first = world.player("/a")
        world.drive([first], for: TransferTuning.second)
        world.put("/a", length: 1_000_000, generation: 2) {
            plain(0, 0)(&$0)
            $0.contentRange = .unknownTotal
            if isSequential { ($0.ranges, $0.framing) = (.ignored, .chunked) }
        }
        world.drive([first], for: 300 * TransferTuning.second)
        first.expectWhole(1_000_000)
        world.play("/a").expectWhole(1_000_000)
    }

    @Test func `where nothing is held any more, who was compared before is compared again, inv01`() throws {
        let world = try World(pieceSize: 1000)
        func put(_ generation: Int, _ delay: Int64) {
            world.put("/a", length: 12_000_000, generation: generation, plain(0, delay))
        }
        put(1, 0)
        world.play("/a", ByteRange(0, 131_072)).expectWhole(131_072)
        world.queues.advance(2 * second)
        put(1, 500 * millisecond)
        let first = world.player("/a", ByteRange(10_000_000, 12_000_000))
        world.drive([first], for: 700 * millisecond)
        #expect(world.cache.openEntries.first?.trim(200_000) ?? 0 > 0)
        put(2, 0)
        let second = world.player("/a", ByteRange(6_000_000, 12_000_000))
        world.drive([second, first], for: 20 * TransferTuning.second)
        second.seek(to: 10_000_000)
        second.play(to: 10_060_000)
        #expect(first.violation == nil && second.violation == nil)
        first.leave()
        second.leave()
        let last = world.play("/a", ByteRange(6_000_000, 12_000_000))
        #expect(last.violation == nil)
    }

    @Test(arguments: [false, true], [false, true])
    func `an end that a refused range tells is not believed of another version, inv28`(
        hasTag: Bool, isTold: Bool
    ) throws {
        let world = try World(pieceSize: 1000)
        func put(_ length: Int64, _ generation: Int, _ rate: Int64) {
            world.put("/a", length: length, generation: generation) {
                plain(rate, 0)(&$0)
                if hasTag { ($0.tag, $0.heedsIfRange) = (.strong, false) }
                $0.contentRange = .unknownTotal
                $0.tellsTotalInRefusals = isTold
            }
        }
        put(1_000_000, 1, 50_000)
        let first = world.player("/a")
        first.play(to: 350_000)
        put(400_000, 2, 0)
        let second = world.player("/a", ByteRange(900_000, 910_000))
        world.drive([second, first], for: 60 * TransferTuning.second)
        #expect(second.isAtEnd || second.failure != nil)
        #expect(first.violation == nil && (first.failure != nil || first.received == 1_000_000))
        world.origin.setDown(true)
        let last = world.play("/a")
        #expect(!(last.isAtEnd && last.received == 400_000 && last.generation == 1))
    }

    @Test func `a host whose tags are not trusted may say the same tag again, inv15`() throws {
        let world = try World(pieceSize: 1000)
        world.cache.environment.hosts.distrustEntityTags(of: "http://origin.test", now: world.queues.wallClock())
        world.put("/a", length: 1_000_000) {
            $0.hasLastModified = false
            ($0.body, $0.faultyRequests) = (.stall(at: 0), 1)
        }
        let player = world.player("/a")
        _ = player.handle.info {}
        world.drive([player], for: TransferTuning.second)
        _ = player.handle.info {}
        world.drive([player], for: 100 * TransferTuning.second)
        player.expectWhole(1_000_000)
    }
}
