public import ReprisePlatform

/// A file system that passes calls on to another one and fails those a rule chooses; it counts all calls.
///
/// The rule runs before the call, an interruption after a read of it; both outside every lock of this file system, and both may
/// use it themselves: so a test can put one call in the middle of another. Rules can be changed at any time and hold for
/// handles that are already open.
public final class FaultyVolume: StoreVolume {
    /// A call of `StoreVolume` or `VolumeFile`.
    package enum Operation: Sendable, Hashable, CaseIterable {
        case open, makeDirectory, list, rename, link, clone, removeFile, removeDirectory, syncDirectory, space
        case read, write, status, truncate, punch, sync, lock
    }

    /// How a call fails.
    package enum Fault: Sendable, Hashable {
        /// It does nothing and reports an `errno`.
        case error(Int32)
        /// A write puts its first `count` bytes down and then reports an `errno`; other calls do nothing.
        case short(count: Int, code: Int32)
        /// A read ends after at most `count` bytes, as at the end of a file; other calls are left alone.
        case shortRead(count: Int)
    }

    /// Chooses: the call, its path, and how many calls of that operation there were, this one included.
    package typealias Rule = @Sendable (_ operation: Operation, _ path: String, _ callNumber: Int) -> Fault?

    /// What happens between a read and the return to its caller.
    package typealias Interruption = @Sendable (_ path: String) -> Void

    private struct State {
        var rule: Rule?
        var interruption: Interruption?
        var counts: [Operation: Int] = [:]
    }

    private let base: any StoreVolume
    private let state = Lock(State())

    /// Wraps `base`; without a rule nothing fails.
    package init(_ base: any StoreVolume, rule: Rule? = nil) {
        self.base = base
        setRule(rule)
    }

    /// Replaces the rule; `nil` lets everything pass.
    package func setRule(_ rule: Rule?) { state.withLock { $0.rule = rule } }

    /// Replaces what happens after each read; `nil` for nothing.
    package func interruptReads(_ interruption: Interruption?) { state.withLock { $0.interruption = interruption } }

    /// How often an operation was called, failed calls included.
    package func count(of operation: Operation) -> Int { state.withLock { $0.counts[operation] ?? 0 } }

    /// Forgets the counts.
    package func resetCounts() { state.withLock { $0.counts = [:] } }

    // MARK: StoreVolume

    /// As the volume beneath.
    public var hasPaths: Bool { base.hasPaths }

    /// As the protocol has it.
    public func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        try pass(.open, path)
        return FaultyFile(base: try base.open(path, mode), system: self, path: path)
    }

    /// As the protocol has it.
    public func makeDirectory(_ path: String) throws(FileError) {
        try pass(.makeDirectory, path)
        try base.makeDirectory(path)
    }

    /// As the protocol has it.
    public func list(_ directory: String) throws(FileError) -> [String] {
        try pass(.list, directory)
        return try base.list(directory)
    }

    /// As the protocol has it.
    public func modified(ofDirectory path: String) throws(FileError) -> Int64? {
        try pass(.status, path)
        return try base.modified(ofDirectory: path)
    }

    /// As the protocol has it.
    public func rename(_ from: String, to: String) throws(FileError) {
        try pass(.rename, from)
        try base.rename(from, to: to)
    }

    /// As the protocol has it.
    public func link(_ path: String, to name: String) throws(FileError) {
        try pass(.link, name)
        try base.link(path, to: name)
    }

    /// As the protocol has it.
    public func clone(_ source: any VolumeFile, to path: String) throws(FileError) -> Bool {
        try pass(.clone, path)
        return try base.clone((source as? FaultyFile)?.base ?? source, to: path)
    }

    /// As the protocol has it.
    public func removeFile(_ path: String) throws(FileError) {
        try pass(.removeFile, path)
        try base.removeFile(path)
    }

    /// As the protocol has it.
    public func removeDirectory(_ path: String) throws(FileError) {
        try pass(.removeDirectory, path)
        try base.removeDirectory(path)
    }

    /// As the protocol has it.
    public func syncDirectory(_ path: String) throws(FileError) {
        try pass(.syncDirectory, path)
        try base.syncDirectory(path)
    }

    /// As the protocol has it.
    public func space(_ path: String) throws(FileError) -> VolumeSpace {
        try pass(.space, path)
        return try base.space(path)
    }

    // MARK: Inside

    /// Counts a call and asks the rule.
    fileprivate func fault(_ operation: Operation, _ path: String) -> Fault? {
        let (rule, number) = state.withLock { state in
            state.counts[operation, default: 0] += 1
            return (state.rule, state.counts[operation] ?? 0)
        }
        return rule?(operation, path, number)
    }

    fileprivate func interrupt(_ path: String) { state.withLock { $0.interruption }?(path) }

    fileprivate func pass(_ operation: Operation, _ path: String) throws(FileError) {
        switch fault(operation, path) {
        case .error(let code), .short(_, let code): throw FileError(code: code, operation: "\(operation)", path: path)
        case .shortRead, nil: return
        }
    }
}

private final class FaultyFile: VolumeFile {
    fileprivate let base: any VolumeFile
    private let system: FaultyVolume
    private let path: String

    init(base: any VolumeFile, system: FaultyVolume, path: String) {
        self.base = base
        self.system = system
        self.path = path
    }

    var descriptor: Int32? { base.descriptor }

    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) throws(FileError) {
        switch system.fault(.read, path) {
        case .error(let code), .short(_, let code): throw FileError(code: code, operation: "read", path: path)
        case .shortRead(let limit): try base.read(at: offset, count: min(count, limit), into: &buffer)
        case nil: try base.read(at: offset, count: count, into: &buffer)
        }
        system.interrupt(path)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        switch system.fault(.write, path) {
        case .error(let code): throw FileError(code: code, operation: "write", path: path)
        case .short(let count, let code):
            unsafe try base.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
            throw FileError(code: code, operation: "write", path: path)
        case .shortRead, nil: unsafe try base.write(bytes, at: offset)
        }
    }

    func status() throws(FileError) -> VolumeFileStatus {
        try system.pass(.status, path)
        return try base.status()
    }

    func truncate(to size: Int64) throws(FileError) {
        try system.pass(.truncate, path)
        try base.truncate(to: size)
    }

    func punch(offset: Int64, count: Int64) throws(FileError) {
        try system.pass(.punch, path)
        try base.punch(offset: offset, count: count)
    }

    func sync() throws(FileError) {
        try system.pass(.sync, path)
        try base.sync()
    }

    func tryLock(exclusive: Bool) throws(FileError) -> Bool {
        try system.pass(.lock, path)
        return try base.tryLock(exclusive: exclusive)
    }

    func isResident(offset: Int64, count: Int64) -> Bool { base.isResident(offset: offset, count: count) }
}
