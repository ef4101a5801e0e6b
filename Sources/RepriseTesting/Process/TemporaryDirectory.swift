public import ReprisePlatform

/// The real file system with a directory of its own, which goes with the last reference.
///
/// It lies under `TMPDIR`, or `/tmp`. What cannot be removed is left there.
public final class TemporaryDirectory: StoreVolume {
    private let base = DiskVolume()
    /// The directory's absolute path.
    public let path: String

    /// Makes an empty directory with a name of its own.
    public init() {
        let parent = SystemCalls.environment("TMPDIR") ?? "/tmp"
        path = parent + "/reprise-test-" + String(UInt64.random(in: .min ... .max), radix: 36)
        do throws(FileError) { try base.makeDirectory(path) } catch {
            preconditionFailure("a test needs a directory: \(error)")
        }
    }

    deinit { TemporaryDirectory.remove(path, base) }

    private static func remove(_ path: String, _ files: DiskVolume) {
        for name in (try? files.list(path)) ?? [] {
            let child = path + "/" + name
            if (try? files.list(child)) != nil { remove(child, files) } else { try? files.removeFile(child) }
        }
        try? files.removeDirectory(path)
    }

    /// As the protocol has it.
    public func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        try base.open(path, mode)
    }

    /// As the protocol has it.
    public func makeDirectory(_ path: String) throws(FileError) { try base.makeDirectory(path) }

    /// As the protocol has it.
    public func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }

    /// `true`.
    public var hasPaths: Bool { true }

    /// As the protocol has it.
    public func modified(ofDirectory path: String) throws(FileError) -> Int64? { try base.modified(ofDirectory: path) }

    /// As the protocol has it.
    public func rename(_ from: String, to: String) throws(FileError) { try base.rename(from, to: to) }

    /// As the protocol has it.
    public func link(_ path: String, to name: String) throws(FileError) { try base.link(path, to: name) }

    /// As the protocol has it.
    public func clone(_ source: any VolumeFile, to path: String) throws(FileError) -> Bool {
        try base.clone(source, to: path)
    }

    /// As the protocol has it.
    public func removeFile(_ path: String) throws(FileError) { try base.removeFile(path) }

    /// As the protocol has it.
    public func removeDirectory(_ path: String) throws(FileError) { try base.removeDirectory(path) }

    /// As the protocol has it.
    public func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }

    /// As the protocol has it.
    public func space(_ path: String) throws(FileError) -> VolumeSpace { try base.space(path) }
}
