import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// Going on with a representation: every further request is guarded by a validator, by an overlap of bytes, or not sent.
@Suite struct ContinuationTests {
    @Test func `weak tags that differ from node to node are no change, inv16 bug31`() throws {
        let world = try World()
        world.put("/a", length: 3_000_000) {
            $0.tag = .none; $0.extraFields = ["ETag": "W/\"one\""]
        }
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        world.origin.change("/a") { $0.behaviour.extraFields = ["ETag": "W/\"two\""] }
        world.play("/a", ByteRange(2_000_000, 2_100_000)).expectWhole(2_100_000, from: 2_000_000)
    }

    @Test(arguments: [OriginBehaviour.Tag.perRequest], [true, false])
    func `a farm whose nodes have tags of their own for the same bytes plays whole, bug31`(
        tag: OriginBehaviour.Tag, dates: Bool
    ) throws {
        let world = try World()
        world.put("/a", length: 3_000_000) {
            $0.tag = tag; $0.hasLastModified = dates
        }
        let player = world.play("/a")
        player.expectWhole(3_000_000)
        #expect(world.origin.bodyBytes < 3_000_000 + 8 * 4096)
    }

    @Test func `a 200 to a check of stored bytes has an outcome, inv16`() throws {
        let world = try World()
        world.put("/a", length: 3_000_000) {
            $0.tag = .none; $0.hasLastModified = false
        }
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        world.origin.change("/a") { $0.behaviour.ranges = .ignored }
        world.play("/a", ByteRange(2_000_000, 2_100_000)).expectWhole(2_100_000, from: 2_000_000)
    }

    @Test(arguments: [0 as Int64, 500_000])
    func `a 200 of another version to a request for a continuation mixes nothing, inv01 inv16`(stored: Int64) throws {
        let world = try World()
        world.put("/a", length: 3_000_000) {
            $0.tag = .none; $0.hasLastModified = false
        }
        world.play("/a", ByteRange(stored, stored + 100_000)).expectWhole(stored + 100_000, from: stored)
        world.origin.change("/a") { resource in
            resource.behaviour.ranges = .ignored
            resource.content = PositionCodedContent(length: 3_000_000, generation: 2)
        }
        for start in [stored, 0, 50_000, stored + 100_000, 2_000_000] {
            let player = world.player("/a", .from(start))
            player.finish()
            #expect(player.violation == nil, "from \(start)")
            #expect(player.isAtEnd || player.failure?.code == .changed, "from \(start)")
        }
        world.play("/a").expectWhole(3_000_000)
    }

    @Test func `an overlap that cannot be read is no proof that the bytes are the same, inv01 inv16`() throws {
        let world = try World()
        func put(_ generation: Int) {
            world.put("/a", length: 1_000_000, generation: generation) {
                $0.tag = .none; $0.hasLastModified = false
            }
        }
        put(1)
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        try world.restart()
        let body = try #require(world.memory.paths.first { $0.contains("/entries/") && $0.contains("/body.") })
        try world.memory.flip(body, at: 99_000)
        put(2)
        let player = world.player("/a", .from(100_000))
        player.play(to: 400_000)
        player.seek(to: 0)
        player.play(to: 90_000)
        #expect(player.violation == nil)
        player.leave()
        let next = world.play("/a")
        #expect(next.violation == nil)
    }

    /// What is not stored has no bytes on disk to compare: the last ones handed out are remembered instead.
    @Test(arguments: [true, false])
    func `an answer that is not stored is never continued with another version, inv01 inv16`(changes: Bool) throws {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: 900_000) { behaviour in
            behaviour.tag = .none
            behaviour.hasLastModified = false
            behaviour.longestRange = 50_000
            behaviour.extraFields = ["Cache-Control": "no-store"]
        }
        let player = world.player("/a")
        player.play(to: 50_000)
        if changes {
            world.origin.change("/a") { $0.content = PositionCodedContent(length: 900_000, generation: 2) }
        }
        player.finish()
        #expect(player.violation == nil)
        if changes { #expect(player.failure != nil) } else { player.expectWhole(900_000) }
    }

    @Test func `a host whose tags once differed is not trusted without a guard, inv01 inv16`() throws {
        let world = try World { $0.freshness = .http }
        func put(_ path: String, _ generation: Int) {
            world.put(path, length: 900_000, generation: generation) { behaviour in
                behaviour.longestRange = 50_000
                behaviour.extraFields = ["Cache-Control": "no-store"]
            }
        }
        world.cache.environment.hosts.distrustEntityTags(
            of: "http://origin.test", now: world.queues.wallClock())
        put("/a", 1)
        let player = world.player("/a")
        player.play(to: 50_000)
        put("/a", 2)
        player.finish()
        #expect(player.violation == nil)
        #expect(player.failure != nil)
    }

    @Test func `under the strict policy a resource without a strong tag plays whole`() throws {
        let world = try World { $0.sameness = SamenessRules(.strict) }
        world.put("/a", length: 1_000_000) { $0.tag = .weak }
        for _ in 0..<3 { world.play("/a").expectWhole(1_000_000) }
    }

    @Test func `under the strict policy a part without a strong tag is fetched anew after a restart`() throws {
        let world = try World { $0.sameness = SamenessRules(.strict) }
        world.put("/a", length: 1_000_000) { $0.tag = .weak }
        _ = world.play("/a", ByteRange(0, 100_000))
        try world.restart()
        world.play("/a", .from(500_000)).expectWhole(1_000_000, from: 500_000)
    }

    @Test func `an honest 206 that is wider than asked is used`() throws {
        let world = try World()
        world.put("/a", length: 3_000_000) { $0.widensRanges = 10_000 }
        world.play("/a", ByteRange(1_000_003, 1_400_000)).expectWhole(1_400_000, from: 1_000_003)
        world.play("/a", ByteRange(500_000, 1_100_000)).expectWhole(1_100_000, from: 500_000)
        world.play("/a").expectWhole(3_000_000)
    }

    @Test(arguments: [OriginBehaviour.Tag.none, .weak, .weakShared, .perRequest], [1, 13])
    func `an origin that sends few bytes an answer is played whole, piece by piece, inv05`(
        tag: OriginBehaviour.Tag, pieceSize: Int
    ) throws {
        let world = try World(isOrdered: false, blockSize: 256, pieceSize: pieceSize) { $0.tuning.overlap = 32 }
        world.put("/a", length: 600) {
            $0.tag = tag; $0.hasLastModified = false; $0.longestRange = 30
        }
        let player = world.player("/a", .from(295))
        player.finish()
        player.expectWhole(600, from: 295)
    }
}
