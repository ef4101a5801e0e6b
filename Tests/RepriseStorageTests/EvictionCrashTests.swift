import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// INV-3: the disk as a crash or a power cut leaves it at every point of giving room back: whole entries, and blocks of
/// one. What was there before had been synced; of what came after it each call may be there, or not, or in part.
@Suite("Giving room back and a crash")
struct EvictionCrashTests {
    static let content = PositionCodedContent(length: 90, generation: 2)
    static let keys = ["a", "b", "c", "d"]

    private func open(_ disk: any StoreVolume, _ kind: StoreFixture.Kind) throws(StoreError) -> Store {
        try Store(
            root: StoreFixture.root, volume: disk, layout: BlockLayout(blockSize: 16),
            key: kind == .sealed ? StoreFixture.key : nil)
    }

    /// A store on a disk that remembers, with an entry for each of `keys`, all on the platter.
    private func store(
        _ kind: StoreFixture.Kind, _ keys: [String]
    ) throws -> (store: Store, disk: RecordingDisk) {
        let disk = RecordingDisk()
        let store = try open(disk, kind)
        for key in keys {
            let generation = try StoreFixture.add(key, EvictionCrashTests.content, to: store).generation
            var summary = EntrySummary()
            // The last one was used last.
            summary.lastUse = 1_700_000_000 + Int64(key.utf8.first ?? 0)
            try store.write(summary, to: generation)
            try generation.sync()
        }
        return (store, disk)
    }

    /// The one entry of a store, all of it verified.
    private func verified(_ kind: StoreFixture.Kind) throws -> (generation: Generation, disk: RecordingDisk) {
        let (store, disk) = try store(kind, ["a"])
        let generation = try #require(try store.open(key: "a")).generation
        #expect(try StoreFixture.served(generation, EvictionCrashTests.content).count == 90)
        return (generation, disk)
    }

    /// Calls `check` with each disk that a crash may leave after `start`.
    private func crashes(
        of disk: RecordingDisk, after start: Int, _ seed: UInt64,
        _ check: (_ left: SimulatedDisk, _ isOrderly: Bool, Comment) throws -> Void
    ) throws {
        let changes = disk.recorded
        #expect(changes.count > start)
        var random = SeededGenerator(seed: seed)
        for loss in CrashTests.Loss.allCases {
            for count in start...changes.count {
                for turn in 0..<(loss == .none ? 1 : 4) {
                    var removals = random
                    let left = try RecordingDisk.disk(
                        after: count, of: changes,
                        removes: { $0 < start || loss != .anything || Bool.random(using: &removals) }
                    ) { index, bytes in
                        if index < start || loss == .none || (loss == .torn && index < count - 1) { return bytes }
                        return Bool.random(using: &random) ? bytes : Int.random(in: 0...bytes, using: &random)
                    }
                    _ = random.next()
                    let point = "\(loss), after \(count - start) of \(changes.count - start) changes, turn \(turn)"
                    try check(left, loss != .anything, "\(point)")
                }
            }
        }
    }

    /// Removes entries in the plan's order until no more than `most` are left, as the housekeeper does.
    private func evict(_ store: Store, leaving most: Int) throws {
        var uses = try store.entryNames().compactMap { try store.use(name: $0) }
        for use in EvictionPlan(uses, age: nil, policy: LeastRecentlyUsed(), now: 1_700_001_000).order
        where uses.count > most {
            guard try !store.isPinned(name: use.name) else { continue }
            try store.remove(name: use.name)
            uses.removeAll { $0.name == use.name }
        }
    }

