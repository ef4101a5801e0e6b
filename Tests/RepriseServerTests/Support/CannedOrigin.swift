#if Server
    import NIOCore
    import NIOPosix

    /// A server that answers the first request of each connection with the same bytes.
    final class CannedOrigin: Sendable {
        private let channel: any Channel

        /// Listens on a free port of the loopback.
        init(_ answer: [UInt8]) async throws {
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Sender(answer))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }

        var base: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

        func stop() async { try? await channel.close() }

        private final class Sender: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            private let answer: [UInt8]
            private var hasAnswered = false

            init(_ answer: [UInt8]) { self.answer = answer }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                guard !hasAnswered else { return }
                hasAnswered = true
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
            }
        }
    }
#endif
