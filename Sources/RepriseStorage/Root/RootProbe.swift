package import ReprisePlatform

/// What the volume under a root can do, tried when the root is opened.
package enum RootProbe {
    /// Whether room can be given back inside a file: tried with one that is removed again. I/O.
    package static func canPunch(root: String, volume: any StoreVolume) throws(FileError) -> Bool {
        let path = root + "/probe"
        let handle = try volume.open(path, .create)
        defer { do throws(FileError) { try volume.removeFile(path) } catch { _ = error } }  // overwritten next time
        do throws(FileError) {
            try handle.truncate(to: 0)
            try handle.write([UInt8](repeating: 1, count: 65_536), at: 0)
        } catch {
            // A full volume still has entries to serve and to remove; what could not be tried counts as missing.
            if error.kind != .full { throw error }
            return false
        }
        do throws(FileError) { try handle.punch(offset: 0, count: 65_536) } catch { return false }
        var bytes: [UInt8] = []
        try handle.read(at: 0, count: 16, into: &bytes)
        return bytes.allSatisfy { $0 == 0 }
    }
}
