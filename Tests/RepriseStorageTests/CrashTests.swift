import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// INV-3: the disk as a crash or a power cut leaves it at every point of what a process does; then all is opened, read
/// and filled.
@Suite("A store after a crash")
struct CrashTests {
    static let first = PositionCodedContent(length: 70, generation: 1)
    static let second = PositionCodedContent(length: 90, generation: 2)
    static let newKey = SealKey([UInt8](repeating: 9, count: 32))!

    /// How a crash leaves what was not synced.
    enum Loss: Sendable, Hashable, CaseIterable {
        /// The process died: all that was written is there.
        case none
        /// The last write is there in part.
        case torn
        /// Each write is there, or not, or in part, whatever the order.
        case anything
    }

    private func open(
        _ disk: any StoreVolume, _ kind: StoreFixture.Kind, _ key: SealKey = StoreFixture.key
    ) throws(StoreError) -> Store {
        try Store(
            root: StoreFixture.root, volume: disk, layout: BlockLayout(blockSize: 16),
            key: kind == .sealed ? key : nil)
    }

    private func disk(
        _ changes: [RecordingDisk.Change], _ count: Int, _ loss: Loss, _ random: inout SeededGenerator
    ) throws -> SimulatedDisk {
        var generator = random
        defer { random = generator }
        return try RecordingDisk.disk(after: count, of: changes) { index, bytes in
            switch loss {
            case .none: return bytes
            case .torn: return index == count - 1 ? .random(in: 0...bytes, using: &generator) : bytes
            case .anything:
                let isWhole = Bool.random(using: &generator)
                return isWhole ? bytes : Int.random(in: 0...bytes, using: &generator)
            }
        }
    }

    /// Opens what a crash left, reads it, and fills it: nothing wrong is shown and nothing stands in the way.
    private func survive(_ store: Store, _ comment: Comment) throws {
        let sums = try store.readStatistics()
        #expect(sums == nil || sums == ["served": 1] || sums == ["served": 2], comment)
        try store.writeStatistics(["served": 3])
        #expect(try store.readStatistics() == ["served": 3], comment)
        for key in ["a", "b"] {
            if let entry = try store.open(key: key) {
                let content = entry.info.identity == 7919 ? CrashTests.first : CrashTests.second
                _ = try StoreFixture.served(entry.generation, content, comment)
                try StoreFixture.fill(entry.generation, content, ByteRange(0, content.length))
                #expect(try StoreFixture.served(entry.generation, content, comment).count == content.length, comment)
            } else {
                try StoreFixture.add(key, CrashTests.second, to: store)
            }
            let again = try #require(try store.open(key: key), comment)
            #expect(again.generation.damagedBlocks == 0, comment)
        }
    }

    /// Makes a root, fills an entry in pieces, replaces it, gives blocks back, and makes another.
    private func work(_ store: Store) throws {
        let old = try store.stage(StoreFixture.info("a", CrashTests.first))
        let writer = FillWriter(generation: old.generation)
        for (lower, upper) in [(0, 5), (5, 20), (20, 33), (33, 70)] {
            try writer.write(
                [CrashTests.first.bytes(in: ByteRange(Int64(lower), Int64(upper)))[...]], at: Int64(lower))
            if lower == 0 { try store.commit(old.info) }
            if lower == 20 { try old.generation.sync() }
        }
        try store.writeStatistics(["served": 1])
        try old.generation.discard(ByteRange(16, 48))
        try StoreFixture.fill(old.generation, CrashTests.first, ByteRange(16, 40))
        let new = try store.stage(StoreFixture.info("a", CrashTests.second))
        try StoreFixture.fill(new.generation, CrashTests.second, ByteRange(0, 40))
        try store.commit(new.info)
        try StoreFixture.fill(new.generation, CrashTests.second, ByteRange(40, 90))
        try StoreFixture.add("b", CrashTests.second, [ByteRange(0, 50)], to: store)
        try store.writeStatistics(["served": 2])
        _ = try store.setPinned(true, key: "b")
        try store.remove(key: "a")
    }

