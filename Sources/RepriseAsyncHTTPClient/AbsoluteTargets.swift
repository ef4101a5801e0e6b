#if Server
    import NIOCore
    import NIOHTTP1
    import RepriseHTTP

    /// Writes request targets as a proxy for plain HTTP wants them: whole (RFC 9112 §3.2.2). The library only knows
    /// tunnels, which many proxies open to port 443 alone.
    final class AbsoluteTargets: ChannelOutboundHandler {
        typealias OutboundIn = HTTPClientRequestPart
        typealias OutboundOut = HTTPClientRequestPart

        /// Puts one before the encoder of the library's pipeline. Runs on the channel's event loop.
        static func add(to channel: any Channel) throws {
            let pipeline = channel.pipeline.syncOperations
            let encoder = try pipeline.context(handlerType: HTTPRequestEncoder.self)
            try pipeline.addHandler(AbsoluteTargets(), position: .after(encoder.handler))
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard case .head(var head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") else {
                context.write(data, promise: promise)
                return
            }
            head.uri = "http://\(host)\(head.uri)"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        }
    }

    extension OriginURL {
        /// Where a request goes that `proxy` relays; the origin is in its `Host` field.
        func relayed(by proxy: UpstreamProxy) -> OriginURL? {
            OriginURL("http://\(proxy.host.contains(":") ? "[\(proxy.host)]" : proxy.host):\(proxy.port)\(target)")
        }
    }
#endif
