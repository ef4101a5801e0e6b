/// Where a store keeps its bytes: files under paths, as the store calls for them.
///
/// A store puts everything it has into files here: bodies, the checksums of their blocks, descriptions, its index. What those mean,
/// which of them count and whether their bytes are right is the store's affair. Each block has a checksum, which is compared when it is
/// first read after the store was opened, and again when `VolumeFileStatus.modified` tells of a change: what a volume has lost or
/// changed by then costs a fetch, never a wrong byte. An encrypted store gives it ciphertext alone, which is verified at each read.
///
/// `DiskVolume` is the system's file system, `MemoryVolume` keeps all in memory. Another one implements the requirements without
/// a default and passes `StoreVolumeContract` in `RepriseTesting`.
///
/// - Paths are absolute, their components separated by `/`, without `.`, `..` and a `/` at the end; they are compared octet by octet. The
///   directory `/` is there from the start. The store makes its own directory, and makes no links but by `link`.
/// - Every call may block, and is made on threads for that, with two exceptions: opening a cache calls its volume on the caller's thread,
///   and of files that have a `descriptor` or take `readResident`, `status` is called on event loops. Calls come from several threads at
///   once, also for one file; each is done, or has failed, before those that come after it. A file may be let go on any thread.
/// - Whether files outlast the process is the volume's affair. Where they do, those that had no path any more may be gone, numbers
///   (`VolumeFileStatus.inode`) may be given anew, and a rename that broke off has left one of the two files at its path.
/// - An error that a volume cannot tell is `.unavailable`; after `.full` nothing new is stored until there is space.
/// - A store makes a directory and three files an entry. It writes bodies in pieces of up to 1 MiB, reads 256 KiB at a time, and asks for
///   the status of a file before it hands on bytes of it.
public protocol StoreVolume: Sendable {
    /// Opens or makes a file.
    /// - Throws: `.missing` where there is no such file, or no directory to make it in; `.exists` for `.createNew` where the path is
    ///   taken, by a directory as well; else `.unavailable` for a directory.
    func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile
    /// Makes a directory and its parents; what is at the path already, be it a file, is left as it is.
    /// - Throws: `.missing` where a parent is a file.
    func makeDirectory(_ path: String) throws(FileError)
    /// The names of a directory's files and directories, in any order.
    /// - Throws: `.missing` where there is no such directory.
    func list(_ directory: String) throws(FileError) -> [String]
    /// Puts the file `from` in the place of `to`, which may be there and then loses its path: at no moment is there none. Both keep their
    /// bytes where they are open. Nothing happens where the two paths are one.
    /// - Throws: `.missing` where there is no such file, or no directory to put it in; the store renames no directories.
    func rename(_ from: String, to: String) throws(FileError)
    /// Removes a file's path; files that are open keep their bytes, and can be read and written until they are closed.
    /// - Throws: `.missing` where there is no such file, `.unavailable` for a directory.
    func removeFile(_ path: String) throws(FileError)
    /// Removes an empty directory.
    /// - Throws: `.missing` where there is none, `.exists` where it is not empty.
    func removeDirectory(_ path: String) throws(FileError)
    /// The space on the volume that holds `path`, in bytes as they are allocated. The path is that of a directory that is there.
    func space(_ path: String) throws(FileError) -> VolumeSpace

    /// Whether other programs find its files under their paths. Where not, the volume counts as the store's alone,
    /// `MediaResource.fileURL()` is unsupported, bytes are handed on in pieces of at most 256 KiB, and files that are imported or exported
    /// are the system's. `false` by default.
    var hasPaths: Bool { get }
    /// When a name in a directory was last made, removed or replaced, in nanoseconds since 1970 or by a counter; two changes within
    /// the clock's tick may be one. The store remembers it over restarts. `nil` where that is not known: the store then lists the
    /// directory each time. `nil` by default.
    /// - Throws: `.missing` where there is no such directory, unless nothing is known of any.
    func modified(ofDirectory path: String) throws(FileError) -> Int64?
    /// Gives a file a second path. By default it throws `.unavailable`, which every volume may.
    /// - Throws: `.exists` where `name` is taken, `.missing` where there is no such file, `.unavailable` for a directory.
    func link(_ path: String, to name: String) throws(FileError)
    /// Makes a new file with the bytes `source` has now, which share their space until one of the two is written to. By default,
    /// and wherever the volume cannot or the source is on another one, it makes no file and answers `false`.
    func clone(_ source: any VolumeFile, to path: String) throws(FileError) -> Bool
    /// Has the paths in a directory outlast a loss of power. By default it does nothing.
    func syncDirectory(_ path: String) throws(FileError)
}

