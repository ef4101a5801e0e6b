public import ReprisePlatform

/// A file system in memory: one tree, one lock, bytes kept as pages of 4096.
///
/// It follows the contract suite that the real one runs. Unlinked files live on in open handles; holes take no
/// room; the change time is a counter that every change of a file's bytes moves. Directories are never renamed,
/// and there are no rights.
public final class SimulatedDisk: StoreVolume {
    static let pageSize: Int64 = 4096

    struct Node {
        var pages: [Int64: [UInt8]] = [:]
        var size: Int64 = 0
        var modified: Int64 = 0
        var names = 1
        var handles = 0
        /// Handles that hold the file's lock, and whether for themselves alone.
        var locks: [UInt64: Bool] = [:]
        /// What no sync has made durable; `nil` where nothing is.
        var unsynced: SimulatedDisk.UnsyncedChanges?
    }

    struct State {
        /// Directories, and when a name in each last changed.
        var directories: [String: Int64] = ["": 0]
        var files: [String: UInt64] = [:]
        var nodes: [UInt64: Node] = [:]
        var nextNumber: UInt64 = 1
        var clock: Int64 = 0
        var capacity: Int64
        var nodeLimit: Int64?
        var isResident = true
        var canClone = false
        /// Whether it is remembered what a power cut would take.
        var losesPower = false

        /// A name in a directory changes.
        mutating func noteNames(in directory: String) {
            clock += 1
            directories[directory] = clock
        }

        var used: Int64 { nodes.values.reduce(0) { $0 + Int64($1.pages.count) * SimulatedDisk.pageSize } }
    }

    private let state: Lock<State>

    /// Makes an empty tree with room for `capacity` bytes, counted in pages.
    public init(capacity: Int64 = 1 << 50) { state = Lock(State(capacity: capacity)) }

    // MARK: StoreVolume

    /// `true`: exports and leases go to paths on it.
    public var hasPaths: Bool { true }

