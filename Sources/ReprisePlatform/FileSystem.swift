/// The file calls the store makes, as a seam: the real one, one in memory, one that fails on demand.
///
/// Every call may block; none may be made on an event loop. Paths are absolute, separated by `/`.
package protocol FileSystem: Sendable {
    /// Opens or creates a file for positional reads and writes; created files are owner-only (0600).
    func open(_ path: String, _ mode: FileMode) throws(FileError) -> any FileHandle
    /// Makes a directory and its parents, owner-only (0700); one that exists is left as it is.
    func makeDirectory(_ path: String) throws(FileError)
    /// The names in a directory, unsorted, without `.` and `..`.
    func list(_ directory: String) throws(FileError) -> [String]
    /// When a name in a directory was last made, removed or replaced, in nanoseconds since 1970; two changes within the system's
    /// tick, some milliseconds, are one.
    func modified(ofDirectory path: String) throws(FileError) -> Int64
    /// Puts `from` in the place of `to` in one step.
    func rename(_ from: String, to: String) throws(FileError)
    /// Gives a file a second name; fails where that one is taken. Not every volume can.
    func link(_ path: String, to name: String) throws(FileError)
    /// Makes a new file with the bytes `source` has now, which share their space until one of the two is written to;
    /// `false`, and no file, where the volume cannot, or the source is on another one.
    func clone(_ source: any FileHandle, to path: String) throws(FileError) -> Bool
    /// Removes a file's name; open handles keep its bytes.
    func removeFile(_ path: String) throws(FileError)
    /// Removes an empty directory.
    func removeDirectory(_ path: String) throws(FileError)
    /// Makes the names in a directory durable.
    func syncDirectory(_ path: String) throws(FileError)
    /// What is left on the volume that holds `path`.
    func space(_ path: String) throws(FileError) -> VolumeSpace
}

extension FileSystem {
    /// A directory opens as a file does.
    package func modified(ofDirectory path: String) throws(FileError) -> Int64 {
        try open(path, .read).status().modified
    }

    /// Not every file system can.
    package func clone(_ source: any FileHandle, to path: String) throws(FileError) -> Bool { false }
}

/// What a volume has left for us.
package struct VolumeSpace: Sendable, Hashable {
    /// Bytes free to us.
    package var free: Int64
    /// Bytes of the whole volume.
    package var total: Int64
    /// Files and directories that can still be made; `nil` where the volume sets no bound.
    package var freeFiles: Int64?

    package init(free: Int64, total: Int64, freeFiles: Int64?) {
        self.free = free
        self.total = total
        self.freeFiles = freeFiles
    }
}

/// How a file is opened.
package enum FileMode: Sendable, Hashable {
    case read
    case readWrite
    /// Creates the file, or opens the one that is there.
    case create
    /// Creates the file; fails where it exists.
    case createNew
}

/// An open file. Handles close when the last reference goes. Calls are positional and may come from any thread.
package protocol FileHandle: AnyObject, Sendable {
    /// Reads up to `count` bytes at `offset` and appends them to `buffer`; fewer only at the end of the file.
    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) throws(FileError)
    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError)
    /// Size, allocated bytes and change time.
    func status() throws(FileError) -> FileStatus
    /// Sets the size; what lies past it is lost, what is new reads as zeros and takes no space.
    func truncate(to size: Int64) throws(FileError)
    /// Gives the space of a range back; it reads as zeros afterwards. The size stays.
    func punch(offset: Int64, count: Int64) throws(FileError)
    /// Makes all that was written durable.
    func sync() throws(FileError)
    /// Has what is read from here on come from the disk where the kernel lets go of its copy: after a `sync` that failed it may
    /// keep one that the disk has not.
    func forgetCached()
    /// Takes the file's lock without waiting; `false` where another process holds it. It ends with the handle.
    func tryLock(exclusive: Bool) throws(FileError) -> Bool
    /// Whether the bytes at `offset` can be read without waiting for the disk. A guess: `true` where it cannot be known.
    func isResident(offset: Int64, count: Int64) -> Bool
    /// Reads `count` bytes at `offset` and appends them to `buffer` where nobody has to wait for the disk; `false`, and
    /// nothing is appended, where somebody has to, where there are fewer, or where it cannot be told.
    func readResident(at offset: Int64, count: Int, into buffer: inout [UInt8]) -> Bool
    /// The kernel's descriptor for handing regions to a socket; `nil` where there is none (in memory).
    var descriptor: Int32? { get }
}

extension FileHandle {
    package func forgetCached() {}

    package func readResident(at offset: Int64, count: Int, into buffer: inout [UInt8]) -> Bool { false }

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
package struct FileStatus: Sendable, Hashable {
    /// Size in bytes, holes counted.
    package var size: Int64
    /// Bytes the volume has set aside for it.
    package var allocated: Int64
    /// Identity of the file on its volume.
    package var inode: UInt64
    /// When its bytes last changed, in nanoseconds since 1970.
    package var modified: Int64
    /// How many names it has; 0 once it lives on in open handles only.
    package var links: Int

    package init(size: Int64, allocated: Int64, inode: UInt64, modified: Int64, links: Int) {
        self.links = links
        self.size = size
        self.allocated = allocated
        self.inode = inode
        self.modified = modified
    }
}

/// A file call that failed: which, on what, and the system's own code.
package struct FileError: Error, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// It is not there.
        case missing
        /// It is there already.
        case exists
        /// The volume or the user's share of it is full.
        case full
        /// Cannot be used now and may be usable later: no rights, a failing disk, no descriptors. Never "damaged".
        case unavailable
    }

    package var kind: Kind
    /// `errno`
    package var code: Int32
    /// The call, for example `open`.
    package var operation: String
    /// The path, if there is one.
    package var path: String

    package init(kind: Kind, code: Int32, operation: String, path: String) {
        self.kind = kind
        self.code = code
        self.operation = operation
        self.path = path
    }

    package var description: String { "\(operation) \(path): \(SystemCalls.message(code))" }
}
