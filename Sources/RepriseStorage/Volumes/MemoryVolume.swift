import RepriseHTTP
public import ReprisePlatform

/// A volume in memory: for what must leave no trace on a disk, for previews and for tests. What is stored is gone with its last reference.
///
/// Files take memory in pages of 4096 bytes, which count against the capacity; what a page costs beside its bytes, and names, come on
/// top (about a twentieth). All calls are quick, and may be made on any thread.
public final class MemoryVolume: StoreVolume {
    /// Bytes all files together may take.
    public let capacity: Int64
    private let space: MemorySpace
    private let tree = Lock(Tree())

    /// A directory: its names, and how often they have changed.
    private struct Directory {
        var names: Set<OctetString> = []
        var changes: Int64 = 1
    }

    private struct Tree {
        var directories: [OctetString: Directory] = ["/".octets: Directory()]
        var files: [OctetString: MemoryNode] = [:]
        var newest: UInt64 = 0

        mutating func add(_ path: String) {
            directories[path.parentDirectory.octets]?.names.insert(path.lastName.octets)
            directories[path.parentDirectory.octets]?.changes += 1
        }

        mutating func remove(_ path: String) {
            directories[path.parentDirectory.octets]?.names.remove(path.lastName.octets)
            directories[path.parentDirectory.octets]?.changes += 1
        }
    }

    /// An empty volume.
    /// - Parameter capacity: Bytes all files together may take; taken as they are written.
    public init(capacity: Int64) {
        self.capacity = capacity
        space = MemorySpace(capacity)
    }

    /// Opens or makes a file.
    public func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        let node = try tree.withLock { tree throws(FileError) -> MemoryNode in
            if tree.directories[path.octets] != nil {
                throw FileError(
                    mode == .createNew ? .exists : .unavailable, "it is a directory", operation: "open", path: path)
            }
            if let node = tree.files[path.octets] {
                if mode == .createNew { throw FileError(.exists, "the file is there", operation: "open", path: path) }
                return node
            }
            guard mode == .create || mode == .createNew, tree.directories[path.parentDirectory.octets] != nil else {
                throw FileError.notThere("open", path)
            }
            tree.newest += 1
            let node = MemoryNode(number: tree.newest, space)
            tree.files[path.octets] = node
            tree.add(path)
            return node
        }
        return MemoryFile(node, path, isWritable: mode != .read)
    }

    /// Makes a directory and its parents.
    public func makeDirectory(_ path: String) throws(FileError) {
        try tree.withLock { tree throws(FileError) in
            var current = ""
            for name in path.pathComponents {
                current += "/" + name
                if tree.directories[current.octets] != nil { continue }
                guard tree.files[current.octets] == nil else {
                    if current.octets == path.octets { return }
                    throw FileError(.missing, "\(current) is a file", operation: "make directory", path: path)
                }
                tree.directories[current.octets] = Directory()
                tree.add(current)
            }
        }
    }

    /// The names in a directory.
    public func list(_ directory: String) throws(FileError) -> [String] {
        try tree.withLock { tree throws(FileError) in
            guard let found = tree.directories[directory.octets] else { throw FileError.notThere("list", directory) }
            return found.names.map(\.description)
        }
    }

    /// How often a name in a directory has changed.
    public func modified(ofDirectory path: String) throws(FileError) -> Int64? {
        try tree.withLock { tree throws(FileError) in
            guard let found = tree.directories[path.octets] else { throw FileError.notThere("look at", path) }
            return found.changes
        }
    }

    /// Puts one file in the place of another.
    public func rename(_ from: String, to: String) throws(FileError) {
        // The replaced one may be the last reference to many pages.
        let replaced = try tree.withLock { tree throws(FileError) -> MemoryNode? in
            guard let node = tree.files[from.octets], tree.directories[to.parentDirectory.octets] != nil else {
                throw FileError.notThere("rename", from)
            }
            guard tree.directories[to.octets] == nil else {
                throw FileError(.unavailable, "\(to) is a directory", operation: "rename", path: from)
            }
            if from.octets == to.octets { return nil }
            let replaced = tree.files.updateValue(node, forKey: to.octets)
            tree.files[from.octets] = nil
            tree.remove(from)
            tree.add(to)
            return replaced
        }
        replaced?.unlink()
    }

    /// Removes a file's path.
    public func removeFile(_ path: String) throws(FileError) {
        let node = try tree.withLock { tree throws(FileError) -> MemoryNode in
            guard let node = tree.files.removeValue(forKey: path.octets) else {
                if tree.directories[path.octets] == nil { throw FileError.notThere("remove", path) }
                throw FileError(.unavailable, "it is a directory", operation: "remove", path: path)
            }
            tree.remove(path)
            return node
        }
        node.unlink()
    }

    /// Removes an empty directory.
    public func removeDirectory(_ path: String) throws(FileError) {
        try tree.withLock { tree throws(FileError) in
            guard let found = tree.directories[path.octets] else { throw FileError.notThere("remove directory", path) }
            guard found.names.isEmpty else {
                throw FileError(.exists, "it is not empty", operation: "remove directory", path: path)
            }
            tree.directories[path.octets] = nil
            tree.remove(path)
        }
    }

    /// What is left of the capacity.
    public func space(_ path: String) throws(FileError) -> VolumeSpace {
        VolumeSpace(free: space.free, total: capacity)
    }
}

extension FileError {
    fileprivate static func notThere(_ operation: String, _ path: String) -> FileError {
        FileError(.missing, "there is no such file or directory", operation: operation, path: path)
    }
}

extension String {
    /// The last component of a path.
    fileprivate var lastName: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[utf8.index(after: slash)...])
    }
}
