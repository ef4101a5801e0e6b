import Foundation
import Reprise

/// What the app has: values under keys.
protocol KeyValueDatabase: Sendable {
    func value(for key: String) throws -> Data?
    /// `nil` deletes the key.
    func set(_ value: Data?, for key: String) throws
    func keys(withPrefix prefix: String) throws -> [String]
}

/// A stand-in for the app's database.
final class InMemoryDatabase: KeyValueDatabase, @unchecked Sendable {
    private let lock = NSLock()
    // Guarded by the lock.
    private var values: [String: Data] = [:]

    func value(for key: String) -> Data? { lock.withLock { values[key] } }
    func set(_ value: Data?, for key: String) { lock.withLock { values[key] = value } }
    func keys(withPrefix prefix: String) -> [String] { lock.withLock { values.keys.filter { $0.hasPrefix(prefix) } } }
}

private let pageSize: Int64 = 16_384

/// A failed call, before its operation and path are known.
private struct Failure: Error {
    let kind: FileError.Kind
    let reason: String
}

/// What the database has of a file beside its pages.
private struct FileRecord: Codable {
    let number: UInt64
    var size: Int64 = 0
    var modified: Int64 = 0
    /// Where a rename was cut short, two paths have one number: the path with more renames counts.
    var renames = 0
}

/// A file that has a path or is open. Used under the volume's lock only.
private final class StoredFile: @unchecked Sendable {
    var record: FileRecord
    /// `nil` once the file lives on in open files only.
    var path: String?
    /// The pages there are. All others are holes.
    var pages: Set<Int64> = []
    var openings = 0

    init(_ record: FileRecord, path: String) {
        self.record = record
        self.path = path
    }

    /// The clock, or one more than before: a number may be given again after a restart, a time is not.
    func touch() { record.modified = max(record.modified + 1, Int64(Date().timeIntervalSince1970 * 1e9)) }
}

/// A volume in a database of keys and values. A database has one such volume at a time.
///
/// - `directory/<path>`: empty, one for each directory but the root.
/// - `file/<path>`: a `FileRecord`.
/// - `page/<file number>/<page>`: the file's bytes from `page * pageSize` on.
///
/// Names and sizes are in memory too, bytes in the database only. One lock makes each call atomic.
///
/// An example of a volume of an app's own, written from the documentation alone.
final class DatabaseVolume: StoreVolume, @unchecked Sendable {
    private let database: any KeyValueDatabase
    private let capacity: Int64
    private let lock = NSLock()
    // Guarded by the lock.
    private var isLoaded = false
    private var files: [String: StoredFile] = [:]
    private var directories: Set<String> = []
    private var pageCount: Int64 = 0
    private var nextNumber: UInt64 = 1

    init(_ database: any KeyValueDatabase, capacity: Int64 = 1_000_000_000) {
        self.database = database
        self.capacity = capacity
    }

    /// Does a call's work under the lock. Whatever it throws becomes a `FileError`.
    fileprivate func locked<Value>(_ operation: String, _ path: String, _ body: () throws -> Value) throws(FileError)
        -> Value
    {
        do {
            return try lock.withLock {
                if !isLoaded { try load() }
                return try body()
            }
        } catch let failure as Failure {
            throw FileError(failure.kind, failure.reason, operation: operation, path: path)
        } catch {
            throw FileError(.unavailable, "the app's database failed: \(error)", operation: operation, path: path)
        }
    }

    /// Reads what there is, and deletes what a crash left behind.
    private func load() throws {
        var found: [UInt64: StoredFile] = [:]
        for key in try database.keys(withPrefix: "file/") {
            let path = String(key.dropFirst("file".count))
            guard let data = try database.value(for: key),
                let record = try? JSONDecoder().decode(FileRecord.self, from: data)
            else {
                try database.set(nil, for: key)
                continue
            }
            let other = found[record.number]
            if let other, other.record.renames > record.renames {
                try database.set(nil, for: key)
            } else {
                if let stale = other?.path { try database.set(nil, for: "file" + stale) }
                found[record.number] = StoredFile(record, path: path)
            }
        }
        var count: Int64 = 0
        for key in try database.keys(withPrefix: "page/") {
            let parts = key.split(separator: "/")
            if parts.count == 3, let number = UInt64(parts[1]), let index = Int64(parts[2]), index >= 0,
                let file = found[number], file.record.size > 0, index <= (file.record.size - 1) / pageSize
            {
                file.pages.insert(index)
                count += 1
            } else {
                try database.set(nil, for: key)
            }
        }
        directories = Set(try database.keys(withPrefix: "directory/").map { String($0.dropFirst("directory".count)) })
            .union(["/"])
        files = Dictionary(uniqueKeysWithValues: found.values.map { ($0.path!, $0) })
        pageCount = count
        nextNumber = (found.keys.max() ?? 0) + 1
        isLoaded = true
    }

