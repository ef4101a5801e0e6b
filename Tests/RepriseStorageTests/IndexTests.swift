import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// The index: what is stored is told without opening an entry, and whatever happens to it or to the entries, what is told is so again.
@Suite struct IndexTests {
    private static let content = PositionCodedContent(length: 40)
    private static let path = StoreFixture.root + "/index"
    private static let allocated: Int64 = 12_345

    /// A store with entries, each with a summary, that was let go.
    private func fixture(_ kind: StoreFixture.Kind = .plain, _ keys: [String] = ["a", "b", "c"]) throws -> StoreFixture
    {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        _ = try store.beginIndex()
        for (number, key) in keys.enumerated() { try add(key, number, to: store) }
        try StoreFixture.settle(store)
        try store.closeIndex(allocated: Self.allocated)
        store.release()
        return fixture
    }

    private func add(_ key: String, _ number: Int, to store: Store) throws {
        let entry = try StoreFixture.add(key, Self.content, [ByteRange(0, Int64(number))], to: store)
        try store.write(summary(number), to: entry.generation)
    }

    private func summary(_ number: Int) -> EntrySummary {
        var summary = EntrySummary()
        summary.lastUse = 1_700_000_000 + Int64(number)
        summary.logUseCount = UInt8(number)
        summary.length = Self.content.length
        summary.stored = Int64(number)
        summary.statistics.served = Int64(number) * 100
        return summary
    }

    /// Everything there is, by its files.
    private func found(_ fixture: StoreFixture) throws -> [IndexedEntry] {
        let store = try fixture.open(.readOnly)
        return try store.entryNames().sorted().compactMap { name throws(StoreError) in try store.look(name: name) }
    }

    /// What the index tells, for who only reads.
    private func told(_ fixture: StoreFixture) throws -> (entries: [IndexedEntry], unknown: Int) {
        let survey = try fixture.open(.readOnly).survey()
        return (survey.known.sorted { $0.name < $1.name }, survey.unknown.count)
    }

    private func index(_ fixture: StoreFixture) throws -> [UInt8] {
        try fixture.memory.readAll(Self.path, limit: 1 << 20)
    }

