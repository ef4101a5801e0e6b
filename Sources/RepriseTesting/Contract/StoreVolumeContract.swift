public import ReprisePlatform

/// What every `StoreVolume` has to do, as checks that its tests run.
///
///     @Test(arguments: StoreVolumeContract.Rule.allCases)
///     func `my volume keeps the contract`(rule: StoreVolumeContract.Rule) throws {
///         try StoreVolumeContract { (MyVolume(), "/contract") }.check(rule)
///     }
///
/// What a volume may leave out is checked where it has it.
public struct StoreVolumeContract: Sendable {
    /// One thing a volume has to do.
    public enum Rule: String, CaseIterable, Sendable {
        /// The modes of opening differ in what they make, and in what they let be written.
        case opening
        /// A read appends, ends early only at the end of the file, and appends nothing where it fails.
        case reading
        /// What was never written reads as zeros, far out as well.
        case holes
        /// A punched range reads as zeros, the size stays, and space comes back; or the volume punches nothing.
        case punching
        /// What was cut off is lost for good.
        case truncating
        /// A file without a path lives on in those that have it open.
        case unlinkedFiles
        /// A second path leads to the same file; or the volume gives none.
        case secondPaths
        /// A clone has the bytes of then and goes its own way; or the volume makes none.
        case clones
        /// Renaming replaces in one step, and open files keep the old bytes.
        case renaming
        /// Directories are made with their parents, listed, and removed only where they are empty.
        case directories
        /// Changes of a directory's names are told; or nothing is known of any.
        case directoryChanges
        /// A lock is its file's, and ends with it; or the volume has none.
        case locks
        /// A change by another open file moves the change time.
        case changeTimes
        /// What is read without waiting is the same bytes, all or none.
        case readingWithoutWaiting
        /// Calls from several threads at once do not mix.
        case concurrentCalls
        /// A store on it keeps what it is given, is found again by another, and gives its space back.
        case storing
    }

    private let make: @Sendable () throws -> (any StoreVolume, String)

    /// - Parameter make: Answers a volume, and the absolute path of a directory that is empty or not there: the contract makes it.
    public init(_ make: @escaping @Sendable () throws -> (any StoreVolume, String)) { self.make = make }

    /// Checks one rule.
    /// - Throws: `ContractViolation` with what the volume did instead, or the error it threw where it had to do something.
    public func check(_ rule: Rule) throws {
        let (volume, root) = try make()
        try volume.makeDirectory(root)
        let run = VolumeRun(volume: volume, root: root)
        switch rule {
        case .opening: try run.opening()
        case .reading: try run.reading()
        case .holes: try run.holes()
        case .punching: try run.punching()
        case .truncating: try run.truncating()
        case .unlinkedFiles: try run.unlinkedFiles()
        case .secondPaths: try run.secondPaths()
        case .clones: try run.clones()
        case .renaming: try run.renaming()
        case .directories: try run.directories()
        case .directoryChanges: try run.directoryChanges()
        case .locks: try run.locks()
        case .changeTimes: try run.changeTimes()
        case .readingWithoutWaiting: try run.readingWithoutWaiting()
        case .concurrentCalls: try run.concurrentCalls()
        case .storing: try run.storing()
        }
    }
}
