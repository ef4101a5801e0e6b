package import ReprisePlatform

/// What the volume under a root can do, tried once when the root is opened.
package struct RootCapabilities: Sendable, Hashable {
    /// A file may have holes that take no room.
    package var holes: Bool
    /// Room can be given back inside a file.
    package var punching: Bool

    package init(holes: Bool, punching: Bool) {
        self.holes = holes
        self.punching = punching
    }

    /// Tries both with a file that is removed again. I/O.
    package static func probe(root: String, fileSystem: any FileSystem) throws(FileError) -> RootCapabilities {
        let path = root + "/probe"
        let handle = try fileSystem.open(path, .create)
        defer { do throws(FileError) { try fileSystem.removeFile(path) } catch { _ = error } }  // overwritten next time
        var holes = false
        var punching = false
        do throws(FileError) {
            try handle.truncate(to: 0)
            try handle.write([1], at: 4 << 20)
            holes = try handle.status().allocated < 1 << 20
            try handle.write([UInt8](repeating: 1, count: 65_536), at: 0)
            try handle.punch(offset: 0, count: 65_536)
            var bytes: [UInt8] = []
            try handle.read(at: 0, count: 16, into: &bytes)
            punching = bytes.allSatisfy { $0 == 0 }
        } catch {
            // A full volume still has entries to serve and to remove; what could not be tried counts as missing.
            if error.operation != "punch", error.kind != .full { throw error }
        }
        return RootCapabilities(holes: holes, punching: punching)
    }
}
