public import ReprisePlatform

/// The real file system with a directory of its own, which goes with the last reference.
///
/// It lies under `TMPDIR`, or `/tmp`. What cannot be removed is left there.
public final class TemporaryDirectory: FileSystem {
    private let base = RealFileSystem()
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

    private static func remove(_ path: String, _ files: RealFileSystem) {
        for name in (try? files.list(path)) ?? [] {
            let child = path + "/" + name
            if (try? files.list(child)) != nil { remove(child, files) } else { try? files.removeFile(child) }
        }
        try? files.removeDirectory(path)
    }

    package func open(_ path: String, _ mode: FileMode) throws(FileError) -> any FileHandle {
        try base.open(path, mode)
    }

    package func makeDirectory(_ path: String) throws(FileError) { try base.makeDirectory(path) }

    package func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }

    package func rename(_ from: String, to: String) throws(FileError) { try base.rename(from, to: to) }

    package func link(_ path: String, to name: String) throws(FileError) { try base.link(path, to: name) }

    package func clone(_ source: any FileHandle, to path: String) throws(FileError) -> Bool {
        try base.clone(source, to: path)
    }

    package func removeFile(_ path: String) throws(FileError) { try base.removeFile(path) }

    package func removeDirectory(_ path: String) throws(FileError) { try base.removeDirectory(path) }

    package func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }

    package func space(_ path: String) throws(FileError) -> VolumeSpace { try base.space(path) }
}
