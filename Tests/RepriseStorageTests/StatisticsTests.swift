import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Sums that outlive the process: the store's file, and each entry's record.
@Suite struct StatisticsTests {
    static let sums: [String: Int64] = ["served": 12_345, "fromOrigin": 678, "since": 1_700_000_000]
    static let path = StoreFixture.root + "/statistics"

    private func written(_ kind: StoreFixture.Kind) throws -> (StoreFixture, [UInt8]) {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        #expect(try store.readStatistics() == nil)
        try store.writeStatistics(Self.sums)
        store.release()
        return (fixture, try fixture.memory.contents(Self.path))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `sums are there after a restart, and to who only reads`(kind: StoreFixture.Kind) throws {
        let (fixture, _) = try written(kind)
        #expect(try fixture.open(.readOnly).readStatistics() == Self.sums)
        let store = try fixture.open()
        #expect(try store.readStatistics() == Self.sums)
        try store.writeStatistics(["served": 1])
        #expect(try store.readStatistics() == ["served": 1])
    }

    @Test func `the file of a plain store has not changed`() throws {
        let (_, bytes) = try written(.plain)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "reprise statistics 1\nfromOrigin 678\nserved 12345\nsince 1700000000\ncheck f75b2bff8f62b2b3\n")
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a file that is torn, longer or flipped anywhere counts as none, inv05`(kind: StoreFixture.Kind) throws {
        let (fixture, whole) = try written(kind)
        var damaged = (0..<whole.count).map { Array(whole.prefix($0)) }
        damaged += [whole + [0x0A], whole + whole, [UInt8](repeating: 0, count: 5000)]
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 1 << (index % 8)
            damaged.append(bytes)
        }
        for bytes in damaged {
            try fixture.memory.replace(Self.path, with: bytes)
            let store = try fixture.open()
            #expect(try store.readStatistics() == nil, "\(bytes.count) bytes")
            try store.writeStatistics(Self.sums)
            #expect(try store.readStatistics() == Self.sums)
            store.release()
        }
    }

    @Test func `sums of another root, or of a store that was plain, open in no sealed one`() throws {
        let (fixture, plain) = try written(.plain)
        let (_, other) = try written(.sealed)
        let (sealed, _) = try written(.sealed)
        for bytes in [plain, other] {
            try sealed.memory.replace(Self.path, with: bytes)
            let store = try sealed.open()
            #expect(try store.readStatistics() == nil)
            store.release()
        }
        try fixture.memory.replace(Self.path, with: other)
        #expect(try fixture.open().readStatistics() == nil)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a process that is killed while it writes leaves the old sums or the new, inv03`(kind: StoreFixture.Kind)
        throws
    {
        let new: [String: Int64] = ["served": 99_999, "since": 5]
        for broken in 0..<6 {
            let (fixture, _) = try written(kind)
            let store = try fixture.open()
            let calls = Lock(0)
            fixture.files.setRule { _, _, _ in
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                return number > broken ? .error(FileError.inputOutput) : nil
            }
            do throws(StoreError) {
                try store.writeStatistics(new)
                #expect(broken >= 5)
            } catch { #expect(error.code == .unavailable) }
            fixture.files.setRule(nil)
            store.release()
            let found = try fixture.open().readStatistics()
            #expect(found == Self.sums || found == new, "broken off after \(broken) calls")
            if broken >= 5 { #expect(found == new) }
        }
    }

    @Test func `what cannot be read now is not taken for none, inv30`() throws {
        let (fixture, _) = try written(.plain)
        let store = try fixture.open()
        fixture.files.setRule { _, path, _ in path == Self.path ? .error(FileError.inputOutput) : nil }
        #expect(throws: StoreError.self) { try store.readStatistics() }
        fixture.files.setRule(nil)
        #expect(try store.readStatistics() == Self.sums)
    }

    @Test func `a root that somebody removed is not made anew for them`() throws {
        let (fixture, _) = try written(.plain)
        let store = try fixture.open()
        for path in fixture.memory.paths { try fixture.memory.removeFile(path) }
        for directory in [StoreFixture.root + "/entries", StoreFixture.root] {
            try fixture.memory.removeDirectory(directory)
        }
        try store.writeStatistics(Self.sums)
        #expect(fixture.memory.paths.isEmpty)
    }

    // MARK: Entries

    static let content = PositionCodedContent(length: 40, generation: 1)

    private func statistics(_ served: Int64, _ fromOrigin: Int64) -> EntryStatistics {
        var sums = EntryStatistics()
        sums.served = served
        sums.fromOrigin = fromOrigin
        return sums
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `an entry's sums are there after a restart, and in a listing, and go with it`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        let entry = try StoreFixture.add("a", Self.content, to: store)
        #expect(entry.summary.statistics == EntryStatistics())
        var summary = EntrySummary()
        summary.statistics = statistics(1000, 40)
        try store.write(summary, to: entry.generation)
        store.release()
        let again = try fixture.open()
        #expect(try again.open(key: "a")?.summary.statistics == statistics(1000, 40))
        let name = again.entryName(key: "a")
        #expect(try again.describe(name: name)?.summary.statistics == statistics(1000, 40))
        let found = try #require(try again.storedRanges(key: "a"))
        #expect(found.0.statistics.saved == 960 && found.0.statistics.hitRatio == 0.96)
        #expect(try again.setPinned(true, key: "a"))
        #expect(try again.describe(name: name)?.summary.statistics == statistics(1000, 40))
        #expect(try StoreFixture.served(#require(try again.open(key: "a")).generation, Self.content).count == 40)
        try again.remove(key: "a")
        try StoreFixture.add("a", Self.content, to: again)
        #expect(try again.describe(name: name)?.summary.statistics == EntryStatistics())
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a record of an entry that is damaged counts as none, and costs nothing else`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        let entry = try StoreFixture.add("a", Self.content, to: store)
        var summary = EntrySummary()
        summary.lastUse = 77
        summary.statistics = statistics(1000, 40)
        try store.write(summary, to: entry.generation)
        let path = fixture.path(entry.info, "blocks.1")
        let whole = try fixture.memory.contents(path)
        store.release()
        for index in 256..<280 {
            var bytes = whole
            bytes[index] ^= 0x10
            try fixture.memory.replace(path, with: bytes)
            let again = try fixture.open()
            let found = try #require(try again.open(key: "a"))
            #expect(found.summary.statistics == EntryStatistics() && found.summary.lastUse == 77)
            #expect(try StoreFixture.served(found.generation, Self.content).count == 40)
            again.release()
        }
    }

    @Test func `sums do not overflow`() {
        var sums = statistics(.max - 5, 3)
        sums.add(statistics(10, 4))
        #expect(sums.served == .max && sums.fromOrigin == 7)
    }
}
