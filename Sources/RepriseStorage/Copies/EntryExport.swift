package import ReprisePlatform
import RepriseRanges

/// What a copy's bytes go through: as many, which begin at an offset in bytes.
package typealias CopyTransform = @Sendable (_ bytes: inout [UInt8], _ offset: Int64) -> Void

/// A copy of a complete entry in a file of somebody's own, made step by step.
///
/// Each block is verified as it is in the copy, so what a broken disk or another program did to the entry is never handed on. Where
/// the volume can, the copy shares the entry's room until one of the two is written to; never by a hard link, so nothing
/// done to the copy reaches the store. The file is there when `finish` has returned, in one step and in the place of one
/// that was there before; until then it has another name beside it. Its owner alone may read it. All methods are I/O.
package struct EntryExport: Sendable {
    /// Bytes of a step: what a queue is kept busy with at a time.
    static let step: Int64 = 1 << 20

    /// Where the file will be.
    package let path: String
    /// Its length in bytes.
    package let length: Int64
    /// Whether the copy takes no room of its own.
    package let sharesRoom: Bool
    /// Bytes that are there and verified.
    package private(set) var done: Int64 = 0

    private let snapshot: EntrySnapshot
    private let volume: any StoreVolume
    private let temporary: String
    private let file: any VolumeFile
    private let transform: CopyTransform?

    /// Begins.
    /// - Parameters:
    ///   - given: Absolute path of a directory that is there, or of the file; without an extension it gets the right one.
    ///   - transform: What makes of the entry's bytes those of the copy.
    /// - Throws: `.incomplete`, saying what is missing; `.full` and `.unavailable` for the place.
    package init(
        _ snapshot: EntrySnapshot, to given: String, volume: any StoreVolume, transform: CopyTransform? = nil
    ) throws(StoreError) {
        try snapshot.expectResource()
        guard let length = snapshot.info.length, let missing = snapshot.missing, missing.isEmpty else {
            throw EntryExport.incomplete(snapshot)
        }
        self.snapshot = snapshot
        self.volume = volume
        self.length = length
        self.transform = transform
        do throws(FileError) {
            let place = ExportDestination(
                given, isDirectory: try EntryExport.isDirectory(given, volume), of: snapshot.info,
                mark: SystemCalls.randomBytes(6).map { String($0, radix: 16) }.joined())
            path = place.path
            temporary = place.temporary
            let generation = snapshot.generation
            let isPlain = !generation.isSealed && transform == nil
            sharesRoom = isPlain ? try volume.clone(generation.body, to: place.temporary) : false
            file = try EntryExport.open(place.temporary, isThere: sharesRoom, volume)
        } catch {
            throw EntryExport.failure(error, given)
        }
    }

    /// Copies or verifies the next piece; `false` once all is done.
    package mutating func advance() throws(StoreError) -> Bool {
        guard done < length else { return false }
        let layout = snapshot.layout
        let end = min(length, max(layout.blockStart(of: done.adding(EntryExport.step)), done.adding(layout.blockSize)))
        var bytes: [UInt8] = []
        do throws(FileError) {
            for block in layout.numbers(covering: ByteRange(done, end)) {
                let wanted = min(layout.blockSize, length - layout.start(of: block))
                let found = try snapshot.verified(block, in: sharesRoom ? file : nil)
                guard let found, Int64(found.count) >= wanted else { throw FileError.damaged("block \(block)") }
                if !sharesRoom { bytes += found.prefix(Int(wanted)) }
            }
            if !sharesRoom {
                transform?(&bytes, done)
                try file.write(bytes, at: done)
            }
        } catch {
            // Evicted since it was begun.
            if snapshot.missing?.isEmpty == false { throw EntryExport.incomplete(snapshot) }
            throw EntryExport.failure(error, path)
        }
        done = end
        return done < length
    }

    /// Gives the file its name; it is whole and on the disk then.
    package func finish() throws(StoreError) {
        do throws(FileError) {
            try file.truncate(to: length)
            try file.sync()
            try volume.rename(temporary, to: path)
        } catch {
            throw EntryExport.failure(error, path)
        }
    }

    /// Removes what is there of it; after a failure.
    package func abandon() throws(StoreError) {
        try EntryExport.remove(temporary, volume: volume)
    }

    fileprivate static func remove(_ path: String, volume: any StoreVolume) throws(StoreError) {
        do throws(FileError) { try volume.removeFile(path) } catch {
            if error.kind != .missing { throw StoreError(error, doing: "removing \(path)") }
        }
    }

    private static func open(
        _ path: String, isThere: Bool, _ volume: any StoreVolume
    ) throws(FileError) -> any VolumeFile {
        do throws(FileError) { return try volume.open(path, isThere ? .readWrite : .createNew) } catch {
            if isThere { try volume.removeFile(path) }
            throw error
        }
    }

    private static func isDirectory(_ path: String, _ volume: any StoreVolume) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try volume.list(path)
            return true
        } catch {
            if error.kind == .missing { return false }
            throw error
        }
    }

    private static func failure(_ error: FileError, _ path: String) -> StoreError {
        switch (error.kind, error.operation) {
        case (.missing, "decode"):
            StoreError(
                .damaged,
                "\(error.path) of what is stored does not match its checksum; repair drops it, then it is fetched again"
            )
        case (.missing, _): StoreError(.unavailable, "\(path) cannot be made: there is no such directory")
        default: StoreError(error, doing: "exporting to \(path)")
        }
    }

    private static func incomplete(_ snapshot: EntrySnapshot) -> StoreError {
        guard let length = snapshot.info.length, let missing = snapshot.missing else {
            return StoreError(
                .incomplete, "the origin did not say how long it is, so nobody knows whether all is stored")
        }
        let count = missing.reduce(Int64(0)) { $0.adding($1.count) }
        let named = missing.prefix(4).map(\.description).joined(separator: ", ")
        let more = missing.count > 4 ? " and \(missing.count - 4) more" : ""
        return StoreError(
            .incomplete, "\(count) of \(length) bytes are not stored: \(named)\(more); fetch them first")
    }
}

extension Store {
    /// Begins to copy the entry of `key` to a file of the caller's; `nil` where nothing is stored of it. I/O.
    package func beginExport(
        key: String, to path: String, transform: CopyTransform? = nil
    ) throws(StoreError) -> EntryExport? {
        guard let snapshot = try snapshot(key: key) else { return nil }
        return try EntryExport(snapshot, to: path, volume: callersFiles, transform: transform)
    }

    /// Removes a file that was exported; one that is gone already is none of an error. I/O.
    package func removeExport(_ path: String) throws(StoreError) {
        try EntryExport.remove(path, volume: callersFiles)
    }

    /// Where files of the caller's are: a volume without paths of its own has none of them.
    var callersFiles: any StoreVolume { volume.hasPaths ? volume : DiskVolume() }
}
