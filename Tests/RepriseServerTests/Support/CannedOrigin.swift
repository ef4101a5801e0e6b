#if Server
    import NIOCore
    import NIOPosix
    import Synchronization

    /// A server that answers the first request of each connection with the same bytes.
    final class CannedOrigin: Sendable {
        private let channel: any Channel
        private let asked = Counter()

        private final class Counter: Sendable {
            let value = Mutex(0)
        }

        /// Listens on a free port of the loopback.
        /// - Parameter lost: So many connections are closed at their request, without an answer.
        init(_ answer: [UInt8], lost: Int = 0) async throws {
            let asked = asked
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Sender(answer, lost: lost, asked))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }

        var base: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

        /// Connections that a request came on.
        var requestCount: Int { asked.value.withLock { $0 } }

        func stop() async { try? await channel.close() }

        private final class Sender: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            private let answer: [UInt8]
            private let lost: Int
            private let asked: Counter
            private var hasAnswered = false

            init(_ answer: [UInt8], lost: Int, _ asked: Counter) {
                self.answer = answer
                self.lost = lost
                self.asked = asked
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                guard !hasAnswered else { return }
                hasAnswered = true
                let number = asked.value.withLock { value in
                    value += 1
                    return value
                }
                guard number > lost else { return context.close(promise: nil) }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
            }
        }
    }
#endif
