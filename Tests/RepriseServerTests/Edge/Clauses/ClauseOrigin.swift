#if Server
    import NIOCore
    import NIOPosix
    import RepriseHTTP
    import ReprisePlatform
    import RepriseRanges

    /// An origin that answers every request with what it was told last, and knows nothing of HTTP beyond that.
    final class ClauseOrigin: Sendable {
        struct Request: Sendable {
            var method: String
            var fields: HTTPFields
        }

        private struct State {
            var answer = OriginAnswer()
            var requests: [Request] = []
        }

        private let state = Lock(State())
        private let channel = Lock<(any Channel)?>(nil)

        /// Listens on a free port of the loopback.
        func start() async throws {
            let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Answerer(self))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            channel.withLock { $0 = listener }
        }

        var base: String { "http://127.0.0.1:\(channel.withLock { $0?.localAddress?.port } ?? 0)" }

        func stop() async {
            let listener = channel.withLock { $0 }
            try? await listener?.close()
        }

        /// Answers with this from now on, and forgets what it was asked.
        func expect(_ answer: OriginAnswer) {
            state.withLock { $0 = State(answer: answer) }
        }

        /// What it was asked since it was last told an answer.
        var requests: [Request] { state.withLock { $0.requests } }

        /// Notes a request.
        /// - Returns: The answer; `nil` to close the connection instead.
        fileprivate func answer(_ request: Request) -> String? {
            let answer = state.withLock { state in
                state.requests.append(request)
                return state.answer
            }
            if answer.isNone { return nil }
            var fields = ClauseOrigin.dated(answer.fields)
            if !fields.contains("Date") { fields["Date"] = HTTPDate.format(SystemCalls.wallClock()) }
            var (status, body) = (answer.status, answer.body ?? "")
            if let resource = answer.resource {
                (status, body) = ClauseOrigin.part(of: resource, request.fields["Range"], &fields)
            }
            let isBodyless = status == 204 || status == 304
            if isBodyless { body = "" }
            let isFramed = fields.contains("Content-Length") || fields.contains("Transfer-Encoding")
            if !isBodyless, !isFramed { fields["Content-Length"] = "\(body.utf8.count)" }
            let lines = fields.lines.map { "\($0.name): \($0.value)\r\n" }.joined()
            let head = "HTTP/1.1 \(status) Status\r\n" + lines + "\r\n"
            return request.method == "HEAD" ? head : head + body
        }

        private static func part(of resource: String, _ range: String?, _ fields: inout HTTPFields) -> (Int, String) {
            let bytes = Array(resource.utf8)
            fields["Accept-Ranges"] = "bytes"
            guard let specifier = range.flatMap(RangeSpecifier.parse)?.first else { return (200, resource) }
            guard let range = specifier.resolved(length: Int64(bytes.count)) else {
                fields["Content-Range"] = ContentRange.unsatisfied(total: Int64(bytes.count)).field
                return (416, "")
            }
            fields["Content-Range"] = ContentRange.satisfied(range, total: Int64(bytes.count)).field
            return (206, String(decoding: bytes[Int(range.lowerBound)..<Int(range.upperBound)], as: UTF8.self))
        }

        /// Fields with `{now+60}` made the date so many seconds from now.
        static func dated(_ fields: HTTPFields) -> HTTPFields {
            HTTPFields(
                fields.lines.map { line in
                    guard let start = line.value.firstIndex(of: "{"), let end = line.value.firstIndex(of: "}"),
                        let seconds = Int64(line.value[start..<end].dropFirst("{now".count))
                    else { return (line.name, line.value) }
                    let date = HTTPDate.format(SystemCalls.wallClock() + seconds)
                    return (line.name, line.value[..<start] + date + line.value[end...].dropFirst())
                })
        }

        private final class Answerer: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            private let origin: ClauseOrigin
            private var received = ""

            init(_ origin: ClauseOrigin) { self.origin = origin }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                received += String(buffer: unwrapInboundIn(data))
                while let request = nextRequest() {
                    guard let answer = origin.answer(request) else {
                        context.close(promise: nil)
                        return
                    }
                    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
                }
            }

            private func nextRequest() -> Request? {
                guard let end = received.firstRange(of: "\r\n\r\n") else { return nil }
                let lines = received[..<end.lowerBound].split(separator: "\r\n")
                let fields = HTTPFields(lines: lines.dropFirst())
                let length = fields["Content-Length"].flatMap { Int($0) } ?? 0
                let rest = received[end.upperBound...].utf8
                guard rest.count >= length, let method = lines.first?.split(separator: " ").first else { return nil }
                received = String(decoding: rest.dropFirst(length), as: UTF8.self)
                return Request(method: String(method), fields: fields)
            }
        }
    }
#endif