extension StoreVolume {
    /// `false`.
    public var hasPaths: Bool { false }

    /// `nil`: not known.
    public func modified(ofDirectory path: String) throws(FileError) -> Int64? { nil }

    /// Throws `.unavailable`.
    public func link(_ path: String, to name: String) throws(FileError) {
        throw FileError(.unavailable, "this volume gives a file one path only", operation: "link", path: path)
    }

    /// `false`, and makes no file.
    public func clone(_ source: any VolumeFile, to path: String) throws(FileError) -> Bool { false }

    /// Does nothing.
    public func syncDirectory(_ path: String) throws(FileError) {}
}

/// What a volume has left for a store.
public struct VolumeSpace: Sendable, Hashable {
    /// Bytes free to us.
    public var free: Int64
    /// Bytes of the whole volume.
    public var total: Int64
    /// Files and directories that can still be made; `nil` where the volume sets no bound.
    public var freeFiles: Int64?

    /// What is left.
    public init(free: Int64, total: Int64, freeFiles: Int64? = nil) {
        self.free = free
        self.total = total
        self.freeFiles = freeFiles
    }
}

/// How a file is opened.
public enum VolumeFileMode: Sendable, Hashable {
    /// For reading: writing, truncating and punching throw `.unavailable`.
    case read
    /// For reading and writing.
    case readWrite
    /// For both; makes the file where there is none.
    case create
    /// For both; makes the file, and fails where the path is taken.
    case createNew
}

/// An open file of a `StoreVolume`, which closes with its last reference, on any thread. Calls name their offsets and come from any thread.
public protocol VolumeFile: AnyObject, Sendable {
    /// Reads up to `count` bytes at `offset` and appends them to `buffer`; fewer only at the end of the file. What was never written
    /// reads as zeros. A read that fails appends nothing.
    /// - Throws: `.unavailable` for a negative offset or count.
    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) throws(FileError)
    /// Writes all of `bytes` at `offset`, which may be past the end: what lies between reads as zeros, and should take no space.
    /// Writing no bytes changes nothing.
    /// - Throws: `.full` where there is no space left; the first of the bytes may be written then. `.unavailable` for an offset that is
    ///   negative, or from which so many bytes cannot be counted in 64 bits.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError)
    /// What the file is like now.
    func status() throws(FileError) -> VolumeFileStatus
    /// Sets the size; what lies past it is lost, what is new reads as zeros and should take no space.
    /// - Throws: `.unavailable` for a negative size.
    func truncate(to size: Int64) throws(FileError)

    /// Gives the space of a range back, which reads as zeros afterwards; the size stays. By default it throws `.unavailable`: an entry
    /// that is played then keeps all it has stored, and is evicted as a whole.
    /// Only whole units of allocation come back; what lies past the end stays past the end.
    /// - Throws: `.unavailable` also for a range of no bytes and a negative offset.
    func punch(offset: Int64, count: Int64) throws(FileError)
    /// Has what was written outlast a loss of power. By default it does nothing.
    func sync() throws(FileError)
    /// Has what is read from here on come from the disk, where the system lets go of its copy: after a `sync` that failed it may keep
    /// one that the disk has not. By default it does nothing.
    func forgetCached()
    /// Takes the file's lock without waiting; `false` where another open file has it, or shares it and `exclusive` is wanted. It ends
    /// with the file. By default it answers `true`: for volumes that no other cache or process has.
    func tryLock(exclusive: Bool) throws(FileError) -> Bool
    /// Whether the kernel can send the bytes at `offset` from its `descriptor` without waiting for a disk. A guess: `true` where it cannot be
    /// known. By default `true`; not asked where there is no descriptor.
    func isResident(offset: Int64, count: Int64) -> Bool
    /// As `read`, on an event loop: all `count` bytes, without waiting for a disk; `false`, and nothing is appended, where that cannot
    /// be, where there are fewer, or where it cannot be told. By default `false`: `read` is called on another thread then.
    func readResident(at offset: Int64, count: Int, into buffer: inout [UInt8]) -> Bool
    /// A descriptor from which the kernel can send the file's bytes to a socket. By default `nil`: they are read and copied.
    var descriptor: Int32? { get }
}

