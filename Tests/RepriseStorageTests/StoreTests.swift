import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@Suite("A store")
struct StoreTests {
    private func code(_ body: () throws(StoreError) -> Void) -> StoreError.Code? {
        do throws(StoreError) {
            try body()
            return nil
        } catch { return error.code }
    }

    @Test func `finds what it committed and nothing else`() throws {
        let fixture = StoreFixture()
        let content = PositionCodedContent(length: 64)
        let store = try fixture.open()
        #expect(try store.open(key: "a") == nil && store.entryNames().isEmpty)
        let staged = try store.stage(StoreFixture.info("a", content))
        #expect(try store.open(key: "a") == nil, "a staged generation is not current")
        #expect(try store.describe(name: Store.entryName(key: "a")) == nil)
        try store.commit(staged.info)
        #expect(try store.open(key: "a")?.info == staged.info)
        #expect(try store.entryNames() == [Store.entryName(key: "a")])
        #expect(try store.describe(name: Store.entryName(key: "a"))?.info == staged.info)
        try store.remove(key: "a")
        try store.remove(key: "a")
        #expect(try store.open(key: "a") == nil && store.entryNames().isEmpty)
        #expect(Store.entryName(key: "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func `files without a byte are told apart where nothing would show whose bytes they get`() throws {
        let store = try StoreFixture().open()
        let content = PositionCodedContent(length: 64)
        func isLeft(_ key: String, _ change: (inout EntryInfo) -> Void) throws -> Bool? {
            var info = StoreFixture.info(key, content)
            change(&info)
            let staged = try store.stage(info)
            try store.commit(staged.info)
            return try store.open(key: key)?.mayGetOthersBytes
        }
        let weak = EntityTag(opaque: "\"a\"", isWeak: true)
        #expect(try isLeft("strong") { _ in } == false)
        #expect(try isLeft("weak") { $0.validator.entityTag = weak } == true)
        #expect(try isLeft("none") { $0.validator = Validator() } == true)
        #expect(try isLeft("pinned") { ($0.validator.entityTag, $0.isPinned) = (weak, true) } == false)
        #expect(try isLeft("empty") { ($0.validator.entityTag, $0.length) = (weak, 0) } == false)
        let entry = try #require(try store.open(key: "weak"))
        try StoreFixture.fill(entry.generation, content, ByteRange(0, 16))
        #expect(try store.open(key: "weak")?.mayGetOthersBytes == false)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `keeps every part of a description`(kind: StoreFixture.Kind) throws {
        var info = StoreFixture.info("k\"\\/é\u{301}\n", PositionCodedContent(length: 5))
        info.identity = .max
        info.length = nil
        info.isPinned = true
        info.servesRanges = false
        info.validator.lastModified = "Sun, 06 Nov 1994 08:49:37 GMT"
        info.fields.add("X", "a, \"b\"")
        let store = try StoreFixture(kind).open()
        let staged = try store.stage(info)
        try store.commit(staged.info)
        info.generation = 1
        #expect(try store.open(key: info.key)?.info == info)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `bug21 keys that only look alike are two entries`(kind: StoreFixture.Kind) throws {
        let store = try StoreFixture(kind).open()
        let one = PositionCodedContent(length: 32, generation: 1), two = PositionCodedContent(length: 32, generation: 2)
        try StoreFixture.add("http://h/\u{E9}", one, to: store)
        try StoreFixture.add("http://h/e\u{301}", two, to: store)
        #expect(try StoreFixture.served(#require(try store.open(key: "http://h/\u{E9}")).generation, one).count == 32)
        #expect(try StoreFixture.served(#require(try store.open(key: "http://h/e\u{301}")).generation, two).count == 32)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv17 the old generation stays readable to those who began on it`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 7)
        let old = PositionCodedContent(length: 100, generation: 1),
            new = PositionCodedContent(length: 90, generation: 2)
        let store = try fixture.open()
        let first = try StoreFixture.add("a", old, [ByteRange(0, 60)], to: store)
        let staged = try store.stage(StoreFixture.info("a", new))
        #expect(staged.info.generation == 2)
        try StoreFixture.fill(staged.generation, new, ByteRange(0, 90))
        #expect(try store.open(key: "a")?.info.generation == 1)
        try store.commit(staged.info)
        try StoreFixture.fill(first.generation, old, ByteRange(60, 100))
        #expect(try StoreFixture.served(first.generation, old).count == 100)
        let current = try #require(try store.open(key: "a"))
        #expect(current.info.generation == 2)
        #expect(try StoreFixture.served(current.generation, new).count == 90)
        #expect(
            fixture.memory.paths.filter { $0.contains("/entries/") }.count == 3, "the old files have no names any more")
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv28 an abandoned generation leaves the current one as it was`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind)
        let content = PositionCodedContent(length: 64)
        let store = try fixture.open()
        try StoreFixture.add("a", content, to: store)
        let before = fixture.memory.paths
        let staged = try store.stage(StoreFixture.info("a", PositionCodedContent(length: 64, generation: 2)))
        try store.abandon(staged.info)
        try store.abandon(staged.info)
        #expect(fixture.memory.paths == before)
        #expect(try StoreFixture.served(#require(try store.open(key: "a")).generation, content).count == 64)
    }

    @Test(arguments: StoreFixture.Kind.allCases, [true, false])
    func `inv28 what is abandoned late leaves those alone that have its number by then`(
        kind: StoreFixture.Kind, isNamed: Bool
    ) throws {
        let fixture = StoreFixture(kind)
        let content = PositionCodedContent(length: 64, generation: 3)
        let store = try fixture.open()
        let first = try StoreFixture.add("a", PositionCodedContent(length: 64), to: store)
        var given: StoredEntry? = try store.stage(
            StoreFixture.info("a", PositionCodedContent(length: 64, generation: 2)))
        let info = try #require(given?.info)
        // It lives no longer, so its files go with the next description.
        given = nil
        try store.commit(first.info)
        let next = try store.stage(StoreFixture.info("a", content))
        #expect(next.info.generation == info.generation)
        try StoreFixture.fill(next.generation, content, ByteRange(0, 64))
        if isNamed { try store.commit(next.info) }
        try store.abandon(info)
        if !isNamed { try store.commit(next.info) }
        #expect(try StoreFixture.served(#require(try store.open(key: "a")).generation, content).count == 64)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv17 two staged generations do not meet and a commit sweeps what is older`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        let one = try store.stage(StoreFixture.info("a", PositionCodedContent(length: 64, generation: 1)))
        let two = try store.stage(StoreFixture.info("a", PositionCodedContent(length: 64, generation: 2)))
        #expect(one.info.generation == 1 && two.info.generation == 2)
        try store.commit(one.info)
        #expect(fixture.memory.paths.contains(fixture.path(two.info, "blocks.2")), "it is still being staged")
        try store.commit(two.info)
        #expect(!fixture.memory.paths.contains(fixture.path(one.info, "blocks.1")))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv17 an open that meets a commit finds the new generation and deletes nothing`(kind: StoreFixture.Kind)
        throws
    {
        let fixture = StoreFixture(kind)
        let new = PositionCodedContent(length: 64, generation: 2)
        let store = try fixture.open()
        let first = try StoreFixture.add("a", PositionCodedContent(length: 64), to: store)
        let staged = try store.stage(StoreFixture.info("a", new))
        try StoreFixture.fill(staged.generation, new, ByteRange(0, 64))
        let blocks = fixture.path(first.info, "blocks.1")
        fixture.files.setRule { operation, path, _ in
            guard operation == .open, path == blocks else { return nil }
            #expect(throws: Never.self) { try store.commit(staged.info) }
            return nil
        }
        let found = try #require(try store.open(key: "a"))
        fixture.files.setRule(nil)
        #expect(found.info.generation == 2)
        #expect(try StoreFixture.served(#require(try store.open(key: "a")).generation, new).count == 64)
    }

