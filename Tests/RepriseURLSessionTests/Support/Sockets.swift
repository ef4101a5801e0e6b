#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The few socket calls a test's origin needs, blocking.
enum Sockets {
    struct Failure: Error {
        var call: String
    }

    /// Listens on a port of the system's choice on this machine alone.
    static func listen() throws -> (socket: Int32, port: Int) {
        let bound = try bound()
        guard systemListen(bound.socket) else { throw Failure(call: "listen") }
        return bound
    }

    private static func bound() throws -> (socket: Int32, port: Int) {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let socket = Self.socket(kind)
        guard socket >= 0 else { throw Failure(call: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let size = length
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(socket, generic, size) == 0 && getsockname(socket, generic, &length) == 0
            }
        }
        guard isBound else { throw Failure(call: "bind") }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// A port nobody listens at. It stays taken until the tests end, so that no other test is given it meanwhile.
    static func unusedPort() throws -> Int { try bound().port }

    private static func systemListen(_ socket: Int32) -> Bool {
        #if canImport(Glibc)
            Glibc.listen(socket, 64) == 0
        #else
            Darwin.listen(socket, 64) == 0
        #endif
    }

    private static func socket(_ kind: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.socket(AF_INET, kind, 0)
        #else
            Darwin.socket(AF_INET, kind, 0)
        #endif
    }

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
