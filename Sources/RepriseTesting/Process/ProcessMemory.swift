import ReprisePlatform

/// What this process has in memory.
package enum ProcessMemory {
    /// Bytes that are its own, without what it shares with others; `nil` where the system does not tell, or where a sanitizer holds
    /// what was freed (`REPRISE_SANITIZED`), so that the figure says nothing.
    package static var own: Int? {
        guard SystemCalls.environment("REPRISE_SANITIZED") == nil else { return nil }
        var bytes: [UInt8] = []
        // Pages: all, resident, of these shared (proc(5)).
        guard let file = try? RealFileSystem().open("/proc/self/statm", .read),
            (try? file.read(at: 0, count: 200, into: &bytes)) != nil
        else { return nil }
        let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ").prefix(3).compactMap { Int($0) }
        return pages.count == 3 ? (pages[1] - pages[2]) * 4096 : nil
    }
}