    @Test func `inv25 a second writer is refused and told who has it`() throws {
        let directory = TemporaryDirectory()
        let root = directory.path + "/cache"
        var store: Store? = try Store(root: root, volume: DiskVolume(), layout: BlockLayout(blockSize: 16))
        do throws(StoreError) {
            _ = try Store(root: root, volume: DiskVolume(), layout: BlockLayout(blockSize: 16))
            Issue.record("two writers")
        } catch {
            #expect(error.code == .inUse)
            #expect(error.message.contains(" \(SystemCalls.processID);"))
        }
        #expect(try store?.entryNames() == [])
        #expect(
            try Store(root: root, volume: DiskVolume(), layout: BlockLayout(blockSize: 16), access: .readOnly)
                .entryNames() == [])
        store = nil
        #expect(throws: Never.self) {
            _ = try Store(root: root, volume: DiskVolume(), layout: BlockLayout(blockSize: 16))
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv25 a reader beside the writer changes nothing, whatever it finds`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind)
        let content = PositionCodedContent(length: 64)
        let writer = try fixture.open()
        let info = try StoreFixture.add("a", content, to: writer).info
        let reader = try fixture.open(.readOnly)
        #expect(try StoreFixture.served(#require(try reader.open(key: "a")).generation, content).count == 64)
        try fixture.memory.flip(fixture.path(info, "body.1.mp3"), at: 20)
        let before = fixture.memory.paths
        let damaged = try #require(try reader.open(key: "a")).generation
        #expect(try StoreFixture.served(damaged, content).ranges == [ByteRange(0, 16), ByteRange(32, 64)])
        try fixture.memory.flip(fixture.path(info, "info.json"), at: 40)
        #expect(try reader.open(key: "a") == nil)
        #expect(fixture.memory.paths == before)
    }

    @Test(arguments: [
        "reprise 2\nblock 16\nproof hashed\n", "reprise 1\nblock 17\nproof hashed\n", "x",
        "reprise 1\nblock 16\nproof hashed\nmore",
    ])
    func `a root of another format is refused and left alone`(format: String) throws {
        let fixture = StoreFixture()
        try StoreFixture.add("a", PositionCodedContent(length: 64), to: fixture.open())
        try fixture.memory.replace("/cache/format", with: Array(format.utf8))
        let before = fixture.memory.paths
        #expect(code { () throws(StoreError) in _ = try fixture.open() } == .wrongFormat)
        #expect(code { () throws(StoreError) in _ = try fixture.open(.readOnly) } == .wrongFormat)
        #expect(fixture.memory.paths == before)
    }

    @Test(arguments: [0, 1, 20])
    func `inv03 a format file torn when it was first written is written again`(kept: Int) throws {
        let fixture = StoreFixture()
        try StoreFixture.add("a", PositionCodedContent(length: 64), to: fixture.open())
        try fixture.memory.mutate("/cache/format") { $0.removeLast($0.count - kept) }
        #expect(try fixture.open().open(key: "a") != nil)
        #expect(try fixture.memory.contents("/cache/format") == Array("reprise 1\nblock 16\nproof hashed\n".utf8))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv24 opening a root does not look at its entries`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        for number in 0..<40 { try StoreFixture.add("k\(number)", PositionCodedContent(length: 16), to: store) }
        fixture.files.setRule { _, path, _ in path.contains("/entries/") ? .error(FileError.inputOutput) : nil }
        #expect(throws: Never.self) { _ = try fixture.open(.readOnly) }
    }

    @Test(arguments: StoreFixture.Kind.allCases, UInt64(1)...9)
    func `inv02 inv04 does the same on a real disk`(kind: StoreFixture.Kind, seed: UInt64) throws {
        let blockSize = [Int64(7), 16, 4096][Int(seed % 3)]
        var random = SeededGenerator(seed: seed)
        let directory = TemporaryDirectory()
        let content = PositionCodedContent(length: blockSize * 20 + 3)
        func open() throws -> Store {
            try Store(
                root: directory.path + "/cache", volume: directory, layout: BlockLayout(blockSize: blockSize),
                key: kind == .sealed ? StoreFixture.key : nil)
        }
        var entry: StoredEntry? = try StoreFixture.add("a", content, [], to: open())
        var served = ByteRangeSet()
        for _ in 0..<6 {
            let generation = try #require(entry?.generation)
            let lower = Int64.random(in: 0..<content.length, using: &random)
            try StoreFixture.fill(
                generation, content, ByteRange(lower, .random(in: lower...content.length, using: &random)))
            if Bool.random(using: &random) { try generation.sync() }
            if Bool.random(using: &random) { try generation.discard(ByteRange(blockSize * 3, blockSize * 6)) }
            served = try StoreFixture.served(generation, content, "seed \(seed), block \(blockSize)")
            entry = nil
            entry = try open().open(key: "a")
        }
        #expect(try StoreFixture.served(#require(entry).generation, content) == served, "seed \(seed)")
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv21 a pin whose description cannot be read now holds, and what is pinned is counted`(
        kind: StoreFixture.Kind
    ) throws {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        try StoreFixture.add("a", PositionCodedContent(length: 90, generation: 2), to: store)
        _ = try store.setPinned(true, key: "a")
        let name = store.entryName(key: "a")
        let before = try store.use(name: name)
        #expect(before?.isPinned == true)
        // Its size is told; its bytes are not.
        fixture.files.setRule { operation, path, _ in
            operation == .read && path.hasSuffix("/info.json") ? .error(FileError.inputOutput) : nil
        }
        #expect(try store.use(name: name) == before)
        #expect(throws: StoreError.self) { try store.isPinned(name: name) }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a block a terabyte away takes no more room than one at the start`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 32_768)
        let content = PositionCodedContent(length: 1 << 40)
        let entry = try StoreFixture.add("a", content, [ByteRange(1 << 39, 1 << 39 + 10)], to: fixture.open())
        #expect(fixture.memory.allocatedBytes < 1 << 20 && entry.generation.allocatedBytes == 4096)
        let generation = try #require(try fixture.open().open(key: "a")).generation
        try generation.load(ByteRange(1 << 39, 1 << 39 + 1))
        try generation.verify(ByteRange(1 << 39, 1 << 39 + 1))
        let lease = try #require(generation.lease(ByteRange(1 << 39, 1 << 40)))
        #expect(try content.firstMismatch(lease.read(), at: 1 << 39) == nil && lease.range.count == 10)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv28 what a killed process was filling goes with the next generation, and counts for nothing`(
        kind: StoreFixture.Kind
    ) throws {
        let fixture = StoreFixture(kind)
        let content = PositionCodedContent(length: 90)
        let first = try StoreFixture.add("a", content, to: fixture.open())
        var summary = EntrySummary()
        summary.lastUse = 2_000_000_000
        try fixture.open().write(summary, to: first.generation)
        _ = try fixture.open().stage(StoreFixture.info("a", content))
        let store = try fixture.open()
        #expect(try store.use(name: store.entryName(key: "a"))?.lastUse == 2_000_000_000)
        let filled = try store.stage(StoreFixture.info("a", content))
        let other = try store.stage(StoreFixture.info("a", content))
        let named = [first.info.blocksName, filled.info.blocksName, other.info.blocksName]
        let there = fixture.memory.paths.compactMap { path in path.split(separator: "/").last.map(String.init) }
        #expect(Set(there.filter { $0.hasPrefix("blocks.") }) == Set(named))
        try store.commit(other.info)
        #expect(try StoreFixture.served(#require(try store.open(key: "a")).generation, content).isEmpty)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv28 what the description names is not given up with what was replaced`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind)
        let content = PositionCodedContent(length: 90)
        let store = try fixture.open()
        let first = try StoreFixture.add("a", content, to: store)
        let second = try store.stage(StoreFixture.info("a", content))
        fixture.files.setRule { operation, _, _ in operation == .rename ? .error(FileError.noSpace) : nil }
        #expect(code { () throws(StoreError) in try store.commit(second.info) } == .full)
        fixture.files.setRule(nil)
        try store.abandon(first.info)
        // What is only said of it names it no more than that.
        #expect(code { () throws(StoreError) in try store.commit(second.info, isRewrite: true) } == .unavailable)
        #expect(try StoreFixture.served(#require(try store.open(key: "a")).generation, content).count == 90)
        try store.commit(second.info)
        try store.abandon(first.info)
        #expect(try store.open(key: "a")?.info.generation == 2)
    }

    @Test(arguments: StoreFixture.Kind.allCases, [true, false])
    func `inv28 files whose sync failed take others' place once all their blocks are verified`(
        kind: StoreFixture.Kind, loses: Bool
    ) throws {
        let fixture = StoreFixture(kind)
        let content = PositionCodedContent(length: 90)
        let store = try fixture.open()
        try StoreFixture.add("a", content, to: store)
        let second = try store.stage(StoreFixture.info("a", content))
        try StoreFixture.fill(second.generation, content, ByteRange(0, 90))
        fixture.files.setRule { operation, _, _ in operation == .sync ? .error(FileError.inputOutput) : nil }
        #expect(throws: StoreError.self) { try store.commit(second.info, syncing: second.generation) }
        fixture.files.setRule(nil)
        if loses {
            let folder =
                StoreFixture.root + "/entries/\(store.entryName(key: "a").prefix(2))/" + store.entryName(key: "a")
            try fixture.memory.flip(folder + "/" + store.bodyName(second.info), at: 40)
            #expect(throws: StoreError.self) { try store.commit(second.info, syncing: second.generation) }
        } else {
            try store.commit(second.info, syncing: second.generation)
        }
        #expect(try store.open(key: "a")?.info.generation == (loses ? 1 : 2))
    }

    @Test func `inv27 a file's name tells no number that none follows`() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let content = PositionCodedContent(length: 90)
        let first = try StoreFixture.add("a", content, to: store)
        let folder = StoreFixture.root + "/entries/ca/" + store.entryName(key: "a")
        for name in ["body.9223372036854775807.mp3", "blocks.-9223372036854775808", "blocks.0"] {
            _ = try fixture.memory.open(folder + "/" + name, .create)
        }
        #expect(try store.stage(StoreFixture.info("a", content)).info.generation == first.info.generation + 1)
        #expect(try store.use(name: store.entryName(key: "a")) != nil)
    }
}
