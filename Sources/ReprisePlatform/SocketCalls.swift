#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Writing to a connected socket that does not block. Linux only: elsewhere nothing is taken, and the caller goes its
/// usual way. Errors are not told apart from a full socket: the usual way meets them too.
package enum SocketCalls {
    /// Writes what the socket takes at once of bytes that more follow, right away, so that the two may leave in one packet.
    /// - Returns: Bytes taken.
    @unsafe package static func writeBeginning(_ bytes: UnsafeRawBufferPointer, to socket: Int32) -> Int {
        #if os(Linux)
            let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE)
            return max(0, unsafe send(socket, bytes.baseAddress, bytes.count, flags))
        #else
            return 0
        #endif
    }

    /// Writes one piece and then another, as far as the socket takes them at once.
    /// - Returns: Bytes taken of both together.
    @unsafe package static func write(
        _ first: UnsafeRawBufferPointer, then second: UnsafeRawBufferPointer, to socket: Int32
    ) -> Int {
        #if os(Linux)
            var pieces = unsafe [
                iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
                iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count),
            ]
            return unsafe pieces.withUnsafeMutableBufferPointer { pieces in
                var message = unsafe msghdr()
                unsafe message.msg_iov = pieces.baseAddress
                unsafe message.msg_iovlen = numericCast(pieces.count)
                return max(0, unsafe sendmsg(socket, &message, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)))
            }
        #else
            return 0
        #endif
    }

    /// Has the kernel write bytes of a file, as many as the socket takes at once.
    /// - Returns: Bytes taken.
    package static func sendFile(_ file: Int32, offset: Int64, count: Int, to socket: Int32) -> Int {
        #if os(Linux)
            var position = off_t(offset)
            return max(0, unsafe sendfile(socket, file, &position, count))
        #else
            return 0
        #endif
    }
}