    /// Has the store begun and ended by another process.
    private func run(_ fixture: StoreFixture, _ work: (Store) throws -> Void = { _ in }) throws -> Int64? {
        let store = try fixture.open()
        let known = try store.beginIndex()
        try work(store)
        try StoreFixture.settle(store)
        try store.closeIndex(allocated: Self.allocated)
        store.release()
        return known
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what is stored is told without opening an entry`(kind: StoreFixture.Kind) throws {
        let fixture = try fixture(kind)
        let entries = try found(fixture)
        #expect(Set(entries.compactMap(\.key)) == ["a", "b", "c"])
        #expect(entries.allSatisfy { $0.contentType == "audio/mpeg" && $0.use.length == 40 })
        #expect(entries.map(\.stored).sorted() == [0, 1, 2])
        #expect(entries.map(\.statistics.served).sorted() == [0, 100, 200])
        // Whatever is in an entry's folder cannot be read.
        fixture.files.setRule { _, path, _ in
            path.hasPrefix(StoreFixture.root + "/entries/") && path.utf8.count > 70
                ? .error(FileError.inputOutput) : nil
        }
        let told = try told(fixture)
        #expect(told.entries == entries && told.unknown == 0)
        let store = try fixture.open()
        #expect(try store.beginIndex() == Self.allocated)
        #expect(try store.survey(isCompared: true).known.count == 3)
        if kind == .sealed { #expect(try !index(fixture).contains("audio/mpeg".utf8)) }
    }

    @Test func `folders whose names did not change are not listed`() throws {
        let fixture = try fixture()
        fixture.files.resetCounts()
        #expect(try told(fixture).entries.count == 3)
        #expect(fixture.files.count(of: .list) == 1)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what others removed and added is seen`(kind: StoreFixture.Kind) throws {
        let fixture = try fixture(kind)
        let entries = try found(fixture)
        let folder = { (name: String) in "\(StoreFixture.root)/entries/\(name.prefix(2))/\(name)" }
        let removed = folder(entries[0].name)
        for file in try fixture.memory.list(removed) { try fixture.memory.removeFile(removed + "/" + file) }
        try fixture.memory.removeDirectory(removed)
        // Names that are none of ours, in folders that are and that are not, and one of an entry that was never described.
        for name in ["zz/other", "ab/other", "ff/" + String(repeating: "f", count: 64)] {
            try fixture.memory.makeDirectory(StoreFixture.root + "/entries/" + name)
        }
        #expect(try told(fixture).entries == Array(entries[1...]))
        for _ in 0..<3 {
            #expect(try told(fixture).unknown == 3, "a folder that is no entry is asked each time")
            #expect(try run(fixture) == Self.allocated)
        }
        #expect(try told(fixture).entries == Array(entries[1...]))
    }

    @Test func `files that have no names any more say nothing of the entry that has`() throws {
        let fixture = try fixture()
        let store = try fixture.open()
        _ = try store.beginIndex()
        let old = try #require(try store.open(key: "b")).generation
        try store.remove(key: "b")
        try add("b", 5, to: store)
        try store.write(summary(33), to: old)
        try store.flushIndex()
        #expect(try told(fixture).entries.first { $0.key == "b" }?.stored == 5)
    }

    @Test func `more notes than are kept are given up, and everything is compared again`() throws {
        let fixture = try fixture()
        let store = try fixture.open()
        _ = try store.beginIndex()
        fixture.files.setRule { operation, path, _ in
            operation == .write && path.hasPrefix(Self.path) ? .error(FileError.noSpace) : nil
        }
        let survey = try store.survey(isCompared: true)
        let generation = try #require(try store.open(key: "a")).generation
        for _ in 0..<16_400 { try store.write(summary(0), to: generation) }
        fixture.files.setRule(nil)
        try store.settle(survey)
        try store.closeIndex(allocated: 5)
        store.release()
        #expect(try run(fixture) == nil)
        #expect(try told(fixture).entries == found(fixture))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what is done to entries is told once it is appended`(kind: StoreFixture.Kind) throws {
        let fixture = try fixture(kind)
        let store = try fixture.open()
        _ = try store.beginIndex()
        #expect(try store.setPinned(true, key: "b"))
        try store.remove(key: "c")
        try add("d", 30, to: store)
        // Another version: nothing is known of it before its summary is written.
        try StoreFixture.add("a", PositionCodedContent(length: 50, generation: 2), to: store)
        try store.flushIndex()
        let (told, unknown) = try told(fixture)
        #expect(Set(told.map(\.key)) == ["b", "d"] && unknown == 1)
        #expect(told.first { $0.key == "b" }?.use.isPinned == true && told.first { $0.key == "d" }?.stored == 30)
        try StoreFixture.settle(store)
        #expect(try self.told(fixture).entries == found(fixture))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `after a kill each entry is compared, after a close none, inv04`(kind: StoreFixture.Kind) throws {
        let fixture = try fixture(kind)
        do {
            let killed = try fixture.open()
            #expect(try killed.beginIndex() == Self.allocated)
            let entry = try #require(try killed.open(key: "b"))
            try StoreFixture.fill(entry.generation, Self.content, ByteRange(1, 40))
            try killed.write(summary(39), to: entry.generation)
        }
        let store = try fixture.open()
        #expect(try store.beginIndex() == nil)
        let survey = try store.survey(isCompared: true)
        #expect(survey.known.isEmpty && survey.unknown.count == 3)
        try StoreFixture.settle(store)
        #expect(try told(fixture).entries == found(fixture))
        #expect(try told(fixture).entries.first { $0.key == "b" }?.stored == 39)
        try store.closeIndex(allocated: 7)
        store.release()
        #expect(try run(fixture) == 7)
    }

    @Test func `a store that a version without an index wrote since is compared`() throws {
        let fixture = try fixture()
        let other = try fixture.open()
        other.release()
        #expect(try run(fixture) == nil)
        #expect(try run(fixture) == Self.allocated)
    }

    @Test func `a store without an index gets one`() throws {
        let fixture = try fixture()
        try fixture.memory.removeFile(Self.path)
        #expect(try told(fixture).unknown == 3)
        #expect(try run(fixture) == nil)
        #expect(try told(fixture).entries == found(fixture))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `an index that is damaged or torn anywhere tells nothing wrong, and is right after the next start, inv05`(
        kind: StoreFixture.Kind
    ) throws {
        let count = try index(fixture(kind)).count
        // Each byte of what says what it is and of the heads of frames, and some of the rest.
        let places =
            [0, 7, 8, 11, 12, 20] + Array(stride(from: 60, to: count - 64, by: 701))
            + Array(stride(from: count - 64, to: count, by: 13))
        for place in places {
            for isTorn in [false, true] {
                let fixture = try fixture(kind)
                let entries = try found(fixture)
                var bytes = try index(fixture)
                if isTorn { bytes.removeSubrange(place...) } else { bytes[place] ^= 0x41 }
                try fixture.memory.replace(Self.path, with: bytes)
                let told = try told(fixture)
                #expect(told.entries.allSatisfy(entries.contains), "byte \(place)")
                #expect(told.entries.count + told.unknown == 3)
                _ = try run(fixture)
                #expect(try self.told(fixture).entries == entries, "byte \(place) of \(count), torn: \(isTorn)")
            }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what was said before and counts no more goes, and nothing else`(kind: StoreFixture.Kind) throws {
        let fixture = try fixture(kind)
        var largest = 0
        for _ in 0..<16 {
            _ = try run(fixture) { store in
                for number in 0..<16 { try add("b", number, to: store) }
                try store.flushIndex()
            }
            largest = max(largest, try index(fixture).count)
            #expect(try told(fixture).entries == found(fixture))
        }
        #expect(largest < 16_000, "one run notes 5 KB, what counts takes 3")
    }

    @Test func `it is written anew while the store is in use`() throws {
        let fixture = try fixture()
        let store = try fixture.open()
        _ = try store.beginIndex()
        let generation = try #require(try store.open(key: "b")).generation
        for number in 1...60 {
            for _ in 0..<100 { try store.write(summary(number), to: generation) }
            try store.flushIndex()
            if store.isIndexLarge { try store.compactIndex() }
        }
        #expect(try index(fixture).count < 540 << 10, "6000 notes take 640 KB")
        #expect(try told(fixture).entries == found(fixture))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `an entry whose last bytes no summary tells of is looked at`(kind: StoreFixture.Kind) throws {
        let fixture = try fixture(kind)
        let store = try fixture.open()
        _ = try store.beginIndex()
        do {
            let entry = try #require(try store.open(key: "b"))
            try StoreFixture.fill(entry.generation, Self.content, ByteRange(1, 40))
        }
        #expect(try store.survey(isCompared: true).unknown == [store.entryName(key: "b")])
        try StoreFixture.settle(store)
        #expect(try store.survey(isCompared: true).unknown.isEmpty)
    }

    @Test func `an entry that cannot be read is looked at again, and the others are not`() throws {
        let fixture = try fixture()
        let failing = Store.entryName(key: "b")
        #expect(
            try run(fixture) { store in
                try store.settle(try store.survey(isCompared: true), failed: [failing])
            } == Self.allocated)
        let store = try fixture.open()
        #expect(try store.beginIndex() == Self.allocated)
        try store.settle(try store.survey(isCompared: true), failed: [failing])
        let survey = try store.survey(isCompared: true)
        #expect(survey.unknown == [failing] && survey.known.count == 2)
    }

    @Test func `files that are being filled beside an entry's count with it`() throws {
        let fixture = try fixture()
        let store = try fixture.open()
        _ = try store.beginIndex()
        let entry = try #require(try store.open(key: "b"))
        let other = PositionCodedContent(length: 200_000, generation: 2)
        let staged = try store.stage(StoreFixture.info("b", other))
        #expect(store.stagedNames == [store.entryName(key: "b")])
        try StoreFixture.fill(staged.generation, other, ByteRange(0, 200_000))
        try store.write(summary(1), to: entry.generation)
        let known = try store.survey(isCompared: true).known.first { $0.key == "b" }
        #expect(known?.use.allocated ?? 0 > 200_000)
        withExtendedLifetime(staged) {}
    }

    @Test func `a disk that does not take it costs nothing but the index`() throws {
        let fixture = try fixture()
        let store = try fixture.open()
        _ = try store.beginIndex()
        fixture.files.setRule { operation, path, _ in
            operation == .write && path.hasPrefix(Self.path) ? .error(FileError.noSpace) : nil
        }
        try add("d", 3, to: store)
        #expect(throws: StoreError.self) { try store.flushIndex() }
        #expect(try store.survey().known.contains { $0.key == "d" })
        fixture.files.setRule(nil)
        try store.flushIndex()
        #expect(try told(fixture).entries == found(fixture))
    }

    @Test func `what was noted after the store was given away is of no use`() throws {
        let fixture = try fixture()
        let first = try fixture.open()
        _ = try first.beginIndex()
        let survey = try first.survey(isCompared: true)
        first.release()
        _ = try first.look(name: first.entryName(key: "b"))
        let known = try run(fixture) { store in
            try store.remove(key: "a")
            try store.write(summary(9), to: try #require(try store.open(key: "b")).generation)
        }
        #expect(known == nil)
        try first.takeBack()
        #expect(try first.beginIndex() == Self.allocated)
        try first.settle(survey)
        try first.flushIndex()
        #expect(try told(fixture).entries == found(fixture))
    }
}
