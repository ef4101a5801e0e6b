#if Server
    import NIOCore
    import NIOPosix
    import ReprisePlatform

    /// A server that answers the first request of each connection with the same bytes.
    final class CannedOrigin: Sendable {
        private let channel: any Channel
        private let script: Script

        /// What is to be done, and what was.
        private final class Script: Sendable {
            enum Step {
                case answer([UInt8])
                case vanish(isGone: Bool)
            }

            private struct State {
                var lost: Int
                var asked = 0
                var open = 0
            }

            private let answer: [UInt8]
            private let other: [UInt8]
            private let method: String?
            private let isGone: Bool
            private let state: Lock<State>

            init(_ answer: [UInt8], lost: Int, of method: String?, isGone: Bool, answered other: [UInt8]) {
                self.answer = answer
                self.other = other
                self.method = method
                self.isGone = isGone
                state = Lock(State(lost: lost))
            }

            var requestCount: Int { state.withLock { $0.asked } }
            var openCount: Int { state.withLock { $0.open } }

            func opened() { state.withLock { $0.open += 1 } }
            func closed() { state.withLock { $0.open -= 1 } }

            func next(_ request: String) -> Step {
                let isConcerned = method.map { request.hasPrefix($0 + " ") } ?? true
                return state.withLock { state in
                    state.asked += 1
                    guard isConcerned else { return .answer(answer) }
                    guard state.lost > 0 else { return .answer(other) }
                    state.lost -= 1
                    return .vanish(isGone: isGone)
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
            let script = Script(answer, lost: lost, of: method, isGone: isGone, answered: other ?? answer)
            self.script = script
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Sender(script))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }

        var base: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

        /// Connections that a request came on.
        var requestCount: Int { script.requestCount }

        /// Connections that are open.
        var openCount: Int { script.openCount }

        func stop() async { try? await channel.close() }

        private final class Sender: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            private let script: Script
            private var hasAnswered = false

            init(_ script: Script) { self.script = script }

            func channelActive(context: ChannelHandlerContext) { script.opened() }

            func channelInactive(context: ChannelHandlerContext) { script.closed() }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                guard !hasAnswered else { return }
                hasAnswered = true
                switch script.next(String(buffer: unwrapInboundIn(data))) {
                case .answer(let bytes):
                    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
                case .vanish(isGone: false): context.close(promise: nil)
                case .vanish(isGone: true):
                    let channel = context.channel
                    channel.parent?.close().whenComplete { _ in channel.close(promise: nil) }
                }
            }
        }
    }
#endif