    func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        let file = try locked("open", path) {
            let isNew = mode == .createNew
            if directories.contains(path) {
                throw Failure(kind: isNew ? .exists : .unavailable, reason: "it is a directory")
            }
            if isNew, files[path] != nil { throw Failure(kind: .exists, reason: "the path is taken") }
            let file: StoredFile
            if let present = files[path] {
                file = present
            } else {
                guard isNew || mode == .create else { throw Failure(kind: .missing, reason: "no such file") }
                guard directories.contains(parent(of: path)) else {
                    throw Failure(kind: .missing, reason: "no such directory")
                }
                file = StoredFile(FileRecord(number: nextNumber), path: path)
                file.touch()
                try save(file)
                nextNumber += 1
                files[path] = file
            }
            file.openings += 1
            return file
        }
        return DatabaseFile(volume: self, file: file, path: path, isWritable: mode != .read)
    }

    func makeDirectory(_ path: String) throws(FileError) {
        try locked("makeDirectory", path) {
            if files[path] == nil { try addDirectory(path) }
        }
    }

    func list(_ directory: String) throws(FileError) -> [String] {
        try locked("list", directory) {
            guard directories.contains(directory) else { throw Failure(kind: .missing, reason: "no such directory") }
            return names(in: directory)
        }
    }

    func rename(_ from: String, to: String) throws(FileError) {
        try locked("rename", from) {
            let file = try file(at: from)
            if directories.contains(to) { throw Failure(kind: .unavailable, reason: "a directory is in its place") }
            guard directories.contains(parent(of: to)) else {
                throw Failure(kind: .missing, reason: "no such directory")
            }
            if from == to { return }
            file.path = to
            file.record.renames += 1
            do { try save(file) } catch {
                file.path = from
                throw error
            }
            // The file is renamed now. A record that stays under the old path is told by its count of renames.
            try? database.set(nil, for: "file" + from)
            let replaced = files[to]
            files[from] = nil
            files[to] = file
            replaced?.path = nil
            if let replaced { discardIfUnused(replaced) }
        }
    }

    func removeFile(_ path: String) throws(FileError) {
        try locked("removeFile", path) {
            let file = try file(at: path)
            try database.set(nil, for: "file" + path)
            files[path] = nil
            file.path = nil
            discardIfUnused(file)
        }
    }

    func removeDirectory(_ path: String) throws(FileError) {
        try locked("removeDirectory", path) {
            guard directories.contains(path) else { throw Failure(kind: .missing, reason: "no such directory") }
            guard names(in: path).isEmpty else { throw Failure(kind: .exists, reason: "the directory is not empty") }
            guard path != "/" else { throw Failure(kind: .unavailable, reason: "the root stays") }
            try database.set(nil, for: "directory" + path)
            directories.remove(path)
        }
    }

    func space(_ path: String) throws(FileError) -> VolumeSpace {
        try locked("space", path) { VolumeSpace(free: max(0, capacity - pageCount * pageSize), total: capacity) }
    }

    // What follows is called under the lock.

    private func parent(of path: String) -> String {
        let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return parent.isEmpty ? "/" : String(parent)
    }

    private func addDirectory(_ path: String) throws {
        if directories.contains(path) { return }
        if files[path] != nil { throw Failure(kind: .missing, reason: "a parent is a file") }
        try addDirectory(parent(of: path))
        try database.set(Data(), for: "directory" + path)
        directories.insert(path)
    }

    private func names(in directory: String) -> [String] {
        let paths = (Array(files.keys) + directories).filter { $0 != "/" && parent(of: $0) == directory }
        return paths.map { String($0.split(separator: "/").last!) }
    }

    private func file(at path: String) throws -> StoredFile {
        if let file = files[path] { return file }
        if directories.contains(path) { throw Failure(kind: .unavailable, reason: "it is a directory") }
        throw Failure(kind: .missing, reason: "no such file")
    }

    fileprivate func save(_ file: StoredFile) throws {
        if let path = file.path { try database.set(JSONEncoder().encode(file.record), for: "file" + path) }
    }

    /// Deletes the pages of a file that has no path and is not open. What cannot be deleted now is after the next start.
    fileprivate func discardIfUnused(_ file: StoredFile) {
        guard file.path == nil, file.openings == 0 else { return }
        for index in file.pages { try? setPage(index, of: file, to: nil) }
    }

    /// A page's bytes inside the file. What is not there is zeros.
    fileprivate func page(_ index: Int64, of file: StoredFile) throws -> [UInt8] {
        guard file.pages.contains(index) else { return [] }
        let data = try database.value(for: "page/\(file.record.number)/\(index)") ?? Data()
        return Array(data.prefix(Int(min(pageSize, max(0, file.record.size - index * pageSize)))))
    }

    fileprivate func setPage(_ index: Int64, of file: StoredFile, to bytes: [UInt8]?) throws {
        try database.set(bytes.map { Data($0) }, for: "page/\(file.record.number)/\(index)")
        file.touch()
        if bytes == nil {
            if file.pages.remove(index) != nil { pageCount -= 1 }
        } else if file.pages.insert(index).inserted {
            pageCount += 1
        }
    }

    fileprivate func checkSpace(forPages count: Int) throws {
        let isFull = count > 0 && (pageCount + Int64(count)) * pageSize > capacity
        if isFull { throw Failure(kind: .full, reason: "the volume is full") }
    }
}

