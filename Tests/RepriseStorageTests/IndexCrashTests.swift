import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// The index as a kill or a power cut leaves it at every point of its being written: it costs no media, an index that says it holds
/// does, and after the next start it says what the entries say.
@Suite("The index after a crash")
struct IndexCrashTests {
    private static let content = PositionCodedContent(length: 90)
    private static let sector = 512
    private static let keys = ["a", "b", "c"]

    private func open(
        _ disk: any StoreVolume, _ kind: StoreFixture.Kind, _ access: Store.Access = .write
    ) throws(StoreError) -> Store {
        try Store(
            root: StoreFixture.root, volume: disk, layout: BlockLayout(blockSize: 16), access: access,
            key: kind == .sealed ? StoreFixture.key : nil)
    }

    private func summary(_ stored: Int64) -> EntrySummary {
        var summary = EntrySummary()
        summary.lastUse = 1_700_000_000 + stored
        summary.length = Self.content.length
        summary.stored = stored
        return summary
    }

    private func add(_ key: String, _ stored: Int64, to store: Store) throws {
        let entry = try StoreFixture.add(key, Self.content, [ByteRange(0, stored)], to: store)
        try store.write(summary(stored), to: entry.generation)
        try entry.generation.sync()
    }

    /// What the entries take, as it is counted at a close.
    private func allocated(_ store: Store) throws -> Int64 {
        try store.entryNames().reduce(0) { sum, name in sum + (try store.use(name: name)?.allocated ?? 0) }
    }

    private func close(_ store: Store) throws {
        try store.closeIndex(allocated: try allocated(store))
        store.release()
    }

    /// A store that was closed, and was then used, written anew and closed by another process.
    /// - Returns: What had been changed when it was opened again, and when the index had first been written then; twice.
    private func work(_ disk: RecordingDisk, _ kind: StoreFixture.Kind) throws -> [Range<Int>] {
        let first = try open(disk, kind)
        _ = try first.beginIndex()
        for key in Self.keys { try add(key, 40, to: first) }
        try StoreFixture.settle(first)
        try close(first)
        let start = disk.recorded.count
        let second = try open(disk, kind)
        #expect(try second.beginIndex() != nil)
        // Longer than what counts, so that it is written anew.
        let generation = try #require(try second.open(key: "a")).generation
        for number in 1...60 { try second.write(summary(Int64(number % 3) + 38), to: generation) }
        try second.flushIndex()
        let isWritten = disk.recorded.count
        try StoreFixture.fill(generation, Self.content, ByteRange(40, 90))
        try second.write(summary(90), to: generation)
        try generation.sync()
        try add("d", 30, to: second)
        try second.flushIndex()
        _ = try second.setPinned(true, key: "b")
        try second.remove(key: "c")
        try second.flushIndex()
        try second.compactIndex()
        try add("e", 50, to: second)
        try StoreFixture.settle(second)
        try close(second)
        let again = disk.recorded.count
        let third = try open(disk, kind)
        _ = try third.beginIndex()
        _ = try third.setPinned(false, key: "b")
        try third.remove(key: "d")
        try third.flushIndex()
        let isWrittenAgain = disk.recorded.count
        try close(third)
        return [start..<isWritten, again..<isWrittenAgain]
    }

    /// Opens what a crash left, as a start does.
    /// - Parameter isBehind: Whether the index may tell of the store as it was closed, without what was done since.
    private func survive(
        _ disk: SimulatedDisk, _ kind: StoreFixture.Kind, isBehind: Bool, _ comment: Comment
    ) throws {
        let reading = try open(disk, kind, .readOnly)
        let names = try reading.entryNames().sorted()
        let survey = try reading.survey()
        #expect((survey.known.map(\.name) + survey.unknown).sorted() == names, comment)
        let store = try open(disk, kind)
        let known = try store.beginIndex()
        let compared = try store.survey(isCompared: true)
        let found = try names.compactMap { name throws(StoreError) in try store.look(name: name) }
        // Where a part of it is lost, it is not taken.
        if !isBehind {
            if let known { #expect(known == found.reduce(0) { $0 + $1.use.allocated }, comment) }
            #expect(compared.known.allSatisfy(found.contains), comment)
        }
        #expect((compared.known.map(\.name) + compared.unknown).sorted() == names, comment)
        try StoreFixture.settle(store)
        try close(store)
        let next = try open(disk, kind)
        #expect(try next.beginIndex() != nil, comment)
        // What has no description is asked each time.
        let told = try next.survey(isCompared: true)
        if !isBehind { #expect(told.known == found.filter { $0.key != nil }, comment) }
        #expect(told.unknown == found.filter { $0.key == nil }.map(\.name), comment)
        for key in Self.keys where key != "c" {
            let entry = try #require(try next.open(key: key), comment)
            let served = try StoreFixture.served(entry.generation, Self.content, comment)
            #expect(served.contains(ByteRange(0, 32)), comment)
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases, CrashTests.Loss.allCases)
    func `at any point of its writing it loses no media and is right after the next start, inv03 inv04`(
        kind: StoreFixture.Kind, loss: CrashTests.Loss
    ) throws {
        let recording = RecordingDisk()
        let behind = try work(recording, kind)
        let start = try #require(behind.first).lowerBound
        let changes = recording.recorded
        var random = SeededGenerator(seed: 17)
        var cuts = 0
        for count in start...changes.count {
            for turn in 0..<(loss == .none ? 1 : 2) {
                let left = try RecordingDisk.disk(after: count, of: changes) { index, bytes in
                    if index < start || loss == .none || (loss == .torn && index < count - 1) { return bytes }
                    switch Int.random(in: 0...2, using: &random) {
                    case 0: return bytes
                    // What lies in one sector is there or not.
                    case 1 where bytes > Self.sector: return Int.random(in: 0...bytes, using: &random)
                    default: return 0
                    }
                }
                // What is done right after a start may be on the disk before the index.
                let isBehind = loss == .anything && behind.contains { $0.contains(count - 1) }
                try survive(
                    left, kind, isBehind: isBehind, "\(kind), \(loss), after \(count) of \(changes.count), turn \(turn)"
                )
                cuts += 1
            }
        }
        // More than 500 in all losses of both kinds.
        #expect(cuts > 100)
    }
}
