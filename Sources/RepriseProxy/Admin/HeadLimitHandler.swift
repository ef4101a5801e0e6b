#if Proxy
    import NIOCore
    import NIOHTTP1

    /// Refuses requests whose head is larger than it may be.
    final class HeadLimitHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias InboundOut = HTTPServerRequestPart

        private let limit: Int

        init(limit: Int) { self.limit = limit }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .head(let head) = unwrapInboundIn(data) {
                let size = head.headers.reduce(head.uri.utf8.count) {
                    $0 + $1.name.utf8.count + $1.value.utf8.count + 4
                }
                if size > limit {
                    context.fireErrorCaught(HTTPParserError.headerOverflow)
                    return
                }
            }
            context.fireChannelRead(data)
        }
    }
#endif
