import RepriseHTTP
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

@Suite struct RepresentationTableTests {
    private func info(length: Int64? = 100, type: String = "audio/mpeg") -> EntryInfo {
        EntryInfo(
            key: "k", url: "http://a/b", generation: 0, identity: 1, fileExtension: "mp3",
            validator: Validator(fields: [:]), length: length, servesRanges: true, fields: ["Content-Type": type],
            checked: 0)
    }

    private func representation(
        _ id: Int, storage: StorageState = .undecided, isPrivate: Bool = false, kind: Representation.Kind = .unknown
    ) -> Representation {
        Representation(
            id: RepresentationID(number: id), info: info(), storage: storage,
            audience: isPrivate ? .only(nil) : .everybody,
            kind: kind, now: 0)
    }

    private func table(_ representations: Representation...) -> RepresentationTable {
        var table = RepresentationTable()
        for representation in representations { table.insert(representation) }
        return table
    }

    @Test func `what one reader's answer brought is that reader's`() {
        let own = Representation(
            id: 1, info: info(), storage: .undecided, audience: .only(7), kind: .unknown, now: 0)
        #expect(own.isFor(7) && !own.isFor(8) && own.isPrivate)
        #expect(!representation(1, isPrivate: true).isFor(7))
        #expect(representation(1).isFor(7) && !representation(1).isPrivate)
    }

    @Test func `the newest that may be shared is offered, a superseded one only if it is complete`() {
        #expect(table(representation(1)).offered?.id == 1)
        #expect(table(representation(1, isPrivate: true)).offered == nil)
        #expect(table(representation(1, kind: .transient)).offered == nil)
        #expect(table(representation(1), representation(2, isPrivate: true, kind: .handedOn)).offered?.id == 1)
        let old = representation(1)
        var table = table(old, representation(2))
        table.giveUp(1)
        #expect(table.offered?.id == 2 && table.newest?.id == 2 && old.isSuperseded)
        table.giveUp(2)
        #expect(table.offered == nil && table.newest == nil)
        old.restore()
        #expect(table.offered?.id == 1 && table.newest?.id == 1)
    }

    @Test func `one representation at a time has its files named`() throws {
        let first = representation(1)
        let second = representation(2)
        let table = table(first, second)
        #expect(table.isFirstToCommit(1) && table.isFirstToCommit(2))
        _ = first.changeStorage { $0.create(now: 0) }
        #expect(table.isFirstToCommit(1) && !table.isFirstToCommit(2))
        first.commit()
        #expect(!table.isFirstToCommit(2))
    }

    /// A representation with so many of its 100 bytes in files of 32-byte blocks.
    private func stored(_ id: Int, in store: Store, bytes: Int) throws -> Representation {
        let entry = try store.stage(info())
        if bytes > 0 {
            try FillWriter(generation: entry.generation).write([[UInt8](repeating: 7, count: bytes)[...]], at: 0)
        }
        let representation = representation(id, storage: .storing(in: entry.generation))
        representation.filesMade(as: entry.info)
        return representation
    }

    private func store() throws -> Store {
        try Store(root: "/s", volume: SimulatedDisk(), layout: BlockLayout(blockSize: 32))
    }

    @Test func `a part takes a part's place, unless the description may still be a whole one's, inv28`() throws {
        let store = try store()
        for isDue in [false, true] {
            let old = try stored(1, in: store, bytes: 32)
            var table = table(old)
            let isFirstNamed = table.commitIfDue(1)
            old.describe(failed: isDue)
            table.insert(try stored(2, in: store, bytes: 64))
            let isPartNamed = table.commitIfDue(2)
            table.insert(try stored(3, in: store, bytes: 100))
            let isWholeNamed = table.commitIfDue(3)
            #expect(isFirstNamed && isPartNamed == !isDue && isWholeNamed)
        }
    }

    @Test func `what is superseded, or has lost its files, is not named`() throws {
        let store = try store()
        for isLost in [true, false] {
            let new = try stored(1, in: store, bytes: 100)
            var table = table(new)
            if isLost { new.loseFiles() } else { new.supersede() }
            let isNamed = table.commitIfDue(1)
            #expect(!isNamed)
        }
    }

    @Test func `a pin that comes while files are being named lasts`() {
        let new = representation(1)
        var table = table(new)
        table.pin(true)
        let isOutdated = table.named(new, as: info())
        #expect(isOutdated && new.info.isPinned && new.isCommitted && table.current == 1)
    }

    @Test func `what was learnt while files were being made stays`() {
        let new = representation(1)
        new.learn(length: 77)
        new.learn(servesRanges: false, now: 0)
        new.invalidate()
        new.filesMade(as: info(length: nil))
        #expect(new.info.length == 77 && !new.info.servesRanges && new.info.checked == Freshness.invalidated)
    }

    @Test func `a change of storage says what others have to know`() {
        let new = representation(1)
        #expect(new.changeStorage { $0.create(now: 0) }.1 == .none)
        #expect(new.changeStorage { $0.decline(.notStorable) }.1 == .destination)
        #expect(new.changeStorage { $0.decline(.declined) }.1 == .none)
    }

    @Test func `an end that was inferred from closing counts until it is asked for again`() {
        let new = Representation(
            id: 1, info: info(length: nil), storage: .undecided, audience: .everybody, kind: .unknown, now: 0)
        new.infer(end: 55)
        #expect(new.end == 55 && new.info.length == nil && new.mayBeginAnew)
        new.forgetInferredEnd()
        #expect(new.end == nil && !new.mayBeginAnew)
    }
}
