#if Proxy
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import RepriseHTTP
    import ReprisePlatform
    import RepriseRanges

    /// Writes a connection's answers as HTTP/1.1 frames them (RFC 9112 §4, §6, §7.1): heads, bodies as they are or in
    /// chunks. Which framing an answer has is decided by whoever writes the head. Lives on its channel's event loop.
    final class AnswerWriter {
        /// A status line and field lines.
        struct Head {
            var status: Int
            /// Of HTTP/1.
            var minorVersion = 1
            var fields = HTTPFields()
            /// The part of a resource that follows, if that is not in the fields.
            var part: ServerExchange.Part?
            /// Further fields, that are others in every answer.
            var more = HTTPFields()
        }

        /// The connection's last answer to a range.
        var memory: AnswerMemory?

        private let context: ChannelHandlerContext
        private var isChunked = false
        /// A head that waits for what is written next.
        private var head: ByteBuffer?
        /// Whether something was written that may not have left yet.
        private(set) var hasUnsent = false
        private(set) var last: (status: Int, minorVersion: Int, fields: HTTPFields, bytes: ByteBuffer)?

        /// The channel's socket. Its number is another's once the channel is closed, and a channel is inactive before it
        /// calls anybody about that: it is used while the channel is active, on its event loop, and never else.
        private let socket: NIOBSDSocket.Handle?

        init(_ context: ChannelHandlerContext) {
            self.context = context
            // Asked for once: the look-up is a cast that costs more than the send.
            let handle = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                of: NIOBSDSocket.Handle.self
            ) { $0 }
            socket = handle ?? nil
        }

        /// Writes a head; what is written then is its body.
        /// - Parameter isChunked: Whether the body is framed in chunks, which `head` says.
        func write(_ head: Head, isChunked: Bool) {
            self.isChunked = isChunked
            var buffer = common(head)
            if let part = head.part { buffer.writePart(part) }
            for line in head.more.lines { buffer.writeField(line) }
            buffer.writeStaticString("\r\n")
            self.head = buffer
        }

        /// Sends bytes of a file right away, and a head that waits before them, past the channel: as far as the socket
        /// takes them, and only where nothing else waits to be sent. Head and bytes may leave in one packet; alone, the
        /// head would wake the client for nothing.
        /// - Returns: Bytes of the file that were taken; the rest is still to be written.
        func send(_ range: ByteRange, of file: Int32) -> Int64 {
            guard let socket = freeSocket(), sendHead(to: socket) else { return 0 }
            return Int64(SocketCalls.sendFile(file, offset: range.lowerBound, count: Int(range.count), to: socket))
        }

        /// Sends bytes in memory in the same way, in one call with a head that waits.
        /// - Returns: Bytes that were taken; the rest is still to be written.
        func send(_ bytes: [UInt8]) -> Int {
            guard let socket = freeSocket() else { return 0 }
            let taken = unsafe (head ?? ByteBuffer()).withUnsafeReadableBytes { head in
                unsafe bytes.withUnsafeBytes { unsafe SocketCalls.write(head, then: $0, to: socket) }
            }
            return taken - tookHead(taken)
        }

        /// The socket where a body's bytes may be sent past the channel.
        private func freeSocket() -> NIOBSDSocket.Handle? {
            guard !isChunked, !hasUnsent, let socket, context.channel.isActive else { return nil }
            return socket
        }

        private func sendHead(to socket: NIOBSDSocket.Handle) -> Bool {
            guard let head else { return true }
            let taken = unsafe head.withUnsafeReadableBytes {
                unsafe SocketCalls.writeBeginning($0, to: socket)
            }
            tookHead(taken)
            return self.head == nil
        }

        /// The socket took so many bytes, the head's first; answers how many of them were the head's.
        @discardableResult
        private func tookHead(_ taken: Int) -> Int {
            guard var head else { return 0 }
            let count = min(taken, head.readableBytes)
            head.moveReaderIndex(forwardBy: count)
            self.head = head.readableBytes == 0 ? nil : head
            return count
        }

        /// Writes bytes of a body; `left` tells when they, and so all before them, were taken by the kernel.
        func write(body: IOData, left: EventLoopPromise<Void>? = nil) {
            guard body.readableBytes > 0 else { return left?.succeed() ?? () }
            guard isChunked else { return write(body, left) }
            write(ByteBuffer(string: String(body.readableBytes, radix: 16) + "\r\n"))
            write(body, nil)
            write(.byteBuffer(ByteBuffer(staticString: "\r\n")), left)
        }

        /// Sends what was written.
        func flush() {
            flushHead()
            context.flush()
        }

        private func flushHead() {
            guard let head else { return }
            self.head = nil
            hasUnsent = true
            context.write(NIOAny(IOData.byteBuffer(head)), promise: nil)
        }

        /// Ends the body; behind one in chunks come the trailers (RFC 9112 §7.1.2), which others cannot have.
        func end(_ trailers: HTTPFields, left: EventLoopPromise<Void>?) {
            var buffer = ByteBuffer()
            if isChunked {
                buffer.writeStaticString("0\r\n")
                for line in trailers.lines { buffer.writeField(line) }
                buffer.writeStaticString("\r\n")
            }
            write(.byteBuffer(buffer), left)
            isChunked = false
        }

        /// Whether ending the body takes no byte, and nothing is left to send.
        var hasEnded: Bool { !isChunked && !hasUnsent && head == nil }

        /// All that was written up to now has left.
        func allHasLeft() { hasUnsent = false }

        private func write(_ buffer: ByteBuffer) { write(.byteBuffer(buffer), nil) }

        private func write(_ data: IOData, _ left: EventLoopPromise<Void>?) {
            hasUnsent = true
            flushHead()
            context.write(NIOAny(data), promise: left)
        }

        /// The part of a head that the connection's next head may have, too: its bytes are kept.
        private func common(_ head: Head) -> ByteBuffer {
            if let last, last.status == head.status, last.minorVersion == head.minorVersion, last.fields == head.fields
            {
                return last.bytes
            }
            var buffer = context.channel.allocator.buffer(capacity: 512)
            let status = HTTPResponseStatus(statusCode: head.status)
            buffer.writeString("HTTP/1.\(head.minorVersion) \(head.status) \(status.reasonPhrase)\r\n")
            for line in head.fields.lines { buffer.writeField(line) }
            last = (head.status, head.minorVersion, head.fields, buffer)
            return buffer
        }
    }

    extension ByteBuffer {
        /// `Content-Range` and `Content-Length`: numbers, which need no look at what they are made of.
        fileprivate mutating func writePart(_ part: ServerExchange.Part) {
            writeStaticString("Content-Range: bytes ")
            writeString(String(part.range.lowerBound))
            writeStaticString("-")
            writeString(String(part.range.upperBound - 1))
            writeStaticString("/")
            if let total = part.total { writeString(String(total)) } else { writeStaticString("*") }
            writeStaticString("\r\nContent-Length: ")
            writeString(String(part.range.count))
            writeStaticString("\r\n")
        }

        fileprivate mutating func writeField(_ line: HTTPFields.Field) {
            writeString(line.name)
            writeStaticString(": ")
            let start = writerIndex
            writeString(line.value)
            // Nothing an origin says makes two lines of one.
            for index in start..<writerIndex {
                if let byte: UInt8 = getInteger(at: index), byte < 0x20, byte != 0x09 {
                    setInteger(UInt8(ascii: " "), at: index)
                }
            }
            writeStaticString("\r\n")
        }
    }
#endif
