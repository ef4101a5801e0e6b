import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@Suite("A generation")
struct GenerationTests {
    @Test(arguments: StoreFixture.Kind.allCases, UInt64(1)...24)
    func `inv02 inv04 bug16 serves exactly what was written, now and after reopening`(
        kind: StoreFixture.Kind, seed: UInt64
    ) throws {
        let blockSize: Int64 = seed % 2 == 0 ? 7 : 16
        var random = SeededGenerator(seed: seed)
        let fixture = StoreFixture(kind, blockSize: blockSize)
        let content = PositionCodedContent(length: .random(in: 1...300, using: &random), generation: Int(seed))
        let comment: Comment = "seed \(seed), block \(blockSize), length \(content.length)"
        var entry: StoredEntry? = try StoreFixture.add("a", content, [], to: fixture.open())
        for _ in 0..<12 {
            let generation = try #require(entry?.generation)
            for _ in 0..<4 {
                let lower = Int64.random(in: 0..<content.length, using: &random)
                let upper = Int64.random(in: lower...content.length, using: &random)
                let writer = FillWriter(generation: generation)
                var position = lower
                while position < upper {
                    let end = min(upper, position + .random(in: 1...20, using: &random))
                    let bytes = content.bytes(in: ByteRange(position, end))
                    let cut = Int.random(in: 0...bytes.count, using: &random)
                    try writer.write([bytes[..<cut], bytes[cut...]], at: position)
                    position = end
                }
            }
            let written = fixture.trace.of(key: "a")
            #expect(try StoreFixture.served(generation, content, comment) == written, comment)
            if Bool.random(using: &random) {
                entry = nil  // as after kill -9: nothing is closed or synced
                entry = try fixture.open().open(key: "a")
            }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `bytes past 4 TiB are not stored, which no medium has`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: .max)
        let generation = try StoreFixture.add("a", content, [ByteRange(0, 16)], to: fixture.open()).generation
        for range in [
            ByteRange(offset: BlockLayout.longestStored, count: 64), ByteRange(offset: .max - 64, count: 64),
        ] { try StoreFixture.fill(generation, content, range) }
        #expect(generation.claimed.ranges == [ByteRange(0, 16)])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `slots are read so many at a time, and what is verified is cut where something is`(kind: StoreFixture.Kind)
        throws
    {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 1_000_000)
        let ranges = [ByteRange(0, 32), ByteRange(900_000, 900_080)]
        try StoreFixture.add("a", content, ranges, to: fixture.open())
        let entry = try #require(try fixture.open().open(key: "a"))
        let reads = fixture.files.count(of: .read)
        try entry.generation.load(.from(0))
        #expect(entry.generation.claimed.ranges == ranges)
        #expect(fixture.files.count(of: .read) - reads == 4, "16,384 slots at a time")
        #expect(
            entry.generation.pieces(of: 64) == [
                ByteRange(0, 64), ByteRange(899_968, 900_032), ByteRange(900_032, 900_096),
            ])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv02 a block's valid bytes are a prefix and the rest is absent`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let generation = try StoreFixture.add("a", content, [ByteRange(0, 5), ByteRange(20, 40)], to: fixture.open())
            .generation
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 5), ByteRange(32, 40)])
        #expect(generation.fillStart(for: 12) == 5)
        #expect(generation.fillStart(for: 20) == 16)
        #expect(generation.fillStart(for: 47) == 40)
        #expect(generation.claims(ByteRange(0, 5)) && !generation.claims(ByteRange(0, 6)))
    }

    /// One writer looks for its place in a block that another is filling; the block goes on from where the other ended all the
    /// same.
    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv02 what one writer saw of a block does not keep others from going on in it`(kind: StoreFixture.Kind) throws
    {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let generation = try StoreFixture.add("a", content, [], to: fixture.open()).generation
        func write(_ writer: FillWriter, _ range: ByteRange) throws {
            try writer.write([content.bytes(in: range)[...]], at: range.lowerBound)
        }
        let first = FillWriter(generation: generation)
        try write(first, ByteRange(0, 1))
        try write(FillWriter(generation: generation), ByteRange(9, 12))
        try write(first, ByteRange(1, 5))
        try write(FillWriter(generation: generation), ByteRange(5, 16))
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 16)])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv03 what is damaged is written anew by what passes it`(
        kind: StoreFixture.Kind
    ) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 100)
        let info = try StoreFixture.add("a", content, [ByteRange(0, 80)], to: fixture.open()).info
        for offset in [3, 40, 66] as [Int64] { try fixture.memory.flip(fixture.path(info, "body.1.mp3"), at: offset) }
        let generation = try #require(try fixture.open().open(key: "a")).generation
        try generation.load(.from(0))
        let writer = FillWriter(generation: generation)
        // Chunks end in the middle of blocks, as they come from an origin.
        for start in stride(from: Int64(0), to: 100, by: 13) {
            let bytes = content.bytes(in: ByteRange(start, min(100, start + 13)))
            try writer.write([bytes[...]], at: start)
        }
        #expect(writer.takeDamagedBlocks() == 3 && writer.takeDamagedBlocks() == 0)
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 100)])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `slots are read a page at a time, and only when asked for`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 7)
        let content = PositionCodedContent(length: 7 * 256 * 70)
        try StoreFixture.add("a", content, to: fixture.open())
        let store = try fixture.open()
        fixture.files.resetCounts()
        let generation = try #require(try store.open(key: "a")).generation
        #expect(fixture.files.count(of: .read) == 2, "the description and the header, no slots")
        guard case .unloaded(let range) = generation.availability(at: 100) else {
            Issue.record("the slots cannot be known yet")
            return
        }
        #expect(range == ByteRange(0, 7 * 256 * 64) && generation.claimed.isEmpty)
        try generation.load(range)
        #expect(generation.availability(at: 100) == .claimed(until: range.upperBound))
        #expect(generation.lease(ByteRange(0, 10)) == nil, "a claim is not handed out")
        try generation.verify(ByteRange(100, 101))
        #expect(generation.availability(at: 100) == .verified(until: 105))
        #expect(generation.lease(ByteRange(98, 200))?.range == ByteRange(98, 105))
        guard case .unloaded(let rest) = generation.availability(at: range.upperBound) else {
            Issue.record("the next page cannot be known yet")
            return
        }
        #expect(rest == ByteRange(range.upperBound, content.length))
        #expect(generation.availability(at: content.length) == .absent(until: .max))
        #expect(generation.availability(at: .max) == .absent(until: .max))
    }

    @Test(arguments: StoreFixture.Kind.allCases, 0...32)
    func `inv03 a torn slot reads as absent`(kind: StoreFixture.Kind, kept: Int) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let size = kind == .plain ? 16 : 32
        let kept = min(kept, size)
        let content = PositionCodedContent(length: 48)
        let info = try StoreFixture.add("a", content, to: fixture.open()).info
        var isWhole = true
        try fixture.memory.mutate(fixture.path(info, "blocks.1")) { bytes in
            let torn = 4096 + size + kept..<4096 + 2 * size
            // One seal in 256 ends in a zero, and is whole without its last byte.
            isWhole = bytes[torn].allSatisfy { $0 == 0 }
            for index in torn { bytes[index] = 0 }
        }
        let generation = try #require(try fixture.open().open(key: "a")).generation
        let served = try StoreFixture.served(generation, content)
        #expect(served.contains(ByteRange(0, 16)) && served.contains(ByteRange(32, 48)))
        #expect(served.contains(16) == isWhole)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `bug27 a hole is known by its slot and never by its zeros`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let info = StoreFixture.info("a", PositionCodedContent(length: 96))
        let silence = [UInt8](repeating: 0, count: 40)
        do {
            let store = try fixture.open()
            let entry = try store.stage(info)
            try FillWriter(generation: entry.generation).write([silence[...]], at: 0)
            try FillWriter(generation: entry.generation).write([silence.prefix(16)], at: 64)
            try store.commit(entry.info)
        }
        let generation = try #require(try fixture.open().open(key: "a")).generation
        try generation.load(.from(0))
        #expect(generation.claimed == ByteRangeSet([ByteRange(0, 40), ByteRange(64, 80)]))
        try generation.verify(ByteRange(0, 96))
        #expect(try generation.lease(ByteRange(0, 96))?.read() == silence)
        #expect(generation.availability(at: 40) == .absent(until: 64))
        #expect(generation.availability(at: 80) == .absent(until: .max))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv05 damage is never laundered by a fill that goes on behind it`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 32)
        let info = try StoreFixture.add("a", content, [ByteRange(0, 10)], to: fixture.open()).info
        try fixture.memory.flip(fixture.path(info, "body.1.mp3"), at: 3)
        let generation = try #require(try fixture.open().open(key: "a")).generation
        try generation.load(ByteRange(0, 32))
        #expect(generation.fillStart(for: 10) == 10)
        #expect(try generation.makeWriter(at: 10) == nil, "the prefix does not match")
        #expect(generation.damagedBlocks == 1)
        #expect(generation.fillStart(for: 10) == 0, "the block is planned anew from its start")
        try StoreFixture.fill(generation, content, ByteRange(0, 32))
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 32)])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv05 a prefix of our own is read back before it is extended, too`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 32)
        let entry = try StoreFixture.add("a", content, [ByteRange(0, 10)], to: fixture.open())
        #expect(entry.generation.availability(at: 0) == .verified(until: 10))
        try fixture.memory.flip(fixture.path(entry.info, "body.1.mp3"), at: 3)
        #expect(try entry.generation.makeWriter(at: 10) == nil)
        #expect(try entry.generation.makeWriter(at: 5) == nil, "5 never was the first missing byte")
        #expect(entry.generation.availability(at: 0) == .absent(until: .max))
    }

    @Test func `a change made by somebody else is noticed before a region is handed on`() throws {
        let fixture = StoreFixture(blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let info = try StoreFixture.add("a", content, [ByteRange(0, 40)], to: fixture.open()).info
        let body = fixture.path(info, "body.1.mp3")
        let generation = try #require(try fixture.open().open(key: "a")).generation
        _ = try StoreFixture.served(generation, content)
        let lease = try #require(generation.lease(ByteRange(0, 16)))
        #expect(lease.isUndisturbed)
        try fixture.memory.flip(body, at: 20)
        #expect(!lease.isUndisturbed)
        try StoreFixture.fill(generation, content, ByteRange(48, 64))
        #expect(!lease.isUndisturbed, "a write of our own does not hide it")
        try generation.withdrawVerification()
        generation.acceptDisturbance()
        #expect(
            try StoreFixture.served(generation, content).ranges == [
                ByteRange(0, 16), ByteRange(32, 40), ByteRange(48, 64),
            ])
        #expect(generation.damagedBlocks == 1)
        #expect(try #require(generation.lease(ByteRange(0, 16))).isUndisturbed)
    }

    @Test(arguments: StoreFixture.Kind.allCases, 1...3)
    func `verification that could be withdrawn in part only is had anew, inv02`(
        kind: StoreFixture.Kind, failing: Int
    ) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 160)
        let stored = [ByteRange(0, 16), ByteRange(48, 64), ByteRange(96, 112)]
        let generation = try StoreFixture.add("a", content, stored, to: fixture.open()).generation
        fixture.files.resetCounts()
        fixture.files.setRule { operation, _, number in
            operation == .read && number == failing ? .error(FileError.inputOutput) : nil
        }
        #expect(throws: FileError.self) { try generation.withdrawVerification() }
        fixture.files.setRule(nil)
        #expect(try StoreFixture.served(generation, content).ranges == stored)
        #expect(generation.damagedBlocks == 0)
    }

    @Test func `a change between verification and first region is noticed`() throws {
        let fixture = StoreFixture(blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let info = try StoreFixture.add("a", content, to: fixture.open()).info
        let generation = try #require(try fixture.open().open(key: "a")).generation
        _ = try StoreFixture.served(generation, content)
        try fixture.memory.flip(fixture.path(info, "body.1.mp3"), at: 20)
        #expect(try !#require(generation.lease(ByteRange(0, 64))).isUndisturbed)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what we punch ourselves is no disturbance`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let generation = try StoreFixture.add("a", content, to: fixture.open()).generation
        try generation.discard(ByteRange(0, 32))
        #expect(try #require(generation.lease(ByteRange(32, 64))).isUndisturbed)
    }

    @Test func `a truncated body is noticed before a region is handed on`() throws {
        let fixture = StoreFixture(blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let entry = try StoreFixture.add("a", content, to: fixture.open())
        let lease = try #require(entry.generation.lease(ByteRange(0, 64)))
        try fixture.memory.mutate(fixture.path(entry.info, "body.1.mp3")) { $0.removeLast() }
        #expect(!lease.isUndisturbed)
        #expect(throws: FileError.self) { try lease.read() }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a failed sync withdraws what was written since the last good one`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 96)
        let generation = try StoreFixture.add("a", content, [ByteRange(0, 16)], to: fixture.open()).generation
        try generation.sync()
        try StoreFixture.fill(generation, content, ByteRange(16, 72))
        fixture.files.setRule { operation, _, _ in operation == .sync ? .error(FileError.inputOutput) : nil }
        #expect(throws: FileError.self) { try generation.sync() }
        fixture.files.setRule(nil)
        #expect(generation.availability(at: 0) == .verified(until: 16))
        #expect(generation.availability(at: 16) == .claimed(until: 72))
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 72)])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv26 a disk that fails at sync and at the slots can be looked at again later`(kind: StoreFixture.Kind) throws
    {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 96)
        let generation = try StoreFixture.add("a", content, [ByteRange(0, 72)], to: fixture.open()).generation
        fixture.files.setRule { operation, _, _ in
            operation == .sync || operation == .read ? .error(FileError.inputOutput) : nil
        }
        #expect(throws: FileError.self) { try generation.sync() }
        #expect(throws: FileError.self) { try StoreFixture.served(generation, content) }
        fixture.files.setRule(nil)
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 72)])
        try StoreFixture.fill(generation, content, ByteRange(72, 96))
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 96)])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `the summary is read back, and in place of a torn one what is stored is counted`(kind: StoreFixture.Kind)
        throws
    {
        let fixture = StoreFixture(kind)
        let entry = try StoreFixture.add("a", PositionCodedContent(length: 64), to: fixture.open())
        var summary = EntrySummary()
        summary.lastUse = 1_700_000_123
        summary.logUseCount = 5
        summary.isPinned = true
        summary.stored = 64
        summary.allocated = entry.generation.allocatedBytes
        try fixture.open().write(summary, to: entry.generation)
        let store = try fixture.open()
        let name = store.entryName(key: "a")
        #expect(try store.describe(name: name)?.summary == summary)
        #expect(summary.allocated == 4096)
        try fixture.memory.flip(fixture.path(entry.info, "blocks.1"), at: 72)
        summary = EntrySummary()
        (summary.length, summary.stored) = (64, 64)
        #expect(try store.describe(name: name)?.summary == summary)
        #expect(try store.open(key: "a") != nil, "it is never trusted for correctness")
    }
}
