#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The few socket calls a test's origin needs, blocking.
enum Sockets {
    static func accept(_ listener: Int32) -> Int32? {
        #if canImport(Glibc)
            let connection = Glibc.accept(listener, nil, nil)
        #else
            let connection = Darwin.accept(listener, nil, nil)
        #endif
        guard connection >= 0 else { return nil }
        var one: Int32 = 1
        unsafe setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return connection
    }

    /// What has come; empty at the end, `nil` after an error.
    static func receive(_ connection: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(connection, $0.baseAddress, $0.count, 0) }
        return count < 0 ? nil : Array(buffer.prefix(count))
    }

    /// Sends everything; `false` where the other side has left.
    static func send(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                #if canImport(Glibc)
                    return unsafe Glibc.send(connection, rest.baseAddress, rest.count, flags)
                #else
                    return unsafe Darwin.send(connection, rest.baseAddress, rest.count, flags)
                #endif
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Lingering for no time makes the close a reset.
    static func resetOnClose(_ connection: Int32) {
        var now = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    static func shutDown(_ socket: Int32) {
        #if canImport(Glibc)
            _ = Glibc.shutdown(socket, Int32(SHUT_RDWR))
        #else
            _ = Darwin.shutdown(socket, SHUT_RDWR)
        #endif
    }

    static func close(_ socket: Int32) {
        #if canImport(Glibc)
            _ = Glibc.close(socket)
        #else
            _ = Darwin.close(socket)
        #endif
    }
}
