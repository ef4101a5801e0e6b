import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Media that their origin delivers encrypted, step by step: players get the decrypted bytes, the disk has the others.
@Suite struct TransformScenarioTests {
    private static let song: Int64 = 1_000_001
    private static let keystream = PositionKeystream()

    private func world(
        isSealed: Bool = false, blockSize: Int64 = 32 * 1024, pieceSize: Int = 16 * 1024,
        configure: (inout MediaCache.Configuration) -> Void = { _ in }
    ) throws -> World {
        try World(blockSize: blockSize, pieceSize: pieceSize) { configuration in
            if isSealed { configuration.seal = .testing }
            configuration.contentTransform = { _, url in url.pathExtension == "enc" ? Self.keystream : nil }
            configure(&configuration)
        }
    }

    private func put(
        _ path: String, length: Int64 = song, _ world: World, _ change: (inout OriginBehaviour) -> Void = { _ in }
    ) {
        var behaviour = OriginBehaviour()
        change(&behaviour)
        world.origin.put(.init(PositionCodedContent(length: length), before: Self.keystream, behaviour), at: path)
    }

    @Test(arguments: [false, true])
    func `a first play, a second and one after a restart give the decrypted bytes, each fetched once, inv10 inv13`(
        isSealed: Bool
    ) throws {
        let world = try world(isSealed: isSealed)
        put("/song.enc", world)
        try world.expectBoughtOnce("/song.enc", length: Self.song)
    }

    @Test func `on disk are the bytes the origin sent, inv02`() throws {
        let world = try world()
        put("/song.enc", world)
        world.play("/song.enc").expectWhole(Self.song)
        world.queues.advance(10 * second)
        let body = try #require(world.memory.paths.first { $0.contains("/body.1") })
        let sent = try #require(world.origin.resource(at: "/song.enc")).bytes(in: ByteRange(0, Self.song))
        let isSame = try world.memory.contents(body) == sent
        #expect(isSame)
    }

    @Test(arguments: UInt64(1)...6, [false, true])
    func `ranges of any kind, read in steps of any size, give the decrypted bytes, inv06 bug16`(
        seed: UInt64, isSealed: Bool
    ) throws {
        let world = try world(isSealed: isSealed, blockSize: 64, pieceSize: 50)
        let length: Int64 = 5003
        put("/a.enc", length: length, world)
        var random = SeededGenerator(seed: seed)
        for round in 0..<60 {
            let start = Int64.random(in: 0..<length, using: &random)
            let end = Int64.random(in: start + 1...length, using: &random)
            let player = world.player("/a.enc", ByteRange(start, end))
            while !player.isAtEnd, player.failure == nil, player.violation == nil {
                let taken = player.take(
                    Int64.random(in: 1...400, using: &random), limit: Int.random(in: 1...300, using: &random))
                if taken == 0, !player.isAtEnd { player.play(to: player.position + 1) }
                if Int.random(in: 0..<8, using: &random) == 0, player.position < end {
                    let place = Int64.random(in: start..<end, using: &random)
                    player.seek(to: place)
                    player.received = place - start
                }
            }
            player.leave()
            player.expectWhole(end, from: start)
            if round == 40 { try world.restart() }
        }
        world.play("/a.enc").expectWhole(length)
        try world.restart()
        world.origin.setDown(true)
        world.play("/a.enc").expectWhole(length)
    }

    @Test(arguments: [false, true])
    func `readers that join each other get them from memory and from disk, for one transfer, inv11`(
        isSealed: Bool
    ) throws {
        let world = try world(isSealed: isSealed)
        put("/song.enc", world) { $0.bytesPerSecond = 1_000_000 }
        let first = world.player("/song.enc")
        first.play(to: 300_000)
        let second = world.player("/song.enc")
        while !first.isAtEnd || !second.isAtEnd, first.failure == nil, second.failure == nil {
            first.play(to: first.position + 40_000)
            second.play(to: second.position + 70_000)
        }
        for player in [first, second] {
            player.leave()
            player.expectWhole(Self.song)
        }
        #expect(world.origin.bodyBytes == Self.song)
    }

