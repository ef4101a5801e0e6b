#if Server
    import NIOCore
    import NIOPosix
    import Synchronization

    /// A server that answers the first request of each connection with the same bytes.
    final class CannedOrigin: Sendable {
        private let channel: any Channel
        private let asked = Counter()
        private let open = Counter()

        private final class Counter: Sendable {
            let value = Mutex(0)
        }

        /// Connections that are still to be closed without an answer.
        private final class Loss: Sendable {
            private let left: Mutex<Int>
            private let method: String?
            let isGone: Bool

            init(left: Int, method: String?, isGone: Bool) {
                self.left = Mutex(left)
                self.method = method
                self.isGone = isGone
            }

            func concerns(_ request: String) -> Bool { method.map { request.hasPrefix($0 + " ") } ?? true }

            func takesOne() -> Bool {
                left.withLock { left in
                    guard left > 0 else { return false }
                    left -= 1
                    return true
                }
            }
        }

        /// Listens on a free port of the loopback.
        /// - Parameters:
        ///   - lost: So many connections are closed at their request, without an answer.
        ///   - method: Of which requests; `nil` for all.
        ///   - isGone: Whether no further connection is taken once one is closed so.
        ///   - other: What requests by that method are answered once no more is lost.
        init(
            _ answer: [UInt8], lost: Int = 0, of method: String? = nil, thenGone isGone: Bool = false,
            answered other: [UInt8]? = nil
        ) async throws {
            let (asked, open, loss) = (asked, open, Loss(left: lost, method: method, isGone: isGone))
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            Sender(answer, other ?? answer, loss, asked, open))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }

        var base: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

        /// Connections that a request came on.
        var requestCount: Int { asked.value.withLock { $0 } }

        /// Connections that are open.
        var openCount: Int { open.value.withLock { $0 } }

        func stop() async { try? await channel.close() }

        private final class Sender: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            private let answer: [UInt8]
            private let other: [UInt8]
            private let loss: Loss
            private let asked: Counter
            private let open: Counter
            private var hasAnswered = false

            init(_ answer: [UInt8], _ other: [UInt8], _ loss: Loss, _ asked: Counter, _ open: Counter) {
                self.open = open
                self.answer = answer
                self.other = other
                self.loss = loss
                self.asked = asked
            }

            func channelActive(context: ChannelHandlerContext) { open.value.withLock { $0 += 1 } }

            func channelInactive(context: ChannelHandlerContext) { open.value.withLock { $0 -= 1 } }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                guard !hasAnswered else { return }
                hasAnswered = true
                asked.value.withLock { $0 += 1 }
                let isConcerned = loss.concerns(String(buffer: unwrapInboundIn(data)))
                if isConcerned, loss.takesOne() {
                    guard loss.isGone, let listener = context.channel.parent else { return context.close(promise: nil) }
                    let channel = context.channel
                    return listener.close().whenComplete { _ in channel.close(promise: nil) }
                }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: isConcerned ? other : answer)), promise: nil)
            }
        }
    }
#endif