/// An open file of a `DatabaseVolume`.
private final class DatabaseFile: VolumeFile {
    private let volume: DatabaseVolume
    private let file: StoredFile
    private let path: String
    private let isWritable: Bool

    init(volume: DatabaseVolume, file: StoredFile, path: String, isWritable: Bool) {
        self.volume = volume
        self.file = file
        self.path = path
        self.isWritable = isWritable
    }

    deinit {
        try? volume.locked("close", path) {
            file.openings -= 1
            volume.discardIfUnused(file)
        }
    }

    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) throws(FileError) {
        buffer += try volume.locked("read", path) {
            guard offset >= 0, count >= 0 else {
                throw Failure(kind: .unavailable, reason: "a negative offset or count")
            }
            let end = offset + min(Int64(count), max(0, file.record.size - offset))
            var bytes: [UInt8] = []
            for (index, range) in pieces(offset..<end) {
                let page = try volume.page(index, of: file)
                let stored = range.clamped(to: 0..<page.count)
                bytes += page[stored]
                bytes += repeatElement(0, count: range.count - stored.count)
            }
            return bytes
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        try change("write") {
            guard offset >= 0 else { throw Failure(kind: .unavailable, reason: "a negative offset") }
            guard unsafe !bytes.isEmpty else { return }
            let (end, overflow) = offset.addingReportingOverflow(Int64(bytes.count))
            guard !overflow else { throw Failure(kind: .full, reason: "past the end of the largest file") }
            let pieces = pieces(offset..<end)
            try volume.checkSpace(forPages: pieces.count { !file.pages.contains($0.index) })
            if offset > file.record.size { try cutPages(to: file.record.size) }
            var rest = unsafe bytes[...]
            for (index, range) in pieces {
                var page = range.count == pageSize ? [] : try volume.page(index, of: file)
                page += repeatElement(0, count: max(0, range.upperBound - page.count))
                unsafe page.replaceSubrange(range, with: rest.prefix(range.count))
                try volume.setPage(index, of: file, to: page)
                unsafe rest = rest.dropFirst(range.count)
                file.record.size = max(file.record.size, index * pageSize + Int64(range.upperBound))
            }
            try volume.save(file)
        }
    }

    func truncate(to size: Int64) throws(FileError) {
        try change("truncate") {
            guard size >= 0 else { throw Failure(kind: .unavailable, reason: "a negative size") }
            guard size != file.record.size else { return }
            try cutPages(to: min(size, file.record.size))
            file.record.size = size
            file.touch()
            try volume.save(file)
        }
    }

    func punch(offset: Int64, count: Int64) throws(FileError) {
        try change("punch") {
            guard offset >= 0, count > 0 else { throw Failure(kind: .unavailable, reason: "a range of no bytes") }
            guard offset < file.record.size else { return }
            let end = offset + min(count, file.record.size - offset)
            for (index, range) in pieces(offset..<end) where file.pages.contains(index) {
                var page = try volume.page(index, of: file)
                let zeros = range.clamped(to: 0..<page.count)
                page.replaceSubrange(zeros, with: repeatElement(0, count: zeros.count))
                try volume.setPage(index, of: file, to: zeros.count == page.count ? nil : page)
            }
            try volume.save(file)
        }
    }

    func status() throws(FileError) -> VolumeFileStatus {
        try volume.locked("status", path) {
            VolumeFileStatus(
                size: file.record.size, allocated: Int64(file.pages.count) * pageSize, inode: file.record.number,
                modified: file.record.modified, links: file.path == nil ? 0 : 1)
        }
    }

    private func change(_ operation: String, _ body: () throws -> Void) throws(FileError) {
        guard isWritable else { throw FileError(.unavailable, "opened for reading", operation: operation, path: path) }
        try volume.locked(operation, path, body)
    }

    /// The pages a range of the file is in, and the part of each.
    private func pieces(_ range: Range<Int64>) -> [(index: Int64, range: Range<Int>)] {
        guard !range.isEmpty else { return [] }
        return (range.lowerBound / pageSize...(range.upperBound - 1) / pageSize).map { index in
            let start = index * pageSize
            return (index, Int(max(0, range.lowerBound - start))..<Int(min(pageSize, range.upperBound - start)))
        }
    }

    /// Deletes what lies past `size`, what a write that failed has left there among it.
    private func cutPages(to size: Int64) throws {
        for index in file.pages where index * pageSize >= size { try volume.setPage(index, of: file, to: nil) }
        guard file.pages.contains(size / pageSize) else { return }
        let page = try volume.page(size / pageSize, of: file)
        try volume.setPage(size / pageSize, of: file, to: Array(page.prefix(Int(size % pageSize))))
    }
}
