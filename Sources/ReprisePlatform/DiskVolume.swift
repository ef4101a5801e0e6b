import RepriseRanges
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The operating system's file system: a store's volume unless another is given.
///
/// Files are made for their owner alone (0600, directories 0700).
public struct DiskVolume: StoreVolume {
    /// The system's files.
    public init() {}

    /// `true`.
    public var hasPaths: Bool { true }

    /// Opens or makes a file, for its owner alone.
    public func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        // Opening a FIFO that lies in place of a file does not wait.
        let flags: Int32 =
            switch mode {
            case .read: O_RDONLY
            case .readWrite: O_RDWR
            case .create: O_RDWR | O_CREAT
            case .createNew: O_RDWR | O_CREAT | O_EXCL
            }
        let descriptor = try check("open", path) { openFile(path, flags | O_CLOEXEC | O_NONBLOCK) }
        return DiskFile(descriptor: descriptor, path: path)
    }

    /// Makes a directory and its parents, for their owner alone.
    public func makeDirectory(_ path: String) throws(FileError) {
        if unsafe mkdir(path, 0o700) == 0 { return }
        let code = errno
        if code == EEXIST { return }
        let parent = path.parentDirectory
        guard code == ENOENT, parent != path else { throw FileError(code: code, operation: "mkdir", path: path) }
        try makeDirectory(parent)
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw FileError(code: errno, operation: "mkdir", path: path)
        }
    }

    /// The names in a directory, without `.` and `..`.
    public func list(_ directory: String) throws(FileError) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            throw FileError(code: errno, operation: "opendir", path: directory)
        }
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                // What could not be read is not taken for all there is.
                if errno != 0 { throw FileError(code: errno, operation: "readdir", path: directory) }
                return names
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    /// When a path in a directory last changed; the clock ticks every few milliseconds.
    public func modified(ofDirectory path: String) throws(FileError) -> Int64? {
        // A directory opens as a file does.
        try open(path, .read).status().modified
    }

    /// Puts one file in the place of another.
    public func rename(_ from: String, to: String) throws(FileError) {
        #if canImport(Darwin)
            let result = unsafe Darwin.rename(from, to)
        #elseif canImport(Musl)
            let result = unsafe Musl.rename(from, to)
        #else
            let result = unsafe Glibc.rename(from, to)
        #endif
        if result != 0 { throw FileError(code: errno, operation: "rename", path: from) }
    }

    /// Gives a file a second path; not every file system can.
    public func link(_ path: String, to name: String) throws(FileError) {
        #if canImport(Darwin)
            let result = unsafe Darwin.link(path, name)
        #elseif canImport(Musl)
            let result = unsafe Musl.link(path, name)
        #else
            let result = unsafe Glibc.link(path, name)
        #endif
        if result != 0 { throw FileError(code: errno, operation: "link", path: name) }
    }

    /// Removes a file's path.
    public func removeFile(_ path: String) throws(FileError) {
        if unsafe unlink(path) != 0 { throw FileError(code: errno, operation: "unlink", path: path) }
    }

    /// Removes an empty directory.
    public func removeDirectory(_ path: String) throws(FileError) {
        if unsafe rmdir(path) != 0 { throw FileError(code: errno, operation: "rmdir", path: path) }
    }

    /// Has the paths in a directory outlast a loss of power.
    public func syncDirectory(_ path: String) throws(FileError) {
        let descriptor = try check("open", path) { openFile(path, O_RDONLY | O_CLOEXEC) }
        defer { _ = close(descriptor) }
        // Some file systems refuse to sync a directory; there is nothing more to be done there.
        if fsync(descriptor) != 0, errno != EINVAL { throw FileError(code: errno, operation: "fsync", path: path) }
    }

    /// The space left for us on the file system that holds `path`.
    public func space(_ path: String) throws(FileError) -> VolumeSpace {
        var status = statvfs()
        if unsafe statvfs(path, &status) != 0 { throw FileError(code: errno, operation: "statvfs", path: path) }
        let size = Int64(status.f_frsize)
        // Volumes that make inodes as they are needed tell of none at all.
        let freeFiles = status.f_files > 0 ? Int64(clamping: status.f_favail) : nil
        return VolumeSpace(
            free: Int64(clamping: status.f_bavail).multiplied(by: size),
            total: Int64(clamping: status.f_blocks).multiplied(by: size),
            freeFiles: freeFiles)
    }
}

private func openFile(_ path: String, _ flags: Int32) -> Int32 { unsafe open(path, flags, 0o600) }

/// Runs a call until it is not interrupted; throws where it answers below 0.
private func check<Value: FixedWidthInteger & SignedInteger>(
    _ operation: String, _ path: String, _ call: () -> Value
) throws(FileError) -> Value {
    while true {
        let result = call()
        if result >= 0 { return result }
        let code = errno
        if code != EINTR { throw FileError(code: code, operation: operation, path: path) }
    }
}

/// A descriptor that closes with its last reference.
private final class DiskFile: VolumeFile {
    private let number: Int32
    private let path: String
    private let wasLocked = Atomic(false)

    init(descriptor: Int32, path: String) {
        number = descriptor
        self.path = path
    }

    deinit {
        // A child that was just started holds a copy of every descriptor until it runs its own program, and a lock lasts
        // as long as any copy: it is given back by name.
        if wasLocked.load(ordering: .relaxed) { _ = flock(number, LOCK_UN) }
        _ = close(number)
    }

