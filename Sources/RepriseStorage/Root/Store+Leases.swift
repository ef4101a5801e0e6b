import RepriseHTTP
import ReprisePlatform

/// Names for body files that outlive the entry's own: `<root>/leases/<process>-<random>.<ext>`, a hard link each.
///
/// A link keeps the bytes where the entry is replaced or removed, and its path good, also while another process has the
/// store. What a process that ended left behind is swept at the next open.
extension Store {
    private var leases: String { root + "/leases" }

    /// Leases of this process that have not ended: its number alone does not tell them from those of an earlier process.
    private static let live = Lock<Set<String>>([])

    /// Gives the body of `generation` a name of its own and answers its path; where the volume has no links, the body's
    /// own path, which is good as long as the entry is. I/O.
    /// - Throws: `.gone` where the entry's body is not that one any more.
    package func makeLease(_ info: EntryInfo, _ generation: Generation) throws(StoreError) -> String {
        let random = SystemCalls.randomBytes(8).map { String($0, radix: 16) }.joined()
        let path = "\(leases)/\(SystemCalls.processID)-\(random).\(info.fileExtension)"
        let body = bodyPath(info)
        do throws(FileError) {
            try volume.makeDirectory(leases)
            do throws(FileError) { try volume.link(body, to: path) } catch {
                guard error.kind == .unavailable else { throw error }
                return body
            }
            if try generation.isBody(volume.open(path, .read).status().inode) {
                _ = Store.live.withLock { $0.insert(path) }
                return path
            }
            try volume.removeFile(path)
        } catch {
            if error.kind != .missing { throw StoreError(error, doing: "giving a file a name of its own") }
        }
        throw StoreError(.gone, "the entry was replaced or removed meanwhile")
    }

    /// Takes the name back; one that is gone already is none of an error. I/O.
    package func endLease(_ path: String) throws(StoreError) {
        guard path.beginsLike(leases + "/") else { return }
        _ = Store.live.withLock { $0.remove(path) }
        do throws(FileError) { try volume.removeFile(path) } catch {
            if error.kind != .missing { throw StoreError(error, doing: "removing a file's second name") }
        }
    }

    /// Whether the process that made a lease may still use it.
    private func isLive(_ name: String) -> Bool {
        guard let process = Int32(name.upTo("-")) else { return false }
        if process == SystemCalls.processID { return Store.live.withLock { $0.contains(leases + "/" + name) } }
        return SystemCalls.isRunning(process)
    }

    /// Removes the names that processes which ended left. I/O.
    func sweepLeases() throws(StoreError) {
        do throws(FileError) {
            for name in try volume.list(leases) where !isLive(name) {
                try volume.removeFile(leases + "/" + name)
            }
        } catch {
            if error.kind != .missing { throw StoreError(error, doing: "removing what an earlier process left") }
        }
    }
}
