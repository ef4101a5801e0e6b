#if os(Linux)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// GNU extensions that Swift's import of the C library hides. The loader finds them by name, with the signatures
    /// of their manual pages; where a C library has none, the caller does without.
    enum LinuxCalls {
        typealias Fallocate = @convention(c) (Int32, Int32, off_t, off_t) -> Int32
        typealias MallocTrim = @convention(c) (Int) -> Int32
        typealias Preadv2 = @convention(c) (Int32, UnsafePointer<iovec>?, Int32, off_t, Int32) -> Int

        /// `RWF_NOWAIT` (linux/fs.h): what would have to wait answers `EAGAIN`, or less than was asked for.
        static let withoutWaiting: Int32 = 8

        static let fallocate: Fallocate? = unsafe symbol("fallocate").map {
            unsafe unsafeBitCast($0, to: Fallocate.self)
        }
        static let preadv2: Preadv2? = unsafe symbol("preadv2").map { unsafe unsafeBitCast($0, to: Preadv2.self) }

        /// Of glibc alone.
        static let mallocTrim: MallocTrim? = unsafe symbol("malloc_trim").map {
            unsafe unsafeBitCast($0, to: MallocTrim.self)
        }

        private static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
            unsafe dlsym(dlopen(nil, RTLD_NOW), name)
        }
    }
#endif
