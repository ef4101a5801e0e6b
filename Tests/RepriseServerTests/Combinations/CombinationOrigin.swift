#if Server
    import NIOCore
    import NIOPosix
    import RepriseHTTP
    import RepriseRanges
    import RepriseTesting
    import ReprisePlatform

    /// An origin on a socket that answers `/bad/N` as combination N says and `/good/N` as an origin should.
    final class CombinationOrigin: Sendable {
        private let channel: any Channel
        private let seen: Seen

        /// What reached it that none of the combinations' clients asked for.
        private final class Seen: Sendable {
            let strange = Lock<[String]>([])
        }

        static func start() async throws -> CombinationOrigin {
            let seen = Seen()
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: 256)
                .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Handler(seen))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            return CombinationOrigin(channel: channel, seen: seen)
        }

        private init(channel: any Channel, seen: Seen) {
            self.channel = channel
            self.seen = seen
        }

        var port: Int { channel.localAddress?.port ?? 0 }

        /// First lines and bodies that no client sent, or that a cache has no business to send.
        var strangeRequests: [String] { seen.strange.withLock { $0 } }

        func stop() async { try? await channel.close() }

        /// The honest object at `/good/N`.
        static func goodContent(_ number: Int) -> PositionCodedContent {
            PositionCodedContent(length: 1000, generation: (1 << 32) + number)
        }

        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            private let seen: Seen
            private var received: [UInt8] = []
            private var isStalled = false

            init(_ seen: Seen) { self.seen = seen }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                received += unwrapInboundIn(data).readableBytesView
                while !isStalled, let request = takeRequest() { answer(request, context) }
            }

            func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

            private struct Request {
                var line: [String]
                var fields: HTTPFields
                var body: [UInt8]
            }

            private func takeRequest() -> Request? {
                guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
                let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
                let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
                let fields = HTTPFields(lines: lines.dropFirst())
                let length = fields["Content-Length"].flatMap { Int($0) } ?? 0
                guard received.count >= end.upperBound + length else { return nil }
                let body = Array(received[end.upperBound..<(end.upperBound + length)])
                received.removeFirst(end.upperBound + length)
                return Request(line: lines[0].split(separator: " ").map { String($0) }, fields: fields, body: body)
            }

            private func answer(_ request: Request, _ context: ChannelHandlerContext) {
                let path = request.line.count == 3 ? request.line[1].split(separator: "/") : []
                let number = path.count == 2 ? Int(path[1]) : nil
                let isBodyRight = request.body.isEmpty || request.body == Array(Combination.requestBody.utf8)
                guard let number, isBodyRight, !request.fields.contains("Transfer-Encoding"),
                    path[0] == "good" || path[0] == "bad"
                else {
                    seen.strange.withLock { $0.append("\(request.line.joined(separator: " ")) \(request.body.count)") }
                    context.close(promise: nil)
                    return
                }
                let method = request.line[0]
                if path[0] == "good" {
                    let body = CombinationOrigin.goodContent(number).bytes(in: .init(0, 1000))
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nContent-Length: 1000\r\n\r\n"
                    send(Array(head.utf8) + (method == "HEAD" ? [] : body), context)
                    return
                }
                let range = request.fields["Range"].flatMap { RangeSpecifier.parse($0) }?.first
                for move in Combination(number: number).moves(method: method, range: range) { make(move, context) }
            }

            private func send(_ bytes: some Sequence<UInt8>, _ context: ChannelHandlerContext) {
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Array(bytes))), promise: nil)
            }

            private func make(_ move: Combination.Move, _ context: ChannelHandlerContext) {
                switch move {
                case .send(let bytes): send(bytes, context)
                case .drip(let bytes):
                    // The first hundred one by one, the rest in a few pieces.
                    for byte in bytes.prefix(100) { send([byte], context) }
                    let rest = bytes.dropFirst(100)
                    send(rest.prefix(rest.count / 2), context)
                    send(rest.dropFirst(rest.count / 2), context)
                case .reset:
                    // Lingering for no time makes the close a reset.
                    let channel = context.channel
                    let isSet = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                    (isSet ?? channel.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in
                        channel.close(promise: nil)
                    }
                    isStalled = true
                case .close:
                    context.close(promise: nil)
                    isStalled = true
                case .stall: isStalled = true
                }
            }
        }
    }
#endif