    @Test func `what is never stored is decrypted from memory alone`() throws {
        let world = try world()
        put("/song.enc", world)
        let url = try #require(OriginURL("http://origin.test/song.enc"))
        let resource = world.cache.resource(for: url, storing: .doNotStore)
        let player = Player(world, "/song.enc", .from(0), resource: resource)
        player.finish()
        player.expectWhole(Self.song)
        #expect(!world.memory.paths.contains { $0.contains("/body.") })
    }

    @Test func `an answer for one caller alone is decrypted like a shared one, inv29`() throws {
        let world = try world { $0.freshness = .http }
        put("/song.enc", world) { $0.extraFields["Cache-Control"] = "private, max-age=60" }
        let players = (0..<2).map { _ in world.player("/song.enc") }
        for player in players {
            player.finish()
            player.expectWhole(Self.song)
        }
        world.play("/song.enc", fields: ["Cache-Control": "no-store"]).expectWhole(Self.song)
    }

    @Test func `one that has a transform and one that has none do not meet`() throws {
        let world = try world()
        put("/a.enc", world)
        world.put("/b.mp3", length: Self.song)
        let players = [world.player("/a.enc"), world.player("/b.mp3")]
        while !players.allSatisfy({ $0.isAtEnd || $0.failure != nil }) {
            for player in players { player.play(to: player.position + 50_000) }
        }
        for player in players {
            player.leave()
            player.expectWhole(Self.song)
        }
        world.origin.setDown(true)
        world.play("/b.mp3").expectWhole(Self.song)
        world.play("/a.enc").expectWhole(Self.song)
    }

    @Test func `the transform is chosen by key as well, and by URL before it`() throws {
        let world = try world { configuration in
            configuration.contentTransform = { key, url in
                guard url.host == "origin.test" else { return nil }
                return key == ResourceKey("secret") ? Self.keystream : nil
            }
        }
        put("/a.mp3", world)
        let url = try #require(OriginURL("http://origin.test/a.mp3"))
        let resource = world.cache.resource(for: url, key: ResourceKey("secret"))
        let player = Player(world, "/a.mp3", .from(0), resource: resource)
        player.finish()
        player.expectWhole(Self.song)
    }

    @Test(arguments: [false, true])
    func `a block damaged on disk is fetched again, inv05`(isSealed: Bool) throws {
        let world = try world(isSealed: isSealed)
        put("/song.enc", world)
        world.play("/song.enc").expectWhole(Self.song)
        let body = try #require(world.memory.paths.first { $0.contains("/body.1") })
        let player = world.player("/song.enc")
        player.play(to: 100_000)
        try world.memory.flip(body, at: 400_000)
        player.play()
        player.expectWhole(Self.song)
    }

    @Test func `a door has at most 256 KiB at a time to transform, inv23`() throws {
        let world = try world()
        put("/song.enc", world)
        world.play("/song.enc").expectWhole(Self.song)
        world.queues.advance(10 * second)
        let player = world.player("/song.enc")
        player.play(to: 1)
        guard case .lease(let lease) = player.handle.step(limit: 1 << 20, wake: {}) else {
            Issue.record("it is stored")
            return
        }
        #expect(lease.range.count > 0 && lease.range.count <= 256 * 1024)
        player.leave()
    }

    @Test func `digests of the origin's bytes are not told of others`() throws {
        let world = try world()
        let digests = ["Content-MD5", "Digest", "Content-Digest", "Repr-Digest"]
        for path in ["/a.enc", "/b.mp3"] {
            put(path, world) { behaviour in for name in digests { behaviour.extraFields[name] = "of the origin" } }
            let handle = world.cache.resource(for: OriginURL("http://origin.test" + path)!).makeHandle(in: .from(0))
            _ = handle.step(limit: 1, wake: {})
            world.queues.advance(second)
            let info = try #require(try handle.info(wake: {}).get())
            for name in digests { #expect((info.fields[name] == nil) == (path == "/a.enc")) }
            #expect(info.length == Self.song && info.fields["Content-Type"] == "audio/mpeg")
            handle.leave()
        }
    }
}
