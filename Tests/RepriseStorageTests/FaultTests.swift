import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// INV-22 and INV-30: every file call fails in turn; nothing that was stored is lost, and afterwards all goes on.
@Suite("A store on a sick disk")
struct FaultTests {
    static let codes: [(Int32, StoreError.Code)] = [
        (FileError.noSpace, .full), (FileError.inputOutput, .unavailable), (FileError.notPermitted, .unavailable),
        (FileError.accessDenied, .unavailable), (FileError.tooManyFiles, .unavailable),
        (FileError.readOnly, .unavailable),
    ]
    static let kept = PositionCodedContent(length: 90, generation: 1)
    static let fresh = PositionCodedContent(length: 70, generation: 2)

    /// What a process does: opens, reads one entry, makes or takes up another, replaces it.
    private func work(_ fixture: StoreFixture, _ store: Store) throws {
        let found = try store.open(key: "kept")
        let kept = try #require(found, "an entry that cannot be reached now is not missing")
        #expect(try StoreFixture.served(kept.generation, FaultTests.kept).count == 90)
        let entry = try store.open(key: "fresh") ?? store.stage(StoreFixture.info("fresh", FaultTests.fresh))
        try StoreFixture.fill(entry.generation, FaultTests.fresh, ByteRange(0, 41))
        try store.commit(entry.info)
        try StoreFixture.fill(entry.generation, FaultTests.fresh, ByteRange(41, 70))
        // A call that failed before may have cost a sealed block that was being extended, which is seen when it is verified.
        _ = try StoreFixture.served(entry.generation, FaultTests.fresh)
        try StoreFixture.fill(entry.generation, FaultTests.fresh, ByteRange(0, 70))
        #expect(try StoreFixture.served(entry.generation, FaultTests.fresh).count == 70)
        try entry.generation.discard(ByteRange(16, 48))
        try entry.generation.sync()
        try kept.generation.withdrawVerification()
        try store.write(EntrySummary(), to: entry.generation)
        _ = try store.readStatistics()
        try store.writeStatistics(["served": 12])
        for name in try store.entryNames() { _ = try store.describe(name: name) }
        _ = try store.beginIndex()
        try store.flushIndex()
        try StoreFixture.settle(store)
        try store.closeIndex(allocated: 1)
    }

    private func check(_ error: any Error, _ code: Int32, _ expected: StoreError.Code, _ comment: Comment) {
        if let error = error as? StoreError {
            #expect(error.code == expected && error.cause != nil, comment)
        } else {
            #expect((error as? FileError)?.code == code, comment)
        }
    }

    @Test(arguments: FaultyVolume.Operation.allCases, codes[..<2])
    func `inv22 inv30 a call that fails deletes nothing and the store works again afterwards`(
        operation: FaultyVolume.Operation, fault: (code: Int32, expected: StoreError.Code)
    ) throws {
        for kind in StoreFixture.Kind.allCases { try failOnce(kind, operation, fault) }
    }