    @Test(arguments: StoreFixture.Kind.allCases, Loss.allCases)
    func `inv03 at any point of making, filling, replacing and removing shows no wrong byte and needs no hand`(
        kind: StoreFixture.Kind, loss: Loss
    ) throws {
        let recording = RecordingDisk()
        try work(open(recording, kind))
        let changes = recording.recorded
        var random = SeededGenerator(seed: 11)
        for count in 0...changes.count {
            for turn in 0..<(loss == .none ? 1 : 4) {
                let left = try disk(changes, count, loss, &random)
                let comment: Comment = "\(kind), \(loss), after \(count) of \(changes.count) changes, turn \(turn)"
                try survive(open(left, kind), comment)
            }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv04 killed at any point, what had a slot is there, but for a sealed block that was being extended`(
        kind: StoreFixture.Kind
    ) throws {
        let recording = RecordingDisk()
        let store = try open(recording, kind)
        let entry = try store.stage(StoreFixture.info("a", CrashTests.second))
        try store.commit(entry.info)
        var written: [(changes: Int, ranges: ByteRangeSet)] = [(recording.recorded.count, ByteRangeSet())]
        let writer = FillWriter(generation: entry.generation)
        for (lower, upper) in [(0, 5), (5, 16), (16, 40), (40, 90)] {
            let range = ByteRange(Int64(lower), Int64(upper))
            try writer.write([CrashTests.second.bytes(in: range)[...]], at: range.lowerBound)
            written.append((recording.recorded.count, ByteRangeSet(ByteRange(0, range.upperBound))))
        }
        let changes = recording.recorded
        for count in written[0].changes...changes.count {
            let left = try RecordingDisk.disk(after: count, of: changes) { _, bytes in bytes }
            let generation = try #require(try open(left, kind).open(key: "a")).generation
            let served = try StoreFixture.served(generation, CrashTests.second)
            let before = try #require(written.last { $0.changes <= count })
            var expected = before.ranges
            if kind == .sealed, before.changes < count, let end = expected.ranges.last?.upperBound {
                expected.remove(ByteRange(end - end % 16, end - end % 16 + 16))
            }
            #expect(expected.ranges.allSatisfy { served.contains($0) }, "\(kind), after \(count) changes: \(served)")
        }
    }

    @Test(arguments: Loss.allCases)
    func `inv03 at any point of getting another key a sealed store opens and has lost nothing`(loss: Loss) throws {
        let recording = RecordingDisk()
        var store: Store? = try open(recording, .sealed)
        try StoreFixture.add("a", CrashTests.second, to: #require(store))
        try store?.open(key: "a")?.generation.sync()
        let entry = try #require(try store?.open(key: "a"))
        try StoreFixture.fill(entry.generation, CrashTests.second, ByteRange(0, 90))
        let start = recording.recorded.count
        try store?.reseal(key: CrashTests.newKey)
        store = nil
        let changes = recording.recorded
        var random = SeededGenerator(seed: 12)
        for count in start...changes.count {
            for turn in 0..<4 {
                let comment: Comment =
                    "\(loss), after \(count - start) of \(changes.count - start) changes, turn \(turn)"
                var opened = 0
                for key in [StoreFixture.key, CrashTests.newKey] {
                    // The entry's own writes are not what is looked at here.
                    let left = try RecordingDisk.disk(after: count, of: changes) { index, bytes in
                        index < start || loss == .none || (loss == .torn && index < count - 1)
                            ? bytes : Int.random(in: 0...bytes, using: &random)
                    }
                    do throws(StoreError) {
                        let store = try open(left, .sealed, key)
                        opened += 1
                        let entry = try store.open(key: "a")
                        let served = try? entry.map { try StoreFixture.served($0.generation, CrashTests.second) }
                        #expect(served?.count == 90, comment)
                        // Begun again it comes to its end, and the old key is of no use any more.
                        try store.reseal(key: CrashTests.newKey)
                    } catch {
                        #expect(error.code == .wrongKey, comment)
                        continue
                    }
                    do throws(StoreError) {
                        _ = try open(left, .sealed, StoreFixture.key)
                        Issue.record("the old key opens it: \(comment)")
                    } catch { #expect(error.code == .wrongKey, comment) }
                    #expect(throws: Never.self, comment) { _ = try open(left, .sealed, CrashTests.newKey) }
                }
                #expect(opened > 0, comment)
            }
        }
    }
}