    var descriptor: Int32? { number }

    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) throws(FileError) {
        guard count > 0 else { return }
        try buffer.append(addingCapacity: count) { span throws(FileError) in
            try unsafe span.withUnsafeMutableBufferPointer { room, filled throws(FileError) in
                // Counted apart: where a call fails in the middle, nothing is appended.
                var done = 0
                while done < count {
                    let read = try check("pread", path) {
                        unsafe pread(number, room.baseAddress! + done, count - done, off_t(offset) + off_t(done))
                    }
                    if read == 0 { break }
                    done += read
                }
                filled = done
            }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        var done = 0
        while done < bytes.count {
            done += try check("pwrite", path) {
                unsafe pwrite(number, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
            }
        }
    }

    func status() throws(FileError) -> VolumeFileStatus {
        var status = stat()
        _ = try check("fstat", path) { unsafe fstat(number, &status) }
        #if canImport(Darwin)
            let modified = status.st_mtimespec
        #else
            let modified = status.st_mtim
        #endif
        return VolumeFileStatus(
            size: Int64(status.st_size), allocated: Int64(status.st_blocks).multiplied(by: 512),
            inode: UInt64(status.st_ino),
            modified: Int64(modified.tv_sec).multiplied(by: 1_000_000_000).adding(Int64(modified.tv_nsec)),
            links: Int(status.st_nlink))
    }

    func forgetCached() {
        #if !canImport(Darwin)
            _ = posix_fadvise(number, 0, 0, POSIX_FADV_DONTNEED)
        #endif
    }

    func truncate(to size: Int64) throws(FileError) {
        _ = try check("ftruncate", path) { ftruncate(number, off_t(size)) }
    }

    func punch(offset: Int64, count: Int64) throws(FileError) {
        #if canImport(Darwin)
            var hole = fpunchhole_t(fp_flags: 0, reserved: 0, fp_offset: off_t(offset), fp_length: off_t(count))
            _ = try check("punch", path) { unsafe fcntl(number, F_PUNCHHOLE, &hole) }
        #else
            guard let fallocate = LinuxCalls.fallocate else {
                throw FileError(code: ENOSYS, operation: "punch", path: path)
            }
            // FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, linux/falloc.h
            _ = try check("punch", path) { fallocate(number, 0x02 | 0x01, off_t(offset), off_t(count)) }
        #endif
    }

    func sync() throws(FileError) {
        #if canImport(Darwin)
            // fsync does not reach the platter there; F_BARRIERFSYNC orders it at a fraction of F_FULLFSYNC's cost.
            if fcntl(number, F_BARRIERFSYNC) == 0 { return }
            _ = try check("fsync", path) { fsync(number) }
        #else
            _ = try check("fdatasync", path) { fdatasync(number) }
        #endif
    }

    func tryLock(exclusive: Bool) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try check("flock", path) { flock(number, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) }
            wasLocked.store(true, ordering: .relaxed)
            return true
        } catch {
            if error.code == EWOULDBLOCK { return false }
            throw error
        }
    }

    func isResident(offset: Int64, count: Int64) -> Bool {
        #if os(Linux)
            guard let preadv2 = unsafe LinuxCalls.preadv2 else { return true }
            // The two ends stand for the rest, of as little as is read ahead at once its last byte.
            let last = offset.adding(count - 1)
            var position = count <= 64 * 1024 ? last : offset
            while true {
                var byte: UInt8 = 0
                let answer = unsafe withUnsafeMutablePointer(to: &byte) { pointer in
                    var vector = unsafe iovec(iov_base: pointer, iov_len: 1)
                    return unsafe preadv2(number, &vector, 1, off_t(position), LinuxCalls.withoutWaiting)
                }
                if answer < 0, errno == EAGAIN { return false }
                if position == last { break }
                position = last
            }
        #endif
        return true
    }

    func readResident(at offset: Int64, count: Int, into buffer: inout [UInt8]) -> Bool {
        #if os(Linux)
            guard count > 0, let preadv2 = unsafe LinuxCalls.preadv2 else { return false }
            let before = buffer.count
            buffer.append(addingCapacity: count) { span in
                unsafe span.withUnsafeMutableBufferPointer { room, filled in
                    var vector = unsafe iovec(iov_base: room.baseAddress, iov_len: count)
                    let read = unsafe preadv2(number, &vector, 1, off_t(offset), LinuxCalls.withoutWaiting)
                    filled = read == count ? count : 0
                }
            }
            return buffer.count == before + count
        #else
            return false
        #endif
    }
}

extension FileError {
    /// Sorts the system's code into what the store distinguishes.
    package init(code: Int32, operation: String, path: String) {
        let kind: Kind =
            switch code {
            case ENOENT, ENOTDIR: .missing
            case EEXIST, ENOTEMPTY: .exists
            case ENOSPC, EDQUOT, EFBIG: .full
            default: .unavailable
            }
        self.init(kind: kind, code: code, operation: operation, path: path)
    }

    /// The codes fault injection uses, by name, so that only this floor knows libc.
    package static let noSpace: Int32 = ENOSPC
    package static let inputOutput: Int32 = EIO
    package static let notPermitted: Int32 = EPERM
    package static let accessDenied: Int32 = EACCES
    package static let tooManyFiles: Int32 = EMFILE
    package static let noEntry: Int32 = ENOENT
    package static let fileExists: Int32 = EEXIST
    package static let readOnly: Int32 = EROFS
}

extension String {
    /// The path without its last component; `/` stays `/`.
    package var parentDirectory: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")), slash != startIndex else { return "/" }
        return String(self[..<slash])
    }
}
