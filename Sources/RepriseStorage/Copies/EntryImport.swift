import ReprisePlatform
import RepriseRanges

/// A local file on its way into the store, as a complete entry whose checksums are computed from the bytes that are read.
///
/// It is a generation of its own beside what is there, step by step; nobody sees it before `Store.adopt`, and what breaks off
/// leaves what was there as it was. The file is only read. All methods are I/O, one after the other.
package struct EntryImport: Sendable {
    /// Bytes of a step: what a queue is kept busy with at a time.
    static let step: Int64 = 1 << 20

    /// The generation that is being filled.
    package let entry: StoredEntry
    /// Length of the file in bytes.
    package let length: Int64
    /// Bytes that are stored.
    package private(set) var done: Int64 = 0

    private let path: String
    private let source: any VolumeFile
    private let status: VolumeFileStatus
    private let writer: FillWriter

    fileprivate init(
        _ entry: StoredEntry, _ path: String, _ source: any VolumeFile, _ status: VolumeFileStatus
    ) {
        self.entry = entry
        self.path = path
        self.source = source
        self.status = status
        length = status.size
        writer = FillWriter(generation: entry.generation)
    }

    /// Stores the next piece and answers how many bytes it has; 0 once all is done.
    /// - Throws: `.unavailable` where the file became shorter or cannot be read, `.full`.
    package mutating func advance() throws(StoreError) -> Int64 {
        guard done < length else { return 0 }
        let layout = entry.generation.layout
        // Whole blocks, so that none is sealed twice.
        let end = min(length, max(layout.blockStart(of: done.adding(EntryImport.step)), done.adding(layout.blockSize)))
        var bytes: [UInt8] = []
        do throws(FileError) { try source.read(at: done, count: Int(end - done), into: &bytes) } catch {
            throw StoreError(error, doing: "reading \(path)")
        }
        guard Int64(bytes.count) == end - done else { throw changed }
        do throws(FileError) { try writer.write([bytes[...]], at: done) } catch {
            throw StoreError(error, doing: "storing \(path)")
        }
        guard entry.generation.claims(ByteRange(done, end)) else {
            throw StoreError(.gone, "the entry was removed while \(path) was imported; try again")
        }
        defer { done = end }
        return end - done
    }

    /// Makes what is stored durable, after the last piece.
    /// - Throws: `.unavailable` where the file changed while it was read.
    package func seal(_ summary: EntrySummary, in store: Store) throws(StoreError) {
        let isSame: Bool
        do throws(FileError) {
            let now = try source.status()
            isSame = now.size == status.size && now.modified == status.modified
            if isSame {
                try entry.generation.sync()
                try store.write(summary, to: entry.generation)
            }
        } catch {
            throw StoreError(error, doing: "storing \(path)")
        }
        guard isSame else { throw changed }
    }

    private var changed: StoreError {
        StoreError(.unavailable, "\(path) changed while it was imported; nothing of it was taken, try again")
    }
}

extension Store {
    /// Begins to import the file at `path`. I/O.
    /// - Parameter info: What is said of it; length and generation are filled in here.
    /// - Throws: `.unavailable` where the file cannot be read or is empty, `.full`.
    package func beginImport(_ path: String, as info: EntryInfo) throws(StoreError) -> EntryImport {
        let source: any VolumeFile
        let status: VolumeFileStatus
        var first: [UInt8] = []
        do throws(FileError) {
            source = try callersFiles.open(path, .read)
            status = try source.status()
            // A directory opens as well, and reads as none.
            try source.read(at: 0, count: 1, into: &first)
        } catch {
            throw StoreError(.unavailable, "\(path) cannot be read", cause: error.description)
        }
        // Devices and files of the system's own have no length, whatever can be read of them.
        if first.isEmpty || status.size == 0 {
            throw StoreError(.unavailable, "\(path) is empty, or no regular file: there is nothing to import")
        }
        var info = info
        info.length = status.size
        return EntryImport(try stage(info, isImport: true), path, source, status)
    }

    /// Makes a staged generation the entry's current one, and removes every other, also one that is being filled: the
    /// right to fill it has to be lost before. I/O.
    /// - Parameter info: What is said of it, for the generation that was staged.
    /// - Throws: `.gone` where its files are not there any more.
    package func adopt(_ info: EntryInfo, _ generation: Generation) throws(StoreError) {
        guard try stillNames(info, generation, isCommitted: false) else {
            throw StoreError(.gone, "the entry was removed or replaced meanwhile; try again")
        }
        let epoch = epoch
        try commit(info)
        do throws(FileError) {
            try sweep(entryName(key: info.key), keeping: info, epoch, filled: true)
        } catch { return }  // It happened, as with any commit; the next one sweeps.
    }
}
