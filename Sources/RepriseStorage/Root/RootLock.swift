package import ReprisePlatform

/// The lock that makes one process the writer of a root. It ends with its last reference, or with the process, however that ends.
package final class RootLock: Sendable {
    /// When the lock file changed: every process that takes the lock writes its number there.
    struct Changes: Sendable {
        /// Before this process took it.
        var before: Int64
        /// Since.
        var now: Int64

        func contains(_ time: Int64) -> Bool { time == before || time == now }
    }

    private let handle: any VolumeFile
    let changes: Changes

    /// Takes the lock of a root where no store is opened, and makes its directory. I/O.
    package static func take(root: String, on volume: any StoreVolume) throws(StoreError) -> RootLock {
        do throws(FileError) { try volume.makeDirectory(root) } catch {
            throw StoreError(error, doing: "making the directory \(root)")
        }
        return try RootLock(root: root, volume: volume)
    }

    /// Takes the lock; throws `.inUse`, naming the holder, where another process has it. I/O.
    init(root: String, volume: any StoreVolume) throws(StoreError) {
        var holder: String?
        do throws(FileError) {
            handle = try volume.open(root + "/lock", .create)
            guard try handle.tryLock(exclusive: true) else {
                var bytes: [UInt8] = []
                try handle.read(at: 0, count: 64, into: &bytes)
                let name = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
                holder = name
                throw FileError(.exists, "another process has it", operation: "lock", path: name)
            }
            let before = try handle.status().modified
            // The number only serves the message above; on a full disk the lock holds without it.
            do throws(FileError) {
                try handle.truncate(to: 0)
                try handle.write(Array("\(SystemCalls.processID)\n".utf8), at: 0)
            } catch { if error.kind != .full { throw error } }
            changes = Changes(before: before, now: try handle.status().modified)
        } catch {
            if let holder {
                throw StoreError(
                    .inUse, "the store \(root) is used by process \(holder); stop it or choose another directory")
            }
            throw StoreError(error, doing: "locking the store \(root)")
        }
    }
}
