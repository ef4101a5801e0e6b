import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Files that others write, remove or replace while we have them open.
@Suite struct OthersTests {
    private let content = PositionCodedContent(length: 640)

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a lease from before others may have written is disturbed, one from after is not, inv05 inv27`(
        kind: StoreFixture.Kind
    ) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let store = try fixture.open()
        let generation = try StoreFixture.add("a", content, to: store).generation
        let old = try #require(generation.lease(ByteRange(0, 64)))
        #expect(old.isUndisturbed)
        try generation.startOver()
        #expect(!old.isUndisturbed)
        #expect(generation.lease(ByteRange(0, 64)) == nil, "nothing is handed out before it is verified again")
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 640)])
        let new = try #require(generation.lease(ByteRange(0, 64)))
        #expect(new.isUndisturbed)
    }

    @Test func `every lease on disturbed bytes is told of, not only the first that asks, inv05`() throws {
        let fixture = StoreFixture(blockSize: 16)
        let store = try fixture.open()
        let entry = try StoreFixture.add("a", content, to: store)
        let leases = try (0..<3).map { _ in try #require(entry.generation.lease(ByteRange(0, 64))) }
        try fixture.memory.flip(fixture.path(entry.info, entry.info.bodyName), at: 5)
        #expect(!leases[0].isUndisturbed)
        entry.generation.acceptDisturbance()
        try entry.generation.withdrawVerification()
        #expect(!leases[1].isUndisturbed && !leases[2].isUndisturbed)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `slots that another wrote meanwhile are found, and its bytes are not dropped, inv04`(kind: StoreFixture.Kind)
        throws
    {
        let fixture = StoreFixture(kind, blockSize: 16)
        let store = try fixture.open()
        let entry = try StoreFixture.add("a", content, [ByteRange(0, 100)], to: store)
        store.release()
        let other = try fixture.open()
        let twin = try #require(try other.open(key: "a")).generation
        try twin.load(.from(0))
        try StoreFixture.fill(twin, content, ByteRange(96, 640))
        other.release()
        try store.takeBack()
        #expect(try store.stillNames(entry.info, entry.generation, isCommitted: true))
        try entry.generation.startOver()
        #expect(try StoreFixture.served(entry.generation, content).ranges == [ByteRange(0, 640)])
        #expect(entry.generation.damagedBlocks == 0)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a root that another has is not taken back, and is once it is free, inv25`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let store = try fixture.open()
        store.release()
        let other = try fixture.open()
        let error = #expect(throws: StoreError.self) { try store.takeBack() }
        #expect(error?.code == .inUse)
        other.release()
        try store.takeBack()
        try store.takeBack()
        #expect(throws: StoreError.self) { try fixture.open() }
    }

    @Test(arguments: StoreFixture.Kind.allCases, ["info.json", "body.1.mp3", "blocks.1"])
    func `each file that is gone or another is noticed`(kind: StoreFixture.Kind, file: String) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let store = try fixture.open()
        let entry = try StoreFixture.add("a", content, to: store)
        #expect(try store.stillNames(entry.info, entry.generation, isCommitted: true))
        let path = fixture.path(entry.info, file)
        let bytes = try fixture.memory.contents(path)
        try fixture.memory.removeFile(path)
        #expect(try !store.stillNames(entry.info, entry.generation, isCommitted: true))
        try fixture.memory.replace(path, with: bytes)
        // A description says the same whoever wrote it; other files have to be those that are open.
        #expect(try store.stillNames(entry.info, entry.generation, isCommitted: true) == (file == "info.json"))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a description of an entry that was removed is not written, inv02`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let store = try fixture.open()
        let entry = try StoreFixture.add("a", content, to: store)
        try store.remove(key: "a")
        let error = #expect(throws: StoreError.self) { try store.commit(entry.info) }
        #expect(error?.code == .gone)
        #expect(try store.entryNames().isEmpty)
    }

    /// What is looked at last is looked at after the disk has taken the bytes, which may be long after the rest.
    @Test(arguments: StoreFixture.Kind.allCases, ["body.2.mp3", "blocks.2", nil] as [String?])
    func `files that go before they are named take no other's place, inv28`(
        kind: StoreFixture.Kind, file: String?
    ) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let store = try fixture.open()
        try StoreFixture.add("a", content, to: store)
        let next = try store.stage(StoreFixture.info("a", PositionCodedContent(length: content.length, generation: 2)))
        try StoreFixture.fill(next.generation, content, ByteRange(0, 64))
        if let file { try fixture.memory.removeFile(fixture.path(next.info, file)) } else { store.release() }
        let error = #expect(throws: StoreError.self) { try store.commit(next.info, syncing: next.generation) }
        #expect(error?.code == (file == nil ? .unavailable : .gone))
        try store.takeBack()
        let stored = try #require(try store.open(key: "a")).generation
        #expect(try StoreFixture.served(stored, content).count == content.length)
    }

    /// While a call to the disk takes its time the root is given away; another process names a version of its own, and gives it back.
    @Test(arguments: StoreFixture.Kind.allCases, [FaultyVolume.Operation.open, .syncDirectory, .list])
    func `what another named while a call took its time is neither named over nor swept, inv28`(
        kind: StoreFixture.Kind, call: FaultyVolume.Operation
    ) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let store = try fixture.open()
        try StoreFixture.add("a", content, to: store)
        let next = try store.stage(StoreFixture.info("a", PositionCodedContent(length: content.length, generation: 2)))
        try StoreFixture.fill(
            next.generation, PositionCodedContent(length: content.length, generation: 2), ByteRange(0, 64))
        let others = PositionCodedContent(length: content.length, generation: 3)
        let isNext = Lock(true)
        fixture.files.setRule { operation, path, _ in
            let isCall = operation == call && (call != .open || path.hasSuffix("/info.new"))
            guard isCall,
                isNext.withLock({ isNext in
                    defer { isNext = false }; return isNext
                })
            else { return nil }
            store.release()
            do {
                let other = try fixture.open()
                try StoreFixture.add("a", others, to: other)
                other.release()
                try store.takeBack()
            } catch { Issue.record(error) }
            return nil
        }
        do { try store.commit(next.info, syncing: next.generation) } catch { #expect(call == .open) }
        #expect(isNext.withLock { !$0 })
        fixture.files.setRule(nil)
        let stored = try #require(try store.open(key: "a")).generation
        #expect(try StoreFixture.served(stored, others).count == content.length)
    }

    @Test func `no other process has a root while a file is named in it, and its own has it back`() throws {
        let fixture = StoreFixture(.plain, blockSize: 16)
        let store = try fixture.open()
        let entry = try store.stage(StoreFixture.info("a", content))
        fixture.files.setRule { operation, path, _ in
            guard operation == .rename, path.contains("/entries/") else { return nil }
            store.release()
            #expect(throws: StoreError.self) { try fixture.open() }
            #expect(throws: Never.self) { try store.takeBack() }
            return nil
        }
        try store.commit(entry.info)
        fixture.files.setRule(nil)
        #expect(throws: StoreError.self) { try fixture.open() }
        store.release()
        #expect(throws: Never.self) { try fixture.open() }
    }
}
