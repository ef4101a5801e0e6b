import ReprisePlatform

/// The root's lock while a store has it, and as long as a step has it that was begun then.
struct RootOwnership {
    var held: RootLock?
    private(set) weak var lent: RootLock?

    init(held: RootLock? = nil) { self.held = held }

    mutating func release() {
        if let held { lent = held }
        held = nil
    }
}

/// A root as one piece of work has it. What names or removes files is a step of such work: none is done once the root was given away,
/// however long the disk took before, and also where it was taken back since; and while one is done no other process has the root.
struct RootLockEpoch {
    private let volume: any StoreVolume
    private weak var lock: RootLock?
    /// When the lock file changed; `nil` where the store had been given away.
    let changes: RootLock.Changes?

    init(_ lock: RootLock?, _ volume: any StoreVolume) {
        self.lock = lock
        changes = lock?.changes
        self.volume = volume
    }

    func rename(_ path: String, to other: String) throws(FileError) {
        try perform { () throws(FileError) in try volume.rename(path, to: other) }
    }

    /// Puts these bytes in a small file's place, in one step: whatever breaks off in between, the old ones or the new ones are there.
    /// - Parameter temporary: Where they are written first.
    func replace(_ path: String, with bytes: [UInt8], by temporary: String) throws(FileError) {
        try volume.writeAll(bytes, to: temporary)
        try rename(temporary, to: path)
    }

    func removeFile(_ path: String) throws(FileError) {
        try perform { () throws(FileError) in try volume.removeFile(path) }
    }

    func removeDirectory(_ path: String) throws(FileError) {
        try perform { () throws(FileError) in try volume.removeDirectory(path) }
    }

    /// Runs a step with the lock kept until it has ended.
    func perform(_ step: () throws(FileError) -> Void) throws(FileError) {
        guard let lock else {
            throw FileError(
                kind: .unavailable, code: FileError.inputOutput, operation: "the store was given away meanwhile",
                path: "")
        }
        defer { withExtendedLifetime(lock) {} }
        try step()
    }
}
