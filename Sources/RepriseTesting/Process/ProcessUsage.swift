import ReprisePlatform

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What this process holds and takes.
package enum ProcessUsage {
    /// Bytes of memory that are its own, without what it shares with others; `nil` where the system does not tell, or where a
    /// sanitizer holds what was freed (`REPRISE_SANITIZED`), so that the figure says nothing.
    package static var ownMemory: Int? { ownMemory(of: "self") }

    /// The same of another process.
    package static func ownMemory(of process: String) -> Int? {
        guard SystemCalls.environment("REPRISE_SANITIZED") == nil else { return nil }
        var bytes: [UInt8] = []
        // Pages: all, resident, of these shared (proc(5)).
        guard let file = try? DiskVolume().open("/proc/\(process)/statm", .read),
            (try? file.read(at: 0, count: 200, into: &bytes)) != nil
        else { return nil }
        let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ").prefix(3).compactMap { Int($0) }
        return pages.count == 3 ? (pages[1] - pages[2]) * Int(getpagesize()) : nil
    }

    /// Open files and sockets.
    package static var descriptors: Int {
        (0..<SystemCalls.descriptorLimit).count { fcntl(Int32($0), F_GETFD) >= 0 }
    }

    /// Processor time that it has taken on all cores, in nanoseconds.
    package static var processorTime: Int64 {
        var taken = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &taken)
        return Int64(taken.tv_sec) * 1_000_000_000 + Int64(taken.tv_nsec)
    }
}
