#if Server
    import NIOCore
    import NIOPosix
    import ReprisePlatform

    /// A proxy that knows `CONNECT` and nothing else, and leads every host to this machine.
    final class TunnelProxy: Sendable {
        private let listener: any Channel
        private let heads: Heads

        final class Heads: Sendable {
            let all = Lock<[String]>([])
        }

        private init(_ listener: any Channel, _ heads: Heads) {
            self.listener = listener
            self.heads = heads
        }

        var port: Int { listener.localAddress?.port ?? 0 }
        /// What was asked of it, head by head.
        var requests: [String] { heads.all.withLock { $0 } }

        static func start() async throws -> TunnelProxy {
            let heads = Heads()
            let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Entrance(heads))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            return TunnelProxy(listener, heads)
        }

        func stop() async throws { try await listener.close() }

        /// Reads the head, connects, and then passes bytes on.
        private final class Entrance: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            private let heads: Heads
            private var head = ""
            private var peer: (any Channel)?

            init(_ heads: Heads) { self.heads = heads }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                let bytes = unwrapInboundIn(data)
                if let peer { return peer.writeAndFlush(bytes, promise: nil) }
                head += String(buffer: bytes)
                guard head.hasSuffix("\r\n\r\n") else { return }
                heads.all.withLock { $0.append(head) }
                let words = head.split(separator: " ")
                guard words.first == "CONNECT", let port = words[1].split(separator: ":").last.flatMap({ Int($0) })
                else {
                    return answer("403 Forbidden", context)
                }
                let channel = context.channel
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                ClientBootstrap(group: context.eventLoop)
                    .channelInitializer { peer in
                        peer.eventLoop.makeCompletedFuture {
                            try peer.pipeline.syncOperations.addHandler(Exit(channel))
                        }
                    }
                    .connect(host: "127.0.0.1", port: port).whenComplete { result in
                        let (entrance, context) = bound.value
                        guard case .success(let peer) = result else {
                            return entrance.answer("502 Bad Gateway", context)
                        }
                        entrance.peer = peer
                        entrance.answer("200 OK", context)
                    }
            }

            func channelInactive(context: ChannelHandlerContext) { peer?.close(promise: nil) }

            private func answer(_ status: String, _ context: ChannelHandlerContext) {
                let field = status.hasPrefix("200") ? "" : "Content-Length: 0\r\n"
                context.channel.writeAndFlush(ByteBuffer(string: "HTTP/1.1 \(status)\r\n\(field)\r\n"), promise: nil)
            }
        }

        private final class Exit: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            private let client: any Channel
            init(_ client: any Channel) { self.client = client }
            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                client.writeAndFlush(unwrapInboundIn(data), promise: nil)
            }
            func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
        }
    }
#endif
