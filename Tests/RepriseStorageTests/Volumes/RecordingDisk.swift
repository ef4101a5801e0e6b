import ReprisePlatform
import RepriseTesting

/// A disk in memory that remembers every change in order, and can be had as it was after any of them: with the last one
/// torn, or with changes lost that no sync had made durable.
final class RecordingDisk: StoreVolume {
    struct Change: Sendable {
        /// The disk's clock before it.
        let time: Int64
        let kind: Kind
    }

    enum Kind: Sendable {
        case makeDirectory(String)
        case create(String, file: UInt64)
        case write(file: UInt64, [UInt8], at: Int64)
        case truncate(file: UInt64, Int64)
        case punch(file: UInt64, offset: Int64, count: Int64)
        case rename(String, String)
        case removeFile(String)
        case removeDirectory(String)
        case sync(file: UInt64)
    }

    private let base = SimulatedDisk()
    private let changes = Lock<[Change]>([])

    var recorded: [Change] { changes.withLock(\.self) }

    fileprivate var time: Int64 { base.time }

    fileprivate func note(_ kind: Kind, since time: Int64) {
        changes.withLock { $0.append(Change(time: time, kind: kind)) }
    }

    /// The disk after the first `count` changes. Of writes, sizes and holes that no sync followed up to there `keeps` decides how
    /// many of their bytes are there; `removes`, whether a file's removal is. A directory's is where the directory is empty. What is
    /// there was changed when it was, and later changes are later than all that were lost.
    static func disk(
        after count: Int, of changes: [Change], removes: (_ index: Int) -> Bool = { _ in true },
        keeps: (_ index: Int, _ bytes: Int) -> Int
    ) throws -> SimulatedDisk {
        var durable: Set<Int> = []
        var open: [UInt64: [Int]] = [:]
        for (index, change) in changes.prefix(count).enumerated() {
            switch change.kind {
            case .write(let file, _, _), .truncate(let file, _), .punch(let file, _, _):
                open[file, default: []].append(index)
            case .sync(let file): durable.formUnion(open.removeValue(forKey: file) ?? [])
            default: break
            }
        }
        let disk = SimulatedDisk()
        var handles: [UInt64: any VolumeFile] = [:]
        for (index, change) in changes.prefix(count).enumerated() {
            disk.setTime(change.time)
            switch change.kind {
            case .makeDirectory(let path): try disk.makeDirectory(path)
            case .create(let path, let file): handles[file] = try disk.open(path, .createNew)
            case .write(let file, let bytes, let offset):
                let kept = durable.contains(index) ? bytes.count : keeps(index, bytes.count)
                try handles[file]?.write(bytes[..<kept], at: offset)
            case .truncate(let file, let size):
                if durable.contains(index) || keeps(index, 1) > 0 { try handles[file]?.truncate(to: size) }
            case .punch(let file, let offset, let count):
                let kept = durable.contains(index) ? Int(count) : keeps(index, Int(count))
                if kept > 0 { try handles[file]?.punch(offset: offset, count: Int64(kept)) }
            case .rename(let from, let to): try disk.rename(from, to: to)
            case .removeFile(let path): if removes(index) { try disk.removeFile(path) }
            case .removeDirectory(let path): if try disk.list(path).isEmpty { try disk.removeDirectory(path) }
            case .sync: break
            }
        }
        disk.setTime((changes.last?.time ?? 0) + 10)
        return disk
    }

    // MARK: StoreVolume

    var hasPaths: Bool { true }

    func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        let (isNew, time) = (!base.paths.contains(path), time)
        let handle = try base.open(path, mode)
        let file = try handle.status().inode
        if isNew { note(.create(path, file: file), since: time) }
        return RecordingHandle(base: handle, file: file, disk: self)
    }

    func makeDirectory(_ path: String) throws(FileError) {
        let time = time
        try base.makeDirectory(path)
        note(.makeDirectory(path), since: time)
    }

    func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }

    func modified(ofDirectory path: String) throws(FileError) -> Int64? { try base.modified(ofDirectory: path) }

    func rename(_ from: String, to: String) throws(FileError) {
        let time = time
        try base.rename(from, to: to)
        note(.rename(from, to), since: time)
    }

    func link(_ path: String, to name: String) throws(FileError) { try base.link(path, to: name) }

    func removeFile(_ path: String) throws(FileError) {
        let time = time
        try base.removeFile(path)
        note(.removeFile(path), since: time)
    }

    func removeDirectory(_ path: String) throws(FileError) {
        let time = time
        try base.removeDirectory(path)
        note(.removeDirectory(path), since: time)
    }

    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }

    func space(_ path: String) throws(FileError) -> VolumeSpace { try base.space(path) }
}

private final class RecordingHandle: VolumeFile {
    private let base: any VolumeFile
    private let file: UInt64
    private let disk: RecordingDisk

    init(base: any VolumeFile, file: UInt64, disk: RecordingDisk) {
        self.base = base
        self.file = file
        self.disk = disk
    }

    var descriptor: Int32? { nil }

    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) throws(FileError) {
        try base.read(at: offset, count: count, into: &buffer)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        let time = disk.time
        unsafe try base.write(bytes, at: offset)
        disk.note(.write(file: file, unsafe [UInt8](bytes), at: offset), since: time)
    }

    func status() throws(FileError) -> VolumeFileStatus { try base.status() }

    func truncate(to size: Int64) throws(FileError) {
        let time = disk.time
        try base.truncate(to: size)
        disk.note(.truncate(file: file, size), since: time)
    }

    func punch(offset: Int64, count: Int64) throws(FileError) {
        let time = disk.time
        try base.punch(offset: offset, count: count)
        disk.note(.punch(file: file, offset: offset, count: count), since: time)
    }

    func sync() throws(FileError) {
        try base.sync()
        disk.note(.sync(file: file), since: disk.time)
    }

    func tryLock(exclusive: Bool) throws(FileError) -> Bool { try base.tryLock(exclusive: exclusive) }

    func isResident(offset: Int64, count: Int64) -> Bool { base.isResident(offset: offset, count: count) }
}