    /// As the protocol has it.
    public func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        let path = SimulatedDisk.normal(path)
        let opened = state.withLock { state -> Result<(UInt64, UInt64), FileError> in
            if state.directories[path] != nil {
                let code = mode == .createNew ? FileError.fileExists : SimulatedDisk.isDirectory
                return .failure(SimulatedDisk.error(code, "open", path))
            }
            let number: UInt64
            if let existing = state.files[path] {
                if mode == .createNew { return .failure(SimulatedDisk.error(FileError.fileExists, "open", path)) }
                number = existing
            } else {
                guard mode == .create || mode == .createNew, state.directories[path.memoryParent] != nil else {
                    return .failure(SimulatedDisk.error(FileError.noEntry, "open", path))
                }
                number = state.nextNumber
                state.nextNumber += 1
                state.noteNames(in: path.memoryParent)
                state.files[path] = number
                state.nodes[number] = Node(modified: state.clock)
            }
            state.nodes[number]?.handles += 1
            state.nextNumber += 1
            return .success((number, state.nextNumber - 1))
        }
        let (node, id) = try opened.get()
        return SimulatedFile(system: self, node: node, id: id, path: path, isWritable: mode != .read)
    }

    /// As the protocol has it.
    public func makeDirectory(_ path: String) throws(FileError) {
        let path = SimulatedDisk.normal(path)
        try change { state throws(FileError) in
            var current = ""
            for part in path.split(separator: "/") {
                current += "/" + part
                if state.files[current] != nil {
                    if current == path { return }
                    throw SimulatedDisk.error(SimulatedDisk.notDirectory, "mkdir", path)
                }
                guard state.directories[current] == nil else { continue }
                state.noteNames(in: current.memoryParent)
                state.directories[current] = state.clock
            }
        }
    }

    /// As the protocol has it.
    public func list(_ directory: String) throws(FileError) -> [String] {
        let path = SimulatedDisk.normal(directory)
        return try change { state throws(FileError) in
            guard state.directories[path] != nil else {
                throw SimulatedDisk.error(FileError.noEntry, "opendir", path)
            }
            let paths = state.files.keys.filter { $0.isInside(path) }
            let directories = state.directories.keys.filter { $0.isInside(path) }
            return (paths + directories).map { String($0.dropFirst(path.count + 1)) }
        }
    }

    /// As the protocol has it.
    public func modified(ofDirectory path: String) throws(FileError) -> Int64? {
        let path = SimulatedDisk.normal(path)
        return try change { state throws(FileError) in
            guard let changed = state.directories[path] else {
                throw SimulatedDisk.error(FileError.noEntry, "stat", path)
            }
            return changed
        }
    }

    /// As the protocol has it.
    public func rename(_ from: String, to: String) throws(FileError) {
        let (from, to) = (SimulatedDisk.normal(from), SimulatedDisk.normal(to))
        try change { state throws(FileError) in
            guard let node = state.files[from], state.directories[to.memoryParent] != nil else {
                throw SimulatedDisk.error(FileError.noEntry, "rename", from)
            }
            guard state.directories[to] == nil else {
                throw SimulatedDisk.error(SimulatedDisk.isDirectory, "rename", to)
            }
            guard from != to else { return }
            // Two names of one file: the system leaves both.
            if state.files[to] == node { return }
            if let replaced = state.files[to] { state.unname(replaced) }
            state.files[from] = nil
            state.files[to] = node
            state.noteNames(in: from.memoryParent)
            state.noteNames(in: to.memoryParent)
        }
    }

    /// As the protocol has it.
    public func link(_ path: String, to name: String) throws(FileError) {
        let (path, name) = (SimulatedDisk.normal(path), SimulatedDisk.normal(name))
        try change { state throws(FileError) in
            guard let node = state.files[path], state.directories[name.memoryParent] != nil else {
                let code =
                    state.directories[path] != nil ? FileError.notPermitted : FileError.noEntry
                throw SimulatedDisk.error(code, "link", name)
            }
            guard state.files[name] == nil, state.directories[name] == nil else {
                throw SimulatedDisk.error(FileError.fileExists, "link", name)
            }
            state.files[name] = node
            state.nodes[node]?.names += 1
            state.noteNames(in: name.memoryParent)
        }
    }

    /// As the protocol has it.
    public func clone(_ source: any VolumeFile, to path: String) throws(FileError) -> Bool {
        guard let source = source as? SimulatedFile, state.withLock({ $0.canClone }) else { return false }
        let target = try open(path, .createNew) as? SimulatedFile
        try change { state throws(FileError) in
            guard let target, let original = state.nodes[source.node] else { return }
            state.nodes[target.node]?.pages = original.pages
            state.nodes[target.node]?.size = original.size
        }
        return true
    }

    /// As the protocol has it.
    public func removeFile(_ path: String) throws(FileError) {
        let path = SimulatedDisk.normal(path)
        try change { state throws(FileError) in
            guard let node = state.files.removeValue(forKey: path) else {
                let code = state.directories[path] != nil ? SimulatedDisk.isDirectory : FileError.noEntry
                throw SimulatedDisk.error(code, "unlink", path)
            }
            state.unname(node)
            state.noteNames(in: path.memoryParent)
        }
    }

    /// As the protocol has it.
    public func removeDirectory(_ path: String) throws(FileError) {
        let path = SimulatedDisk.normal(path)
        try change { state throws(FileError) in
            guard state.directories[path] != nil else {
                throw SimulatedDisk.error(FileError.noEntry, "rmdir", path)
            }
            let isInside = { (child: String) in child.isInside(path) }
            guard !state.directories.keys.contains(where: isInside), !state.files.keys.contains(where: isInside) else {
                throw SimulatedDisk.error(FileError.fileExists, "rmdir", path)
            }
            state.directories[path] = nil
            state.noteNames(in: path.memoryParent)
        }
    }

    /// As the protocol has it.
    public func syncDirectory(_ path: String) throws(FileError) {
        let path = SimulatedDisk.normal(path)
        guard state.withLock({ $0.directories[path] }) != nil else {
            throw SimulatedDisk.error(FileError.noEntry, "fsync", path)
        }
    }

    /// As the protocol has it.
    public func space(_ path: String) throws(FileError) -> VolumeSpace {
        state.withLock { state in
            VolumeSpace(
                free: max(0, state.capacity - state.used), total: state.capacity,
                freeFiles: state.nodeLimit.map { max(0, $0 - Int64(state.files.count + state.directories.count)) })
        }
    }

    // MARK: Looking and meddling

    /// Every file's path, ascending.
    package var paths: [String] { state.withLock { $0.files.keys.sorted() } }

    /// Handles that are open.
    package var openHandles: Int { state.withLock { $0.nodes.values.reduce(0) { $0 + $1.handles } } }

    /// Bytes taken by all files, those that only live in open handles included.
    package var allocatedBytes: Int64 { state.withLock { $0.used } }

    /// Bytes taken by the files whose paths are wanted.
    package func allocatedBytes(where isWanted: (_ path: String) -> Bool) -> Int64 {
        state.withLock { state in
            state.files.reduce(0) { sum, file in
                guard isWanted(file.key), let node = state.nodes[file.value] else { return sum }
                return sum + Int64(node.pages.count) * SimulatedDisk.pageSize
            }
        }
    }

    /// Sets the room there is; what is stored stays.
    package func setCapacity(_ bytes: Int64) { state.withLock { $0.capacity = bytes } }

    /// Sets how many files and directories the volume says it can hold; it makes more all the same.
    package func setNodeLimit(_ limit: Int64?) { state.withLock { $0.nodeLimit = limit } }

    /// What `isResident` answers from now on.
    package func setResident(_ isResident: Bool) { state.withLock { $0.isResident = isResident } }

    /// Whether files can be cloned from now on. Clones count as if they took room of their own.
    package func setClones(_ canClone: Bool) { state.withLock { $0.canClone = canClone } }

    /// All bytes of a file; meant for small ones.
    package func contents(_ path: String) throws(FileError) -> [UInt8] {
        try change { state throws(FileError) in
            guard let number = state.files[SimulatedDisk.normal(path)], let node = state.nodes[number] else {
                throw SimulatedDisk.error(FileError.noEntry, "open", path)
            }
            return node.bytes(at: 0, count: Int(node.size))
        }
    }

    /// Changes a file behind its owner's back; its inode stays and open handles see it.
    package func mutate(_ path: String, _ change: (inout [UInt8]) -> Void) throws(FileError) {
        var bytes = try contents(path)
        change(&bytes)
        let handle = try open(path, .readWrite)
        try handle.truncate(to: 0)
        try handle.write(bytes, at: 0)
    }

    /// Flips the bits of `mask` in one byte.
    package func flip(_ path: String, at offset: Int64, mask: UInt8 = 1) throws(FileError) {
        let handle = try open(path, .readWrite)
        var byte: [UInt8] = []
        try handle.read(at: offset, count: 1, into: &byte)
        guard let old = byte.first else { return }
        try handle.write([old ^ mask], at: offset)
    }

    /// Puts a new file with `bytes` under a name, as a restored backup would; open handles keep the old one.
    package func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        do throws(FileError) { try removeFile(path) } catch { if error.kind != .missing { throw error } }
        try makeDirectory(path.memoryParent)
        try open(path, .createNew).write(bytes, at: 0)
    }

    /// The counter that changes move.
    package var time: Int64 { state.withLock(\.clock) }

    /// Sets the counter: what changes next does so after that.
    package func setTime(_ time: Int64) { state.withLock { $0.clock = time } }

    /// Remembers from now on what no sync has made durable, so that power can be cut.
    package func losePower() { state.withLock { $0.losesPower = true } }

    /// Cuts the power: of each change of a file since its last sync all is there, nothing, or its first part, drawn from the
    /// seed. Names are durable in the order in which they were made. Open handles live on as those of a process that is gone.
    package func cutPower(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        state.withLock { state in
            for number in state.nodes.keys.sorted() {
                guard let unsynced = state.nodes[number]?.unsynced else { continue }
                state.nodes[number]?.lose(unsynced, &random)
            }
        }
    }

    // MARK: Inside

    static let isDirectory: Int32 = 21  // EISDIR
    static let notDirectory: Int32 = 20  // ENOTDIR

    static func error(_ code: Int32, _ operation: String, _ path: String) -> FileError {
        FileError(code: code, operation: operation, path: path)
    }

    private static func normal(_ path: String) -> String {
        let parts = path.split(separator: "/")
        return parts.isEmpty ? "" : "/" + parts.joined(separator: "/")
    }

    func change<Value: Sendable>(_ body: (inout State) throws(FileError) -> Value) throws(FileError) -> Value {
        try state.withLock { state throws(FileError) in try body(&state) }
    }
}

extension SimulatedDisk.State {
    /// A file lost a name; it goes when none and no handle is left.
    mutating func unname(_ number: UInt64) {
        nodes[number]?.names -= 1
        dropIfUnused(number)
    }

    mutating func dropIfUnused(_ number: UInt64) {
        if let node = nodes[number], node.names == 0, node.handles == 0 { nodes[number] = nil }
    }
}

extension String {
    /// The path without its last component; the root is the empty string.
    fileprivate var memoryParent: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(self[..<slash])
    }

    /// Whether the path is a directory's with one component more. Asked of every path for every list, so it compares bytes.
    fileprivate func isInside(_ directory: String) -> Bool {
        guard utf8.count > directory.utf8.count + 1, hasPrefix(directory) else { return false }
        let rest = utf8.dropFirst(directory.utf8.count)
        return rest.first == UInt8(ascii: "/") && !rest.dropFirst().contains(UInt8(ascii: "/"))
    }
}
