import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// An object is replaced at its origin while it is read and written.
@Suite struct ReplacementTests {
    /// All of a version is played after a restart without the origin.
    private func expectStored(
        _ length: Int64, generation: Int, _ world: World, _ comment: Comment? = nil,
        location: SourceLocation = #_sourceLocation
    ) throws {
        try world.restart()
        world.origin.setDown(true)
        let replayed = world.play("/a")
        replayed.expectWhole(length, location: location)
        #expect(replayed.generation == generation, comment, sourceLocation: location)
    }

    /// No description finds space on the disk; bytes do.
    private func describeNothing(_ world: World) {
        world.files.setRule { operation, path, _ in
            operation == .open && path.hasSuffix("/info.new") ? .error(FileError.noSpace) : nil
        }
    }

    /// A version that is fresh for longer than a test.
    private func putFresh(_ world: World, _ length: Int64, generation: Int, firstByteDelay: Int64 = 0) {
        world.put("/a", length: length, generation: generation) {
            $0.extraFields["Cache-Control"] = "max-age=1000"
            $0.firstByteDelay = firstByteDelay
        }
    }

    @Test(arguments: [0, 3 * millisecond, 400 * millisecond])
    func `a file that is replaced while its bytes are on their way to the disk is played whole, inv01`(
        writeDelay: Int64
    ) throws {
        for seed in 1...60 as ClosedRange<UInt64> {
            let world = try World(seed: seed, isOrdered: false)
            world.put("/a", length: 600_000) { $0.bytesPerSecond = 40_000_000 }
            world.queues.setDiskDelay(read: 0, write: writeDelay)
            let first = world.player("/a")
            first.play(to: Int64(seed) * 9_000)
            world.put("/a", length: 500_000, generation: 2) { $0.bytesPerSecond = 40_000_000 }
            let new = world.player("/a", .from(Int64(seed) * 5_000))
            new.play(to: Int64(seed) * 8_000)
            first.finish()
            new.finish()
            #expect(first.violation == nil, "seed \(seed)")
            #expect(new.violation == nil, "seed \(seed)")
            let last = world.play("/a")
            last.expectWhole(last.generation == 1 ? 600_000 : 500_000)
            world.queues.setDiskDelay(read: 0, write: 0)
            world.queues.advance(120 * second)
            #expect(world.cache.openEntries.isEmpty, "seed \(seed): \(world.cache.openEntries.map(\.explanation))")
        }
    }

    @Test func `one that became shorter is played where nothing but the closed connection tells that, inv26`() throws {
        let world = try World()
        func put(_ length: Int64, generation: Int) {
            world.put("/a", length: length, generation: generation) {
                $0.dropValidators()
                $0.ranges = .ignored
                $0.framing = .close
            }
        }
        put(100_000, generation: 1)
        let first = world.player("/a")
        first.play(to: 50_000)
        first.leave()
        put(100, generation: 1)
        try world.restart()
        // What is stored is played before the origin is asked for more.
        #expect(world.play("/a").failure?.code == .changed)
        world.play("/a").expectWhole(100)
    }

