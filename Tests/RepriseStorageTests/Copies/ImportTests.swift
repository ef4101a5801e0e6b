import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Local files that become entries.
@Suite struct ImportTests {
    static let old = PositionCodedContent(length: 70, generation: 1)
    static let new = PositionCodedContent(length: 90, generation: 2)

    private func fixture(_ kind: StoreFixture.Kind) throws -> (StoreFixture, Store) {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        try StoreFixture.add("a", Self.old, [ByteRange(0, 40)], to: store)
        try fixture.memory.replace("/in/file.mp3", with: Self.new.bytes(in: ByteRange(0, 90)))
        return (fixture, store)
    }

    private func take(_ store: Store) throws {
        let work = try store.beginImport("/in/file.mp3", as: StoreFixture.info("a", Self.new))
        do { try finish(work, store) } catch {
            try store.abandon(work.entry)
            throw error
        }
    }

    private func finish(_ begun: EntryImport, _ store: Store) throws {
        var work = begun
        while try work.advance() > 0 {}
        try work.seal(EntrySummary(), in: store)
        try store.adopt(work.entry.info, work.entry.generation)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv01 a file becomes a whole entry with checksums of its own, and who reads the old one reads on`(
        kind: StoreFixture.Kind
    ) throws {
        let (fixture, store) = try fixture(kind)
        let reading = try #require(try store.open(key: "a")).generation
        try take(store)
        #expect(try StoreFixture.served(reading, Self.old).ranges == [ByteRange(0, 40)])
        let reopened = try #require(try fixture.open(.readOnly).open(key: "a"))
        #expect(reopened.info.length == 90)
        #expect(try StoreFixture.served(reopened.generation, Self.new).ranges == [ByteRange(0, 90)])
        #expect(fixture.memory.paths.filter { $0.contains("/entries/") }.count == 3)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv17 what is named while a file is taken removes nothing of it, and goes once that is all there`(
        kind: StoreFixture.Kind
    ) throws {
        let (fixture, store) = try fixture(kind)
        let begun = try store.beginImport("/in/file.mp3", as: StoreFixture.info("a", Self.new))
        // What an origin answered meanwhile, which has the higher number.
        let answered = try StoreFixture.add("a", Self.old, to: store)
        #expect(answered.info.generation > begun.entry.info.generation)
        try finish(begun, store)
        let stored = try #require(try fixture.open(.readOnly).open(key: "a"))
        #expect(try StoreFixture.served(stored.generation, Self.new).ranges == [ByteRange(0, 90)])
        #expect(try StoreFixture.served(answered.generation, Self.old).ranges == [ByteRange(0, 70)])
        #expect(fixture.memory.paths.filter { $0.contains("/entries/") }.count == 3)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what breaks off without a word goes with the next description`(
        kind: StoreFixture.Kind
    ) throws {
        let (fixture, store) = try fixture(kind)
        try { _ = try store.beginImport("/in/file.mp3", as: StoreFixture.info("a", Self.new)) }()
        #expect(fixture.memory.paths.filter { $0.contains("/entries/") }.count == 5)
        try StoreFixture.add("a", Self.old, to: store)
        #expect(fixture.memory.paths.filter { $0.contains("/entries/") }.count == 3)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a file that shrinks, grows or changes meanwhile is not taken`(kind: StoreFixture.Kind) throws {
        let changes: [(inout [UInt8]) -> Void] = [{ $0.removeLast(50) }, { $0.append(1) }, { $0[3] ^= 1 }]
        for change in changes {
            let (fixture, store) = try fixture(kind)
            let before = fixture.memory.paths
            let work = try store.beginImport("/in/file.mp3", as: StoreFixture.info("a", Self.new))
            try fixture.memory.mutate("/in/file.mp3", change)
            let error = #expect(throws: StoreError.self) { try finish(work, store) }
            #expect(error?.message.contains("changed") == true)
            try store.abandon(work.entry)
            #expect(fixture.memory.paths == before)
            let kept = try #require(try store.open(key: "a")).generation
            #expect(try StoreFixture.served(kept, Self.old).ranges == [ByteRange(0, 40)])
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv22 whatever call fails, what is stored is the old or the new one`(kind: StoreFixture.Kind) throws {
        for operation in FaultyVolume.Operation.allCases where operation != .removeFile {
            for failing in 1...60 {
                let (fixture, store) = try fixture(kind)
                fixture.files.resetCounts()
                fixture.files.setRule { called, _, number in
                    called == operation && number == failing ? .short(count: 3, code: FileError.noSpace) : nil
                }
                do { try take(store) } catch { #expect(error is StoreError, "\(operation) \(failing): \(error)") }
                let isReached = fixture.files.count(of: operation) >= failing
                fixture.files.setRule(nil)
                let found = try #require(try fixture.open(.readOnly).open(key: "a"), "\(operation) \(failing)")
                let content = found.info.length == 90 ? Self.new : Self.old
                let served = try StoreFixture.served(found.generation, content)
                #expect(served.count == (content == Self.new ? 90 : 40), "\(operation) \(failing)")
                if !isReached { break }
            }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv04 killed at any file call, what is stored is the old or the new one`(kind: StoreFixture.Kind) throws {
        for failing in 1...200 {
            let (fixture, store) = try fixture(kind)
            let calls = Lock(0)
            fixture.files.setRule { _, _, _ in
                // From that call on nothing reaches the disk any more.
                calls.withLock { calls in
                    calls += 1
                    return calls >= failing ? .error(FileError.inputOutput) : nil
                }
            }
            let isDone = (try? take(store)) != nil
            fixture.files.setRule(nil)
            store.release()
            let reopened = try fixture.open()
            let found = try #require(try reopened.open(key: "a"), "killed at call \(failing)")
            let content = found.info.length == 90 ? Self.new : Self.old
            #expect(try StoreFixture.served(found.generation, content).count == (content == Self.new ? 90 : 40))
            try take(reopened)
            #expect(fixture.memory.paths.filter { $0.contains("/entries/") }.count == 3, "what it left is swept")
            if isDone { break }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what is no file, or empty, or was removed meanwhile is refused`(kind: StoreFixture.Kind) throws {
        let (fixture, store) = try fixture(kind)
        try fixture.memory.replace("/in/empty.mp3", with: [])
        for path in ["/in/none.mp3", "/in/empty.mp3", "/in"] {
            #expect(throws: StoreError.self) { try store.beginImport(path, as: StoreFixture.info("a", Self.new)) }
        }
        let work = try store.beginImport("/in/file.mp3", as: StoreFixture.info("a", Self.new))
        try store.remove(key: "a")
        let error = #expect(throws: StoreError.self) { try finish(work, store) }
        #expect(error?.code == .gone)
        #expect(try store.open(key: "a") == nil)
    }

    @Test func `of two imports at once one is taken, whole`() throws {
        let (fixture, store) = try fixture(.plain)
        var first = try store.beginImport("/in/file.mp3", as: StoreFixture.info("a", Self.new))
        _ = try first.advance()
        try take(store)
        let error = #expect(throws: StoreError.self) { try finish(first, store) }
        #expect(error?.code == .gone)
        let found = try #require(try fixture.open(.readOnly).open(key: "a"))
        #expect(try StoreFixture.served(found.generation, Self.new).count == 90)
    }

    /// An import that is under way when the folder of its entry is removed.
    private func removed(_ kind: StoreFixture.Kind) throws -> (Store, EntryImport) {
        let (_, store) = try fixture(kind)
        try store.remove(key: "a")
        var work = try store.beginImport("/in/file.mp3", as: StoreFixture.info("a", Self.new))
        _ = try work.advance()
        try store.remove(key: "a")
        return (store, work)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what is given up takes no files with it that another made under the same names, inv03`(
        kind: StoreFixture.Kind
    ) throws {
        let (store, work) = try removed(kind)
        try StoreFixture.add("a", Self.old, to: store)
        try store.abandon(work.entry)
        let stored = try #require(try store.open(key: "a")).generation
        #expect(try StoreFixture.served(stored, Self.old).ranges == [ByteRange(0, 70)])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what is given up takes no files with it that another is making under the same names, inv03`(
        kind: StoreFixture.Kind
    ) throws {
        let (store, first) = try removed(kind)
        let second = try store.beginImport("/in/file.mp3", as: StoreFixture.info("a", Self.new))
        #expect(second.entry.info.generation == first.entry.info.generation)
        try store.abandon(first.entry)
        try finish(second, store)
        let stored = try #require(try store.open(key: "a")).generation
        #expect(try StoreFixture.served(stored, Self.new).ranges == [ByteRange(0, 90)])
    }
}
