import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// What is asked of the origin, and how often.
@Suite struct RequestTests {
    private func ranges(_ world: World) -> [String] { world.origin.log.compactMap { $0.fields["Range"] } }

    @Test func `requests grow from 256 KiB fourfold and then run to the end, inv10`() throws {
        let world = try World()
        world.put("/a", length: 20_000_000)
        world.play("/a").expectWhole(20_000_000)
        #expect(
            ranges(world) == [
                "bytes=0-262143", "bytes=262144-1310719", "bytes=1310720-5505023", "bytes=5505024-19999999",
            ])
        #expect(world.origin.bodyBytes == 20_000_000)
    }

    @Test func `what follows a region is asked for when its reader asks again, not before, inv10`() throws {
        let world = try World(pieceSize: 64 * 1024)
        world.put("/a", length: 4_000_000)
        world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
        world.queues.advance(40 * second)
        let requests = world.origin.requestCount
        let player = world.player("/a")
        player.play(to: 1)
        world.queues.advance(second)
        // As a server asks: its socket takes all that is there, and its client reads none of it.
        #expect(player.take(599_999, limit: 1 << 20) == 599_999)
        world.queues.advance(5 * second)
        #expect(world.origin.requestCount == requests)
        player.finish()
        player.expectWhole(4_000_000)
        #expect(world.origin.bodyBytes <= 4_000_000 + world.blockSize)
    }

    @Test func `the next request is asked only when half of the last was read on`() throws {
        let world = try World()
        world.put("/a", length: 20_000_000)
        let player = world.player("/a")
        player.play(to: 131_000)
        world.queues.advance(second / 2)
        #expect(ranges(world).count == 1)
        player.play(to: 132_000)
        world.queues.advance(second / 2)
        #expect(ranges(world).count == 2)
    }

    /// 128 kbit/s to 1 Mbit/s, a piece every quarter of a second.
    @Test(arguments: [4_000, 10_000, 30_000] as [Int64])
    func `a player at its own pace keeps few connections and fetches nothing twice, inv10 inv23`(pace: Int64) throws {
        let world = try World()
        world.put("/a", length: 8_000_000)
        let player = world.player("/a")
        while !player.isAtEnd, player.failure == nil {
            player.play(to: player.position + pace)
            world.queues.advance(second / 4)
        }
        player.expectWhole(8_000_000)
        #expect(world.origin.bodyBytes == 8_000_000)
        #expect(world.origin.requestCount <= 4)
    }

    @Test func `a seek costs at most the read-ahead and a block, and is asked small, inv10`() throws {
        let world = try World()
        world.put("/a", length: 50_000_000)
        let player = world.player("/a")
        player.play(to: 1000)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20 {
            let target = Int64.random(in: 0..<49_000_000, using: &random)
            let before = world.origin.bodyBytes
            let requests = world.origin.requestCount
            player.seek(to: target)
            player.play(to: target + 1000)
            world.queues.advance(5 * second)
            #expect(world.origin.bodyBytes - before <= 384 * 1024 + 128 * 1024 + world.blockSize)
            #expect(world.origin.requestCount - requests <= 3)
        }
        #expect(player.violation == nil)
    }

    @Test func `no byte is fetched twice whatever the seeks, but for a block at each, inv10 bug09`() throws {
        let world = try World()
        world.put("/a", length: 6_000_000)
        let player = world.player("/a")
        var random = SeededGenerator(seed: 9)
        for _ in 0..<40 {
            player.seek(to: Int64.random(in: 0..<5_900_000, using: &random))
            player.play(to: player.position + Int64.random(in: 1...90_000, using: &random))
        }
        player.leave()
        world.play("/a").expectWhole(6_000_000)
        #expect(player.violation == nil)
        #expect(world.origin.bodyBytes <= 6_000_000 + 41 * world.blockSize)
    }

    @Test func `who reopens where another ended goes on with its request size`() throws {
        let world = try World()
        world.put("/a", length: 40_000_000)
        world.play("/a", ByteRange(0, 6_000_000)).expectWhole(6_000_000)
        let before = world.origin.requestCount
        let near = world.player("/a", .from(6_010_000))
        near.play(to: 6_020_000)
        #expect(ranges(world).dropFirst(before).first?.hasSuffix("-39999999") == true)
        near.leave()
        world.queues.advance(11 * second)
        let late = world.player("/a", .from(20_000_000))
        late.play(to: 20_010_000)
        #expect(ranges(world).last == "bytes=19988480-20250623")
    }

    @Test func `a bounded reader is never fetched past its end`() throws {
        let world = try World()
        world.put("/a", length: 10_000_000)
        world.play("/a", ByteRange(3_000_000, 3_000_500)).expectWhole(3_000_500, from: 3_000_000)
        world.queues.advance(10 * second)
        #expect(world.origin.bodyBytes <= 500 + world.blockSize)
    }

    @Test func `20 readers at once, some far apart, get everything once, inv10 inv11 inv12`() throws {
        let world = try World()
        let length: Int64 = 4_000_000
        world.put("/a", length: length) {
            $0.bytesPerSecond = 4_000_000
            $0.firstByteDelay = 30 * millisecond
        }
        let players = (0..<20).map { world.player("/a", .from(Int64($0 % 5) * 700_000)) }
        for _ in 0..<60_000 where !players.allSatisfy({ $0.isAtEnd || $0.failure != nil }) {
            for player in players where player.wasWoken { player.take() }
            world.queues.advance(millisecond)
        }
        for (index, player) in players.enumerated() { player.expectWhole(length, from: Int64(index % 5) * 700_000) }
        #expect(world.origin.bodyBytes <= length + 8 * world.blockSize)
    }

    @Test func `at most four requests a resource and six a host are under way`() throws {
        let world = try World()
        for name in ["/a", "/b", "/c"] { world.put(name, length: 100_000_000) { $0.bytesPerSecond = 10_000 } }
        let players = ["/a", "/b", "/c"].flatMap { name in
            (0..<6).map { world.player(name, .from(Int64($0) * 10_000_000)) }
        }
        for player in players { player.take() }
        for _ in 0..<200 {
            world.queues.advance(10 * millisecond)
            for player in players where player.wasWoken { player.take() }
            #expect(world.cache.environment.hosts.active("http://origin.test") <= 6)
            #expect(world.cache.openEntries.allSatisfy { $0.activity.transfers <= 8 })
        }
        for player in players { player.leave() }
        world.queues.advance(60 * second)
        #expect(world.cache.environment.hosts.active("http://origin.test") == 0)
    }

    @Test func `whoever finds no place at the host gets one as soon as one is free, inv26`() throws {
        let world = try World()
        for number in 0..<12 { world.put("/\(number)", length: 300_000) { $0.bytesPerSecond = 300_000 } }
        let players = (0..<12).map { world.player("/\($0)") }
        for _ in 0..<10_000 where !players.allSatisfy(\.isAtEnd) {
            for player in players where player.wasWoken { player.take() }
            world.queues.advance(millisecond)
        }
        for player in players { player.expectWhole(300_000) }
        #expect(world.cache.environment.hosts.active("http://origin.test") == 0)
    }

    @Test func `players that stand still do not keep a seventh from the host, inv26 bug30`() throws {
        let world = try World()
        for number in 0..<9 { world.put("/\(number)", length: 30_000_000) }
        let still = (0..<8).map { world.player("/\($0)") }
        for player in still { player.play(to: 7_000_000) }
        let before = world.queues.time
        let ninth = world.player("/8")
        ninth.play(to: 100_000)
        #expect(ninth.position >= 100_000)
        #expect(world.queues.time - before < second)
        for player in still { player.play(to: 7_500_000) }
        #expect(still.allSatisfy { $0.position >= 7_500_000 })
    }

    @Test func `cancelling while the entry opens, or before the head, leaves nothing behind, bug12`() throws {
        let world = try World()
        world.put("/a", length: 1_000_000) { $0.firstByteDelay = second }
        for pause in [0, millisecond, 500 * millisecond, 1200 * millisecond] {
            let player = world.player("/a", .from(500_000))
            _ = player.take()
            world.queues.advance(pause)
            player.leave()
            player.leave()
        }
        world.queues.advance(60 * second)
        #expect(world.cache.openEntries.isEmpty)
        #expect(world.cache.environment.hosts.active("http://origin.test") == 0)
        world.play("/a").expectWhole(1_000_000)
    }

    @Test func `one reader's leaving does not end another's transfer, bug12`() throws {
        let world = try World()
        world.put("/a", length: 2_000_000) { $0.bytesPerSecond = 1_000_000 }
        let stays = world.player("/a")
        stays.play(to: 10_000)
        for _ in 0..<10 {
            let goes = world.player("/a", .from(stays.position))
            goes.play(to: stays.position + 20_000)
            goes.leave()
            stays.play(to: stays.position + 50_000)
        }
        stays.finish()
        stays.expectWhole(2_000_000)
        #expect(world.origin.bodyBytes == 2_000_000)
    }

    @Test func `a deep bounded request on the second play is answered from the origin, not ended, bug05`() throws {
        let world = try World()
        world.put("/a", length: 5_000_000)
        world.play("/a", ByteRange(0, 200_000)).expectWhole(200_000)
        try world.restart()
        world.play("/a", ByteRange(4_000_000, 4_000_100)).expectWhole(4_000_100, from: 4_000_000)
        world.play("/a", ByteRange(199_000, 300_000)).expectWhole(300_000, from: 199_000)
    }

    @Test func `coverage, not size, says what is complete, bug08`() throws {
        let world = try World()
        world.put("/a", length: 1_000_000)
        // The last byte is stored: the body file is as long as the object, but full of holes.
        world.play("/a", ByteRange(999_000, 1_000_000)).expectWhole(1_000_000, from: 999_000)
        world.play("/a", ByteRange(0, 1000)).expectWhole(1000)
        try world.restart()
        world.play("/a").expectWhole(1_000_000)
        #expect(world.origin.bodyBytes <= 1_000_000 + 2 * world.blockSize)
    }
}
