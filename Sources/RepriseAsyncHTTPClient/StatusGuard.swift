#if Server
    import NIOCore
    import NIOHTTP1

    /// Fails answers whose status is none (RFC 9110 §15: three digits from 100 on). The library takes the parser's word for it,
    /// and a status below 100 ends the process.
    final class StatusGuard: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias InboundOut = HTTPClientResponsePart

        /// The status that came.
        struct Refused: Error {
            let status: Int
        }

        private var hasRefused = false

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