    @Test func `what was replaced after its first byte closes, and does not tick for ever`() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let world = try World(seed: seed, isOrdered: false)
            world.put("/a", length: 100_000)
            world.play("/a", ByteRange(0, 1)).expectWhole(1)
            world.put("/a", length: 100_000, generation: 2)
            _ = world.play("/a", ByteRange(1, 100_000))
            world.queues.advance(120 * second)
            #expect(world.cache.openEntries.isEmpty)
            #expect(world.queues.isIdle)
        }
    }

    @Test(arguments: [true, false])
    func `a description that the disk did not take is written later, and no named file goes before, inv28 inv30`(
        isClosedBefore: Bool
    ) throws {
        let world = try World()
        world.put("/a", length: 300_000)
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        world.queues.advance(10 * second)
        let old = world.player("/a", ByteRange(0, 100_000))
        old.play(to: 10_000)
        describeNothing(world)
        world.put("/a", length: 300_000, generation: 2)
        _ = world.play("/a", .from(200_000))
        let new = world.play("/a")
        new.expectWhole(300_000)
        #expect(new.generation == 2)
        if isClosedBefore { try world.restart() }
        world.files.setRule(nil)
        old.finish()
        world.queues.advance(60 * second)
        try world.restart()
        let paid = world.origin.bodyBytes
        if isClosedBefore {
            // The old one is still what the description names.
            world.origin.setDown(true)
            world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        } else {
            world.play("/a").expectWhole(300_000)
            #expect(world.origin.bodyBytes == paid)
        }
    }

    @Test func `what is complete and cannot be read now is not replaced by a part, inv28 inv30`() throws {
        let world = try World()
        world.put("/a", length: 300_000)
        world.play("/a").expectWhole(300_000)
        try world.restart()
        world.files.setRule { operation, path, _ in
            operation == .read && path.contains("/body.") ? .error(FileError.inputOutput) : nil
        }
        world.put("/a", length: 300_000, generation: 2)
        _ = world.play("/a", ByteRange(0, 100_000))
        world.queues.advance(60 * second)
        world.files.setRule(nil)
        try expectStored(300_000, generation: 1, world)
    }

    @Test(arguments: [false, true])
    func `what cannot be read now is passed by where nothing shows versions, inv22 inv30`(isPlaying: Bool) throws {
        let world = try World()
        world.put("/a", length: 300_000) { $0.dropValidators() }
        world.play("/a").expectWhole(300_000)
        try world.restart()
        let reader = world.player("/a")
        if isPlaying { reader.play(to: 100_000) }
        world.files.setRule { operation, path, _ in
            operation == .read && path.contains("/body.") ? .error(FileError.inputOutput) : nil
        }
        reader.finish()
        // Bytes that were handed on cannot be compared with what comes now.
        if isPlaying { #expect(reader.failure?.code == .store) } else { reader.expectWhole(300_000) }
        world.queues.advance(60 * second)
        world.files.setRule(nil)
        try world.restart()
        world.origin.setDown(true)
        world.play("/a").expectWhole(300_000)
    }

    @Test func `the length of an answer with other bytes is never the stored version's, inv01 inv16`() throws {
        let world = try World()
        func put(_ length: Int64, _ generation: Int, _ framing: OriginBehaviour.Framing) {
            world.put("/a", length: length, generation: generation) { behaviour in
                behaviour.ranges = .ignored
                behaviour.framing = framing
                behaviour.tag = .none
                behaviour.hasLastModified = false
            }
        }
        put(400_000, 1, .close)
        world.play("/a").expectWhole(400_000)
        try world.restart()
        put(30_000, 2, .length)
        let first = world.play("/a")
        #expect(first.violation == nil && first.generation == 1)
        #expect(first.failure?.code == .changed, "nothing shows where the first version ends")
        world.play("/a").expectWhole(30_000)
    }

    @Test
    func `what is replaced between two requests is not mixed though nothing but bytes could show it, inv01 inv16`()
        throws
    {
        for delay in 0..<30 as Range<Int64> {
            let world = try World()
            @Sendable func put(_ generation: Int) {
                world.put("/a", length: 600_000, generation: generation) { behaviour in
                    behaviour.tag = .none
                    behaviour.hasLastModified = false
                    behaviour.firstByteDelay = 8 * millisecond
                }
            }
            put(1)
            world.play("/a", .from(400_000)).expectWhole(600_000, from: 400_000)
            world.queues.after(delay * millisecond) { put(2) }
            let before = world.player("/a", ByteRange(100_000, 500_000))
            before.finish()
            #expect(before.violation == nil, "replaced after \(delay) ms")
            let whole = world.play("/a")
            whole.expectWhole(600_000)
            #expect(whole.generation == 2)
        }
    }

    @Test func `two versions whose files are made at the same moment are not both named, inv28`() throws {
        for seed in 1...40 as ClosedRange<UInt64> {
            let world = try World(seed: seed, isOrdered: false)
            world.queues.setDiskDelay(read: 300 * millisecond, write: 300 * millisecond)
            world.put("/a", length: 300_000)
            let players = (1...3).map { generation in
                world.put("/a", length: 300_000, generation: generation)
                let player = world.player("/a", .from(Int64(generation) * 50_000))
                player.play(to: Int64(generation) * 50_000 + 40_000)
                let broken = world.broken.all
                #expect(broken.isEmpty, "seed \(seed)")
                return player
            }
            for player in players { player.finish() }
            world.queues.setDiskDelay(read: 0, write: 0)
            world.queues.advance(10 * second)
            #expect(world.broken.all.isEmpty)
            _ = world.play("/a")
            world.play("/a").expectWhole(300_000)
            try expectStored(300_000, generation: 3, world, "seed \(seed)")
        }
    }

    /// The files are made so many milliseconds late, and what is written from then on is.
    @Test(arguments: [(0, 0), (300, 0), (3000, 0), (5050, 0), (7000, 0), (300, 500)] as [(Int64, Int64)])
    func `a version whose files were made late does not take its successor's place on the disk, inv28`(
        making: Int64, writing: Int64
    ) throws {
        let world = try World { $0.freshness = .http }
        putFresh(world, 200_000, generation: 1, firstByteDelay: 100 * millisecond)
        let before = world.player("/a")
        before.take()
        world.queues.advance(50 * millisecond)
        world.queues.setDiskDelay(read: making * millisecond, write: 0)
        world.queues.advance(60 * millisecond)
        world.queues.setDiskDelay(read: 0, write: writing * millisecond)
        putFresh(world, 200_000, generation: 2, firstByteDelay: 100 * millisecond)
        let after = world.player("/a", fields: ["Cache-Control": "no-cache"])
        after.finish()
        after.expectWhole(200_000)
        before.finish()
        #expect(before.violation == nil && after.generation == 2)
        world.queues.advance(10 * second)
        #expect(world.broken.all.isEmpty)
        try expectStored(200_000, generation: 2, world)
    }

    @Test func `files that are being made for what was replaced meanwhile are not named after its successor's, inv28`()
        throws
    {
        let world = try World()
        func put(_ generation: Int) {
            world.put("/a", length: 400_000, generation: generation) { $0.bytesPerSecond = 50_000 }
        }
        put(1)
        world.files.setRule { operation, _, _ in operation == .write ? .error(FileError.notPermitted) : nil }
        let before = world.player("/a")
        before.play(to: 20_000)
        // It is stored from now on, in files that are long in making, and what is asked for that is another version.
        world.files.setRule(nil)
        world.queues.setDiskDelay(read: 5 * second, write: 0)
        put(2)
        before.finish()
        #expect(before.violation == nil && before.failure?.code == .changed)
        world.queues.setDiskDelay(read: 0, write: 0)
        world.play("/a").expectWhole(400_000)
        world.queues.advance(60 * second)
        #expect(world.broken.all.isEmpty)
        try expectStored(400_000, generation: 2, world)
    }

    @Test(arguments: [100, 600, 1100, 1600] as [Int64])
    func `a version whose last bytes are written while the store is given away is there afterwards, inv25 inv28`(
        moment: Int64
    ) throws {
        let world = try World { $0.freshness = .http }
        putFresh(world, 60_000, generation: 1)
        world.play("/a").expectWhole(60_000)
        putFresh(world, 60_000, generation: 2)
        world.queues.setDiskDelay(read: 0, write: 500 * millisecond)
        let player = world.player("/a", fields: ["Cache-Control": "no-cache"])
        player.take()
        world.queues.advance(moment * millisecond)
        player.play()
        player.expectWhole(60_000)
        let cache = world.cache
        Task(executorPreference: world.queues) {
            await cache.suspend()
            await cache.resume()
        }
        world.queues.advance(20 * second)
        player.leave()
        #expect(cache.status == .ready && world.broken.all.isEmpty)
        try expectStored(60_000, generation: 2, world)
    }

    @Test func `without ranges a reader whose stored bytes went again is given them anew, inv26`() throws {
        let world = try World()
        world.put("/a", length: 3_000_000) {
            $0.ranges = .ignored; $0.bytesPerSecond = 1_000_000
        }
        let ahead = world.player("/a")
        ahead.play(to: 2_000_000)
        let behind = world.player("/a", .from(100_000))
        // Others delete the files while they are read and written.
        for path in world.memory.paths where path.contains("/entries/") { try? world.memory.removeFile(path) }
        ahead.finish()
        behind.finish()
        ahead.expectWhole(3_000_000)
        behind.expectWhole(3_000_000, from: 100_000)
    }

    @Test func `an empty version takes the place of a part of an older one, inv04`() throws {
        let world = try World()
        world.put("/a", length: 100_000)
        world.play("/a", ByteRange(0, 1000)).expectWhole(1000)
        world.put("/a", length: 0, generation: 2)
        let changed = world.player("/a", .from(50_000))
        changed.play(patience: second)
        changed.leave()
        let empty = world.player("/a")
        empty.finish()
        #expect(empty.isAtEnd && empty.received == 0)
        world.queues.advance(second)
        try world.kill()
        world.origin.setDown(true)
        let after = world.player("/a")
        after.finish()
        #expect(after.isAtEnd && after.received == 0)
    }

    @Test(arguments: [false, true])
    func `a range that is refused within what was the length shows another version, inv09 inv26`(isTold: Bool) throws {
        let world = try World()
        world.put("/a", length: 1_000_000) { $0.dropValidators() }
        let player = world.player("/a")
        player.play(to: 100_000)
        world.put("/a", length: 30_000, generation: 2) {
            $0.dropValidators()
            $0.tellsTotalInRefusals = isTold
        }
        player.finish()
        #expect(player.violation == nil && player.failure?.code == .changed)
        let next = world.play("/a")
        next.expectWhole(30_000)
        #expect(next.generation == 2)
    }

    @Test func `the error text of a 416 is never the resource, inv20 bug01`() throws {
        let isOn = Lock(false)
        let world = try World { _ in
        } through: { queues, client in
            RefusingRangesClient(client, queues, isOn: { isOn.withLock { $0 } })
        }
        world.put("/a", length: 3_000_000) {
            $0.tag = .none; $0.hasLastModified = false
        }
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        try world.restart()
        isOn.withLock { $0 = true }
        world.put("/a", length: 50_000, generation: 2) {
            $0.tag = .none; $0.hasLastModified = false
        }
        let beyond = world.player("/a", .from(140_000))
        beyond.play(patience: 30 * second)
        #expect(beyond.received == 0)
        #expect(beyond.failure != nil)
        for _ in 0..<2 {
            let whole = world.player("/a")
            whole.finish()
            #expect(whole.violation == nil)
        }
        let last = world.play("/a")
        last.expectWhole(50_000)
        #expect(last.generation == 2)
    }

    @Test(arguments: [OriginBehaviour.Framing.length, .chunked])
    func `a 200 that shows no validator confirms nothing, inv16`(framing: OriginBehaviour.Framing) throws {
        let world = try World { $0.freshness = .http }
        func put(_ length: Int64, _ generation: Int) {
            world.put("/a", length: length, generation: generation) { behaviour in
                behaviour.tag = .none
                behaviour.hasLastModified = false
                behaviour.framing = framing
                if framing == .chunked { behaviour.ranges = .ignored }
                behaviour.extraFields = ["Cache-Control": "max-age=10"]
            }
        }
        put(200_000, 1)
        world.play("/a").expectWhole(200_000)
        world.queues.advance(20 * second)
        put(framing == .chunked ? 100_000 : 200_000, 2)
        for _ in 0..<2 {
            world.queues.advance(20 * second)
            let next = world.play("/a")
            next.expectWhole(framing == .chunked ? 100_000 : 200_000)
            #expect(next.generation == 2)
        }
    }

    @Test func `the body of the 200 that answers a validation is used, not asked for again, inv10`() throws {
        let world = try World { $0.freshness = .http }
        func put(_ generation: Int) {
            world.put("/a", length: 200_000, generation: generation) {
                $0.extraFields = ["Cache-Control": "max-age=10"]
            }
        }
        put(1)
        world.play("/a").expectWhole(200_000)
        world.queues.advance(20 * second)
        put(2)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(200_000)
        #expect(world.origin.requestCount == requests + 1)
        #expect(world.origin.bodyBytes == 400_000)
    }

    @Test func `the files that replace an entry's are on the disk before the old ones go, inv03 inv28`() throws {
        let world = try World { $0.freshness = .http }
        func put(_ generation: Int) {
            world.put("/a", length: 400_000, generation: generation) {
                $0.extraFields = ["Cache-Control": "max-age=10"]
            }
        }
        put(1)
        world.play("/a").expectWhole(400_000)
        world.queues.advance(20 * second)
        put(2)
        let operations = Recorder<String>()
        world.files.setRule { operation, path, _ in
            if path.contains("/entries/"), [.sync, .rename, .removeFile].contains(operation) {
                operations.add("\(operation) \(path.split(separator: "/").last ?? "")")
            }
            return nil
        }
        let player = world.play("/a")
        player.expectWhole(400_000)
        #expect(player.generation == 2)
        world.queues.advance(20 * second)
        let removed = try #require(operations.all.firstIndex { $0.hasPrefix("removeFile body.1") })
        let synced = try #require(operations.all.firstIndex { $0.hasPrefix("sync body.2") })
        let slots = try #require(operations.all.firstIndex { $0.hasPrefix("sync blocks.2") })
        #expect(max(synced, slots) < removed, "\(operations.all)")
    }

    /// Nothing shows that the answer to the second is what the first is being brought, which is one body of one version all the same.
    @Test(arguments: [OriginBehaviour.Tag.none, .weakShared])
    func `who is being brought one version gets the rest of it where another takes its place, inv01 inv17`(
        tag: OriginBehaviour.Tag
    ) throws {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: 4_000_000) {
            ($0.tag, $0.hasLastModified, $0.heedsIfNoneMatch, $0.ranges) = (tag, false, false, .ignored)
            ($0.extraFields["Cache-Control"], $0.bytesPerSecond) = ("no-cache", 100_000)
        }
        let first = world.player("/a")
        first.play(to: 1_000_000)
        let second = world.player("/a")
        second.play(to: 10_000)
        first.play()
        first.expectWhole(4_000_000)
        second.play()
        second.expectWhole(4_000_000)
        #expect(world.origin.requestCount == 2)
    }

    /// What was to take the place of a complete file, and is replaced itself before it is complete.
    @Test func `files that no description will name go with their last reader`() throws {
        let world = try World { $0.freshness = .http }
        func put(_ length: Int64, _ generation: Int) {
            world.put("/a", length: length, generation: generation) {
                ($0.extraFields["Cache-Control"], $0.bytesPerSecond) = ("max-age=60", 1_000_000)
            }
            world.queues.advance(70 * second)
        }
        put(400_000, 1)
        world.play("/a").expectWhole(400_000)
        let readers = (2...3).map { generation in
            put(80_000_000, generation)
            let reader = world.player("/a")
            reader.play(to: 200_000)
            return reader
        }
        #expect(readers.map(\.generation) == [2, 3])
        func bodies() -> [String] { world.memory.paths.filter { $0.contains("/body.") } }
        #expect(bodies().count == 3, "\(bodies())")
        readers[0].leave()
        world.queues.advance(second)
        #expect(bodies().count == 2, "\(bodies())")
        readers[1].leave()
    }

    @Test func `files that wait for their first byte are not gone on with where nothing would show whose it is, inv01`()
        throws
    {
        let world = try World()
        world.put("/a", length: 100_000) { $0.tag = .weakShared }
        let store = try #require(world.cache.environment.store)
        let info = EntryInfo(
            key: "http://origin.test/a", url: "http://origin.test/a", generation: 0, identity: 7, fileExtension: "mp3",
            validator: Validator(entityTag: EntityTag(opaque: "\"all\"", isWeak: true)), length: 100_000,
            servesRanges: true, fields: [:], checked: 0)
        let staged = try store.stage(info)
        try store.commit(staged.info)
        world.play("/a").expectWhole(100_000)
        // What an earlier owner still writes into its files reaches nobody.
        try FillWriter(generation: staged.generation).write([[UInt8](repeating: 1, count: 32 * 1024)[...]], at: 0)
        try world.restart()
        world.origin.setDown(true)
        world.play("/a").expectWhole(100_000)
    }

    @Test func `where nothing shows that what one reader lacks goes on, the next reader begins anew, inv26`() throws {
        let world = try World(blockSize: 7, pieceSize: 64)
        world.put("/a", length: 1158) { behaviour in
            (behaviour.ranges, behaviour.framing, behaviour.tag) = (.ignored, .chunked, .perRequestWeak)
            behaviour.firstByteDelay = 5 * millisecond
        }
        world.play("/a").leave()
        try world.restart()
        let body = try #require(world.memory.paths.first { $0.contains("/body.1") })
        let entry = try #require(try world.cache.environment.store?.open(key: "http://origin.test/a"))
        try entry.generation.load(.from(0))
        for range in [ByteRange(21, 574), ByteRange(581, 700), ByteRange(721, 763), ByteRange(959, 1158)] {
            _ = try entry.generation.discard(range)
        }
        try world.memory.flip(body, at: 15)
        var isAtEnd = false
        for _ in 0..<2 where !isAtEnd {
            let player = world.play("/a")
            #expect(player.violation == nil)
            isAtEnd = player.isAtEnd
            player.leave()
        }
        #expect(isAtEnd)
    }

    /// Taken back before the description's turn has come, or after it was put aside.
    @Test(arguments: [0, 1] as [Int64])
    func `a version whose description waits as the store is given away is named later, inv26 inv28`(
        pause: Int64
    ) throws {
        let world = try World { $0.freshness = .http }
        putFresh(world, 60_000, generation: 1)
        world.play("/a").expectWhole(60_000)
        putFresh(world, 60_000, generation: 2)
        // Longer than giving away may take, shorter than a disk that hangs.
        world.queues.setDiskDelay(read: 0, write: 4500 * millisecond)
        let player = world.player("/a", fields: ["Cache-Control": "no-cache"])
        player.play()
        player.expectWhole(60_000)
        let cache = world.cache
        let entry = try #require(cache.openEntries.first)
        while entry.look({ $0.hasUnwritten }), world.queues.runOne(until: .max) {}
        #expect(entry.isStoring, "its description is queued")
        Task(executorPreference: world.queues) { await cache.suspend() }
        world.queues.advance((4 + pause) * second)
        Task(executorPreference: world.queues) { await cache.resume() }
        world.queues.advance(20 * second)
        world.queues.setDiskDelay(read: 0, write: 0)
        player.leave()
        #expect(cache.status == .ready && world.broken.all.isEmpty)
        try expectStored(60_000, generation: 2, world)
    }

    /// A reader of all of a second version that the disk has, and whose description could not be written.
    private func playUndescribed(_ world: World) -> Player {
        world.put("/a", length: 300_000)
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        world.queues.advance(10 * second)
        describeNothing(world)
        world.put("/a", length: 300_000, generation: 2)
        _ = world.play("/a", .from(200_000))
        let player = world.player("/a")
        player.play()
        player.expectWhole(300_000)
        world.queues.advance(second)
        return player
    }

    @Test func `a version that could not be described stays as the store is given away and taken back, inv26 inv28`()
        throws
    {
        let world = try World()
        let player = playUndescribed(world)
        let cache = world.cache
        Task(executorPreference: world.queues) {
            await cache.suspend()
            await cache.resume()
        }
        world.queues.advance(10 * second)
        world.files.setRule(nil)
        player.leave()
        try expectStored(300_000, generation: 2, world)
    }

    @Test func `a part that could not be described takes no place that another process has filled, inv28`() throws {
        let world = try World()
        world.put("/a", length: 300_000)
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        world.queues.advance(10 * second)
        describeNothing(world)
        // It is answered with all of it, of which half has come.
        world.put("/a", length: 300_000, generation: 2) { $0.bytesPerSecond = 100_000 }
        let player = world.player("/a", .from(150_000))
        player.play(to: 160_000)
        #expect(player.generation == 2)
        let cache = world.cache
        Task(executorPreference: world.queues) { await cache.suspend() }
        world.queues.advance(10 * second)
        world.files.setRule(nil)
        // One of its hosts has the first version still.
        world.put("/a", length: 300_000)
        let other = try world.openElsewhere()
        let completing = Player(
            world, "/a", .from(0), resource: other.resource(for: OriginURL("http://origin.test/a")!))
        completing.finish()
        completing.expectWhole(300_000)
        Task(executorPreference: world.queues) {
            await other.close()
            await cache.resume()
        }
        world.queues.advance(60 * second)
        #expect(cache.status == .ready)
        player.leave()
        try expectStored(300_000, generation: 1, world)
    }

    @Test func `files that others delete before they are named are not made anew over a complete version, inv28`()
        throws
    {
        let world = try World { $0.freshness = .http }
        putFresh(world, 60_000, generation: 1)
        world.play("/a").expectWhole(60_000)
        world.queues.advance(10 * second)
        describeNothing(world)
        putFresh(world, 60_000, generation: 2)
        let player = world.player("/a", fields: ["Cache-Control": "no-cache"])
        player.play()
        player.expectWhole(60_000)
        world.queues.advance(millisecond)
        world.files.setRule(nil)
        try world.memory.removeFile(try #require(world.memory.paths.first { $0.contains("/body.2") }))
        world.queues.advance(20 * second)
        player.leave()
        try expectStored(60_000, generation: 1, world)
    }

    @Test func `a version that cannot be described is tried once more as its entry closes, and goes with it`() throws {
        let world = try World()
        let player = playUndescribed(world)
        let tries = Lock(0)
        world.files.setRule { operation, path, _ in
            guard operation == .open, path.hasSuffix("/info.new") else { return nil }
            tries.withLock { $0 += 1 }
            return .error(FileError.noSpace)
        }
        player.leave()
        while !world.cache.openEntries.isEmpty, world.queues.runOne(until: .max) {}
        let triesBefore = tries.withLock(\.self)
        // Its successor opens what the description names, which must not change then.
        world.queues.advance(60 * second)
        #expect(triesBefore > 0 && tries.withLock(\.self) == triesBefore)
        #expect(!world.memory.paths.contains { $0.contains("/body.2") }, "its files would be left for ever")
        world.files.setRule(nil)
        world.origin.setDown(true)
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
    }

    @Test func `files are not made again over another version that the description names by now, inv28`() throws {
        let world = try World()
        world.put("/a", length: 300_000) { $0.bytesPerSecond = 100_000 }
        let player = world.player("/a")
        player.play(to: 50_000)
        world.queues.advance(6 * second)
        let store = try #require(world.cache.environment.store)
        var info = try #require(try store.open(key: "http://origin.test/a")?.info)
        info.identity += 1
        try store.commit(try store.stage(info).info)
        player.finish()
        player.expectWhole(300_000)
        player.leave()
        world.queues.advance(60 * second)
        #expect(try store.open(key: "http://origin.test/a")?.info.identity == info.identity)
    }

    @Test func `a version that could not be described is once it can be, before the store is another's, inv26`() throws
    {
        let world = try World()
        let player = playUndescribed(world)
        world.files.setRule(nil)
        world.queues.setDiskDelay(read: 0, write: second)
        let cache = world.cache
        Task(executorPreference: world.queues) { await cache.suspend() }
        world.queues.advance(10 * second)
        player.leave()
        world.origin.setDown(true)
        let other = try world.openElsewhere()
        let replayed = Player(
            world, "/a", .from(0), resource: other.resource(for: OriginURL("http://origin.test/a")!))
        replayed.finish()
        replayed.expectWhole(300_000)
        #expect(replayed.generation == 2)
    }
}