    private func failOnce(
        _ kind: StoreFixture.Kind, _ operation: FaultyVolume.Operation,
        _ fault: (code: Int32, expected: StoreError.Code)
    ) throws {
        for failing in 1...60 {
            let fixture = StoreFixture(kind)
            try StoreFixture.add("kept", FaultTests.kept, to: fixture.open())
            let comment: Comment = "\(kind), \(operation) number \(failing) fails with \(fault.code)"
            fixture.files.resetCounts()
            fixture.files.setRule { called, _, number in
                guard called == operation, number == failing else { return nil }
                return failing % 2 == 0 ? .error(fault.code) : .short(count: failing % 7, code: fault.code)
            }
            var store: Store?
            do {
                store = try fixture.open()
                try work(fixture, #require(store))
            } catch { check(error, fault.code, fault.expected, comment) }
            let isReached = fixture.files.count(of: operation) >= failing
            fixture.files.setRule(nil)
            if let store { try work(fixture, store) }
            store = nil
            let reopened = try fixture.open()
            try work(fixture, reopened)
            #expect(try #require(try reopened.open(key: "kept")).generation.damagedBlocks == 0, comment)
            if !isReached { break }
        }
    }

    @Test(arguments: FaultyVolume.Operation.allCases, codes)
    func `inv30 a disk that fails for long deletes nothing`(
        operation: FaultyVolume.Operation, fault: (code: Int32, expected: StoreError.Code)
    ) throws {
        for kind in StoreFixture.Kind.allCases { try failForLong(kind, operation, fault) }
    }

    private func failForLong(
        _ kind: StoreFixture.Kind, _ operation: FaultyVolume.Operation,
        _ fault: (code: Int32, expected: StoreError.Code)
    ) throws {
        let fixture = StoreFixture(kind)
        let comment: Comment = "\(kind), \(operation) fails with \(fault.code)"
        let store = try fixture.open()
        try StoreFixture.add("kept", FaultTests.kept, to: store)
        fixture.files.setRule { called, _, _ in called == operation ? .error(fault.code) : nil }
        for _ in 0..<3 {
            do { try work(fixture, store) } catch { check(error, fault.code, fault.expected, comment) }
        }
        fixture.files.setRule(nil)
        try work(fixture, store)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv22 a full disk still serves what it holds, and makes room`(kind: StoreFixture.Kind) throws {
        let memory = SimulatedDisk()
        let fixture = StoreFixture(kind, memory: memory)
        try StoreFixture.add("kept", FaultTests.kept, to: fixture.open())
        memory.setCapacity(0)
        let store = try fixture.open()
        #expect(try StoreFixture.served(#require(try store.open(key: "kept")).generation, FaultTests.kept).count == 90)
        do throws(StoreError) {
            _ = try store.stage(StoreFixture.info("fresh", FaultTests.fresh))
            Issue.record("there is no room")
        } catch { #expect(error.code == .full) }
        try store.remove(key: "kept")
        memory.setCapacity(1 << 20)
        try StoreFixture.add("fresh", FaultTests.fresh, to: store)
    }

    @Test(arguments: StoreFixture.Kind.allCases, 1...6)
    func `inv21 a generation that cannot be made leaves no files behind`(
        kind: StoreFixture.Kind, failing: Int
    ) throws {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        let before = fixture.memory.paths
        fixture.files.resetCounts()
        fixture.files.setRule { operation, _, number in
            (operation == .write && number == failing) || (operation == .open && number == failing - 1)
                ? .error(FileError.noSpace) : nil
        }
        do {
            let staged = try store.stage(StoreFixture.info("a", FaultTests.fresh))
            try store.abandon(staged.info)
        } catch { #expect(error.code == .full) }
        #expect(fixture.memory.paths == before)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv30 a commit whose sweep fails has happened`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        try StoreFixture.add("a", FaultTests.kept, to: store)
        fixture.files.setRule { operation, _, _ in operation == .removeFile ? .error(FileError.notPermitted) : nil }
        #expect(throws: Never.self) { try StoreFixture.add("a", FaultTests.fresh, to: store) }
        fixture.files.setRule(nil)
        let entry = try #require(try store.open(key: "a"))
        #expect(try StoreFixture.served(entry.generation, FaultTests.fresh).count == 70)
        try store.commit(entry.info)
        #expect(fixture.memory.paths.filter { $0.contains("/entries/") }.count == 3, "the next commit sweeps")
    }

    @Test(arguments: StoreFixture.Kind.allCases, [1, 4, 15, 31])
    func `inv22 a write that ends early stores nothing wrong, and the pen can go on`(
        kind: StoreFixture.Kind, written: Int
    ) throws {
        let fixture = StoreFixture(kind)
        let generation = try StoreFixture.add("a", FaultTests.kept, [ByteRange(0, 5)], to: fixture.open()).generation
        let pen = try #require(try generation.makeWriter(at: 5))
        let bytes = FaultTests.kept.bytes(in: ByteRange(5, 40))
        for part in ["body.", "blocks."] {
            fixture.files.setRule { operation, path, _ in
                operation == .write && path.contains(part) ? .short(count: written, code: FileError.noSpace) : nil
            }
            #expect(throws: FileError.self) { try pen.write([bytes[...]]) }
            fixture.files.setRule(nil)
            #expect(pen.position == 5)
            let reopened = try #require(try fixture.open(.readOnly).open(key: "a")).generation
            _ = try StoreFixture.served(reopened, FaultTests.kept)
        }
        try pen.write([bytes[...]])
        #expect(try StoreFixture.served(generation, FaultTests.kept).ranges == [ByteRange(0, 40)])
    }

    @Test(arguments: codes, FaultyVolume.Operation.allCases)
    func `inv22 a root that may not be written is told from a sick or full disk`(
        fault: (code: Int32, expected: StoreError.Code), operation: FaultyVolume.Operation
    ) throws {
        let fixture = StoreFixture()
        try StoreFixture.add("kept", FaultTests.kept, to: fixture.open())
        fixture.files.setRule { called, _, _ in called == operation ? .error(fault.code) : nil }
        do throws(StoreError) { _ = try fixture.open() } catch {
            let isRefused = [FileError.readOnly, FileError.accessDenied, FileError.notPermitted].contains(fault.code)
            #expect(error.isWriteRefused == isRefused && error.code == fault.expected)
        }
        fixture.files.setRule(nil)
        #expect(try fixture.open().open(key: "kept") != nil)
    }
}