extension VolumeFile {
    /// Throws `.unavailable`.
    public func punch(offset: Int64, count: Int64) throws(FileError) {
        throw FileError(.unavailable, "this volume gives no part of a file's space back", operation: "punch", path: "")
    }

    /// Does nothing.
    public func sync() throws(FileError) {}

    /// Does nothing.
    public func forgetCached() {}

    /// `true`.
    public func tryLock(exclusive: Bool) throws(FileError) -> Bool { true }

    /// `true`.
    public func isResident(offset: Int64, count: Int64) -> Bool { true }

    /// `false`, and reads nothing.
    public func readResident(at offset: Int64, count: Int, into buffer: inout [UInt8]) -> Bool { false }

    /// `nil`.
    public var descriptor: Int32? { nil }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
        try write(bytes[...], at: offset)
    }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws(FileError) {
        let result: Result<Void, FileError> = unsafe bytes.withUnsafeBytes { buffer in
            do throws(FileError) {
                unsafe try write(buffer, at: offset)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }
}

/// What a file says of itself.
public struct VolumeFileStatus: Sendable, Hashable {
    /// Size in bytes, holes counted.
    public var size: Int64
    /// Bytes the volume has set aside for it.
    public var allocated: Int64
    /// A number that no other file of the volume has as long as this one is there or open.
    public var inode: UInt64
    /// When its bytes or size last changed, in nanoseconds since 1970 or by a counter: it grows with each change as long as the file is
    /// open; two changes within the clock's tick may be one. By it the store notices what others change.
    public var modified: Int64
    /// How many paths it has; 0 once it lives on in open files only.
    public var links: Int

    /// What a file says.
    public init(size: Int64, allocated: Int64, inode: UInt64, modified: Int64, links: Int = 1) {
        self.links = links
        self.size = size
        self.allocated = allocated
        self.inode = inode
        self.modified = modified
    }
}

/// A file call that failed: which, on what, and why.
public struct FileError: Error, Hashable, CustomStringConvertible {
    /// What a store makes of it.
    public enum Kind: Sendable, Hashable {
        /// It is not there.
        case missing
        /// It is there already.
        case exists
        /// The volume or the user's share of it is full.
        case full
        /// Cannot be used now and may be usable later: no rights, a failing disk, no descriptors. Never "damaged".
        case unavailable
    }

    /// What a store makes of it.
    public var kind: Kind
    /// The system's `errno`; 0 where the failure is not the system's.
    public var code: Int32
    /// The call, for example `open`.
    public var operation: String
    /// The path, if there is one.
    public var path: String
    /// Why, where the failure is not the system's.
    public var reason: String?

    package init(kind: Kind, code: Int32, operation: String, path: String) {
        self.kind = kind
        self.code = code
        self.operation = operation
        self.path = path
    }

    /// A failure of a volume's own.
    /// - Parameters:
    ///   - reason: Why, in words for the user of an app.
    ///   - operation: The call, for example `open`.
    public init(_ kind: Kind, _ reason: String, operation: String, path: String) {
        self.init(kind: kind, code: 0, operation: operation, path: path)
        self.reason = reason
    }

    /// Call, path and reason in one line.
    public var description: String { "\(operation) \(path): \(reason ?? SystemCalls.message(code))" }
}
