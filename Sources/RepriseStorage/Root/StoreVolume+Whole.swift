package import ReprisePlatform

/// Small files read and written whole, and folders that may not be there.
extension StoreVolume {
    /// The whole of a small file; what is past `limit` is left out.
    package func readAll(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        let handle = try open(path, .read)
        var bytes: [UInt8] = []
        // Most are smaller than a page; room for the largest would have to be set aside for each.
        for count in [min(4096, limit), limit] where bytes.count < count {
            let known = bytes.count
            try handle.read(at: Int64(known), count: count - known, into: &bytes)
            if bytes.count < count { break }
        }
        return bytes
    }

    /// Makes a file of these bytes alone, which the disk has when it returns: what is renamed over another file must not be empty
    /// after a power cut.
    func writeAll(_ bytes: [UInt8], to path: String) throws(FileError) {
        let handle = try open(path, .create)
        try handle.truncate(to: 0)
        try handle.write(bytes, at: 0)
        try handle.sync()
    }

    /// The names in a folder; none where there is no such folder.
    func names(in folder: String) throws(FileError) -> [String] {
        do throws(FileError) { return try list(folder) } catch {
            if error.kind == .missing { return [] }
            throw error
        }
    }
}
