#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The few libc calls that differ between systems or that Swift imports awkwardly.
package enum SystemCalls {
    /// The system's words for an error code.
    package static func message(_ code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }

    /// Why a host cannot be reached, where an error code says that.
    package enum Unreachability {
        /// Nothing listens there.
        case refused
        /// It did not answer.
        case timedOut
        /// No way leads there.
        case noWay
    }

    /// What an error code says of why a host cannot be reached; `nil` for one that is about something else.
    package static func reachability(_ code: Int32) -> Unreachability? {
        switch code {
        case ECONNREFUSED: .refused
        case ETIMEDOUT: .timedOut
        case _ where meansUnreachable(code): .noWay
        default: nil
        }
    }

    /// Whether this process may open another file or socket now.
    package static var hasDescriptorLeft: Bool {
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return true
        }
        return !meansNoDescriptor(errno)
    }

    /// Whether an error code says that no file descriptor was left, for this process or the machine.
    package static func meansNoDescriptor(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

    /// Whether an error code says that a host or port could not be reached at all.
    package static func meansUnreachable(_ code: Int32) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, ENETDOWN, EHOSTDOWN].contains(code)
    }

    /// Why a server cannot listen, where an error code says that.
    package static func reasonNotToListen(_ code: Int32) -> String {
        switch code {
        case EADDRINUSE: "another program listens there"
        case EACCES: "the system keeps that port for its administrator"
        case EADDRNOTAVAIL: "this machine does not have that address"
        default: message(code)
        }
    }

    /// Seconds since 1970.
    package static func wallClock() -> Int64 { Int64(time(nil)) }

    /// Nanoseconds of a clock that only runs forwards.
    package static func monotonicNanoseconds() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }

    /// This process's id.
    package static var processID: Int32 { getpid() }

    /// Whether there is a process with this id; its number may have been given to another one since.
    package static func isRunning(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno == EPERM }

    /// An environment variable.
    package static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// Lets this process open as many files and sockets as its hard limit allows, at most 65,536; answers how many it may
    /// have open now. A shell's default of 256 or 1,024 is too few for a server; where it cannot be raised it stays.
    @discardableResult
    package static func raiseDescriptorLimit() -> Int {
        guard var limit = descriptorLimits else { return 0 }
        let before = limit.rlim_cur
        limit.rlim_cur = max(before, min(limit.rlim_max, descriptorGoal))
        guard unsafe setrlimit(descriptors, &limit) == 0 else { return Int(clamping: before) }
        return Int(clamping: limit.rlim_cur)
    }

    /// Files and sockets this process may have open.
    package static var descriptorLimit: Int {
        descriptorLimits.map { Int(clamping: min($0.rlim_cur, descriptorGoal)) } ?? 256
    }

    private static var descriptorLimits: rlimit? {
        var limit = rlimit()
        return unsafe getrlimit(descriptors, &limit) == 0 ? limit : nil
    }

    #if canImport(Glibc)
        private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        private static let descriptorGoal: rlim_t = 65_536
    #elseif canImport(Darwin)
        private static let descriptors = RLIMIT_NOFILE
        private static let descriptorGoal = rlim_t(OPEN_MAX)  // more is refused there
    #else
        private static let descriptors = RLIMIT_NOFILE
        private static let descriptorGoal: rlim_t = 65_536
    #endif

    /// Gives memory that was freed back to the system, and so keeps what a server takes flat: glibc has a heap for several
    /// threads at a time, and of each keeps the most it ever held. Goes through all of them: milliseconds. Does nothing
    /// where the C library is another.
    package static func returnFreeMemory() {
        #if os(Linux)
            _ = LinuxCalls.mallocTrim?(0)
        #endif
    }

    /// Bytes from the system's generator of random numbers.
    package static func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// `TCP_NOTSENT_LOWAT`: bytes a socket may hold unsent before it stops being writable.
    package static let notSentLowWater: Int32 = {
        #if canImport(Darwin)
            TCP_NOTSENT_LOWAT
        #else
            25  // linux/tcp.h
        #endif
    }()
}
