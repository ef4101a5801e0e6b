#if Server
    import NIOCore
    import NIOHTTP1

    /// Fails answers whose status is none (RFC 9110 §15: three digits from 100 on). The library takes the parser's word for it, and
    /// a status below 100 ends the process.
    final class StatusGuard: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias InboundOut = HTTPClientResponsePart

        /// The status that came.
        struct Refused: Error {
            let status: Int
        }

        private var hasRefused = false

        /// Puts one behind the decoder of the library's pipeline. Runs on the channel's event loop.
        static func add(to channel: any Channel) throws {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(StatusGuard(), position: .after(decoder.handler))
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if hasRefused { return }
            if case .head(let head) = unwrapInboundIn(data), !(100..<1000).contains(head.status.code) {
                hasRefused = true
                context.fireErrorCaught(Refused(status: Int(head.status.code)))
                return context.close(promise: nil)
            }
            context.fireChannelRead(data)
        }
    }
#endif