/// Answers every range but those from 0 with a 416 that carries a text of 2,000 bytes and says the object has 50,000.
private final class RefusingRangesClient: OriginClient {
    private final class Exchange: OriginExchange {
        let onDemand: @Sendable () -> Void
        init(_ onDemand: @escaping @Sendable () -> Void) { self.onDemand = onDemand }
        func demand() { onDemand() }
        func cancel() {}
    }

    private let inner: any OriginClient
    private let queues: ManualQueues
    private let isOn: @Sendable () -> Bool

    init(_ inner: any OriginClient, _ queues: ManualQueues, isOn: @escaping @Sendable () -> Bool) {
        self.inner = inner
        self.queues = queues
        self.isOn = isOn
    }

    func start(_ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void) -> any OriginExchange {
        guard isOn(), let range = request.fields["Range"], !range.hasPrefix("bytes=0-") else {
            return inner.start(request, onEvent: onEvent)
        }
        let fields: HTTPFields = [
            "Content-Range": "bytes */50000", "Content-Type": "text/plain", "Content-Length": "2000",
        ]
        let queues = queues
        queues.soon { onEvent(.head(OriginResponseHead(status: 416, fields: fields))) }
        return Exchange {
            queues.soon {
                onEvent(.body([UInt8](repeating: 0x78, count: 2000)[...]))
                onEvent(.end(isDelimited: true))
            }
        }
    }
}