    private func isWhole(_ key: String, _ store: Store, _ comment: Comment) throws -> Bool {
        guard let entry = try store.open(key: key) else { return false }
        let served = try StoreFixture.served(entry.generation, EvictionCrashTests.content, comment)
        #expect(served.count == 0 || served.count == 90, comment)
        return served.count == 90
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv03 inv21 at any point of evicting, what stays is whole, and what is left over goes or is used again`(
        kind: StoreFixture.Kind
    ) throws {
        let (store, disk) = try store(kind, EvictionCrashTests.keys)
        _ = try store.setPinned(true, key: "a")
        let names = EvictionCrashTests.keys.map { store.entryName(key: $0) }
        let start = disk.recorded.count
        try evict(store, leaving: 2)
        #expect(Set(try store.entryNames()) == [names[0], names[3]])
        try crashes(of: disk, after: start, 21) { left, isOrderly, comment in
            let store = try open(left, kind)
            #expect(try isWhole("a", store, comment), comment)
            #expect(try isWhole("d", store, comment), comment)
            let stays = try ["b", "c"].map { try isWhole($0, store, comment) }
            if isOrderly { #expect(!stays[0] || stays[1], "in the plan's order: \(comment)") }
            // What a crash left of an entry is counted and goes as an entry does.
            try evict(store, leaving: 2)
            #expect(Set(try store.entryNames()) == [names[0], names[3]], comment)
            let paths = left.paths.filter { $0.contains("/entries/") }
            #expect(paths.count == 6 && paths.allSatisfy { !$0.contains(names[1]) && !$0.contains(names[2]) }, comment)
        }
        try crashes(of: disk, after: start, 22) { left, _, comment in
            let store = try open(left, kind)
            for key in ["b", "c"] {
                if try isWhole(key, store, comment) { continue }
                try StoreFixture.add(key, EvictionCrashTests.content, to: store)
            }
            for (key, name) in zip(EvictionCrashTests.keys, names) {
                #expect(try isWhole(key, store, comment), comment)
                // Nothing of the old entry stays beside the new one.
                #expect(left.paths.count { $0.contains(name) } == 3, comment)
            }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases, [false, true])
    func `inv21 at any point of unpinning or removing what is pinned, only what its description pins is kept`(
        kind: StoreFixture.Kind, isRemoved: Bool
    ) throws {
        let (store, disk) = try store(kind, ["a"])
        let name = store.entryName(key: "a")
        _ = try store.setPinned(true, key: "a")
        #expect(try store.use(name: name)?.isPinned == true)
        let start = disk.recorded.count
        if isRemoved { try store.remove(key: "a") } else { _ = try store.setPinned(false, key: "a") }
        try crashes(of: disk, after: start, 25) { left, _, comment in
            let store = try open(left, kind)
            let isPinned = try store.isPinned(name: name)
            try evict(store, leaving: 0)
            #expect(try store.entryNames() == (isPinned ? [name] : []), comment)
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv03 at any point of giving blocks back and filling them again no wrong byte is shown, and the others stay`(
        kind: StoreFixture.Kind
    ) throws {
        let (generation, disk) = try verified(kind)
        let start = disk.recorded.count
        try generation.discard(ByteRange(16, 64))
        try StoreFixture.fill(generation, EvictionCrashTests.content, ByteRange(16, 40))
        try generation.sync()
        try generation.discard(ByteRange(32, 80))
        try StoreFixture.fill(generation, EvictionCrashTests.content, ByteRange(32, 64))
        try crashes(of: disk, after: start, 23) { left, _, comment in
            let store = try open(left, kind)
            guard let entry = try store.open(key: "a") else {
                // How often a data key was used is noted before it is used again. That record torn costs the entry.
                #expect(kind == .sealed, comment)
                try StoreFixture.add("a", EvictionCrashTests.content, to: store)
                #expect(try isWhole("a", store, comment), comment)
                return
            }
            let served = try StoreFixture.served(entry.generation, EvictionCrashTests.content, comment)
            #expect(served.contains(ByteRange(0, 16)) && served.contains(ByteRange(80, 90)), "\(comment): \(served)")
            // What a slot and its block disagree about was dropped; a second look finds the same, and nothing to drop.
            let second = try #require(try store.open(key: "a"), comment).generation
            #expect(try StoreFixture.served(second, EvictionCrashTests.content, comment) == served, comment)
            #expect(second.damagedBlocks == 0, comment)
            try StoreFixture.fill(second, EvictionCrashTests.content, ByteRange(0, 90))
            let last = try #require(try store.open(key: "a"), comment).generation
            #expect(try StoreFixture.served(last, EvictionCrashTests.content, comment).count == 90, comment)
            #expect(last.damagedBlocks == 0, comment)
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv03 what waits for a reader to end is punched after its slot is gone, and a crash shows none of it`(
        kind: StoreFixture.Kind
    ) throws {
        let (generation, disk) = try verified(kind)
        let start = disk.recorded.count
        var lease = generation.lease(ByteRange(20, 30))
        #expect(try !generation.discard(ByteRange(16, 48)).isEmpty)
        let waiting = disk.recorded.count
        let bytes = try lease?.read() ?? []
        #expect(EvictionCrashTests.content.firstMismatch(bytes, at: 20) == nil && bytes.count == 10)
        lease = nil
        #expect(try generation.punchPending().isEmpty)
        #expect(disk.recorded.count > waiting)
        try crashes(of: disk, after: start, 24) { left, isOrderly, comment in
            let entry = try #require(try open(left, kind).open(key: "a"), comment)
            let served = try StoreFixture.served(entry.generation, EvictionCrashTests.content, comment)
            #expect(served.contains(ByteRange(0, 16)) && served.contains(ByteRange(48, 90)), "\(comment): \(served)")
            // In order, the slots are cleared before a hole is made: no block is ever found damaged.
            if isOrderly { #expect(entry.generation.damagedBlocks <= 1, comment) }
        }
    }
}
