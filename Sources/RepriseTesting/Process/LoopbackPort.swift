#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A socket of this machine's own loopback, bound to a port of the system's choice.
package struct LoopbackPort: Sendable {
    /// A call of the system failed.
    package struct Failure: Error {
        /// The call that failed.
        package let call: String
    }

    /// The socket's descriptor. The port stays taken until the caller closes it.
    package let socket: Int32
    /// Its number.
    package let number: Int

    /// Binds a socket.
    /// - Throws: `Failure`.
    package init() throws(Failure) {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let made = LoopbackPort.systemSocket(kind)
        guard made >= 0 else { throw Failure(call: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let size = length
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(made, generic, size) == 0 && getsockname(made, generic, &length) == 0
            }
        }
        guard isBound else { throw Failure(call: "bind") }
        socket = made
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Accepts connections from here on.
    /// - Throws: `Failure`.
    package func listen() throws(Failure) {
        guard systemListen() else { throw Failure(call: "listen") }
    }

    /// A port that refuses connections, and that no other test is given until the tests end.
    /// - Throws: `Failure`.
    package static func unused() throws(Failure) -> Int { try LoopbackPort().number }

    private func systemListen() -> Bool {
        #if canImport(Glibc)
            Glibc.listen(socket, 64) == 0
        #else
            Darwin.listen(socket, 64) == 0
        #endif
    }

    private static func systemSocket(_ kind: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.socket(AF_INET, kind, 0)
        #else
            Darwin.socket(AF_INET, kind, 0)
        #endif
    }
}
