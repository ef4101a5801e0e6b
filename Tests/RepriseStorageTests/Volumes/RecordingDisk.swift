import ReprisePlatform
import RepriseTesting

/// A disk in memory that remembers every change in order, and can be had as it was after any of them: with the last one
/// torn, or with changes lost that no sync had made durable.
final class RecordingDisk: StoreVolume {
    enum Change: Sendable {
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

    fileprivate func note(_ change: Change) { changes.withLock { $0.append(change) } }

    /// The disk after the first `count` changes. Of writes and holes that no sync followed up to there `keeps` decides how
    /// many of their bytes are there; `removes`, whether a file's removal is. A directory's is where the directory is empty.
    static func disk(
        after count: Int, of changes: [Change], removes: (_ index: Int) -> Bool = { _ in true },
        keeps: (_ index: Int, _ bytes: Int) -> Int
    ) throws -> SimulatedDisk {
        var durable: Set<Int> = []
        var open: [UInt64: [Int]] = [:]
        for (index, change) in changes.prefix(count).enumerated() {
            switch change {
            case .write(let file, _, _), .punch(let file, _, _): open[file, default: []].append(index)
            case .sync(let file): durable.formUnion(open.removeValue(forKey: file) ?? [])
            default: break
            }
        }
        let disk = SimulatedDisk()
        var handles: [UInt64: any VolumeFile] = [:]
        for (index, change) in changes.prefix(count).enumerated() {
            switch change {
            case .makeDirectory(let path): try disk.makeDirectory(path)
            case .create(let path, let file): handles[file] = try disk.open(path, .createNew)
            case .write(let file, let bytes, let offset):
                let kept = durable.contains(index) ? bytes.count : keeps(index, bytes.count)
                try handles[file]?.write(bytes[..<kept], at: offset)
            case .truncate(let file, let size): try handles[file]?.truncate(to: size)
            case .punch(let file, let offset, let count):
                let kept = durable.contains(index) ? Int(count) : keeps(index, Int(count))
                if kept > 0 { try handles[file]?.punch(offset: offset, count: Int64(kept)) }
            case .rename(let from, let to): try disk.rename(from, to: to)
            case .removeFile(let path): if removes(index) { try disk.removeFile(path) }
            case .removeDirectory(let path): if try disk.list(path).isEmpty { try disk.removeDirectory(path) }
            case .sync: break
            }
        }
        return disk
    }

    // MARK: StoreVolume

    var hasPaths: Bool { true }

    func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        let isNew = !base.paths.contains(path)
        let handle = try base.open(path, mode)
        let file = try handle.status().inode
        if isNew { note(.create(path, file: file)) }
        return RecordingHandle(base: handle, file: file, disk: self)
    }

    func makeDirectory(_ path: String) throws(FileError) {
        try base.makeDirectory(path)
        note(.makeDirectory(path))
    }

    func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }

    func modified(ofDirectory path: String) throws(FileError) -> Int64? { try base.modified(ofDirectory: path) }

    func rename(_ from: String, to: String) throws(FileError) {
        try base.rename(from, to: to)
        note(.rename(from, to))
    }

    func link(_ path: String, to name: String) throws(FileError) { try base.link(path, to: name) }

    func removeFile(_ path: String) throws(FileError) {
        try base.removeFile(path)
        note(.removeFile(path))
    }

    func removeDirectory(_ path: String) throws(FileError) {
        try base.removeDirectory(path)
        note(.removeDirectory(path))
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
        unsafe try base.write(bytes, at: offset)
        disk.note(.write(file: file, unsafe [UInt8](bytes), at: offset))
    }

    func status() throws(FileError) -> VolumeFileStatus { try base.status() }

    func truncate(to size: Int64) throws(FileError) {
        try base.truncate(to: size)
        disk.note(.truncate(file: file, size))
    }

    func punch(offset: Int64, count: Int64) throws(FileError) {
        try base.punch(offset: offset, count: count)
        disk.note(.punch(file: file, offset: offset, count: count))
    }

    func sync() throws(FileError) {
        try base.sync()
        disk.note(.sync(file: file))
    }

    func tryLock(exclusive: Bool) throws(FileError) -> Bool { try base.tryLock(exclusive: exclusive) }

    func isResident(offset: Int64, count: Int64) -> Bool { base.isResident(offset: offset, count: count) }
}
