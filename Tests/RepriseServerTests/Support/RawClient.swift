#if Server
    import NIOCore
    import NIOPosix
    import RepriseHTTP
    import ReprisePlatform

    /// An answer as it came over the socket.
    struct RawAnswer: Sendable {
        var version = ""
        var status = 0
        var fields = HTTPFields()
        var body: [UInt8] = []
        /// Answers before it, but for 100.
        var interims: [(status: Int, fields: HTTPFields)] = []
        /// Fields behind the body.
        var trailers = HTTPFields()

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    extension HTTPFields {
        /// The fields of a head's lines behind its first; what is none is left out.
        init(lines: some Sequence<some StringProtocol>) {
            self.init(
                lines.compactMap { line in
                    line.firstIndex(of: ":").map { colon in
                        (String(line[..<colon]), String(line[line.index(after: colon)...]))
                    }
                })
        }
    }

    struct RawClientError: Error, CustomStringConvertible {
        var description: String
    }

    /// One connection that writes what it is told and reads answers off the wire, so that a test sees each byte.
    final class RawClient: Sendable {
        private struct State {
            var received: [UInt8] = []
            var isClosed = false
            var waiting: [EventLoopPromise<Void>] = []
        }

        private let channel: any Channel
        private let state: Inbox

        /// What arrived, and who waits for more.
        private final class Inbox: ChannelInboundHandler, Sendable {
            typealias InboundIn = ByteBuffer
            private let state = Lock(State())

            func withState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
                try state.withLock { try body(&$0) }
            }

            private func change(_ body: (inout State) -> Void) {
                let waiting = state.withLock { state in
                    body(&state)
                    defer { state.waiting = [] }
                    return state.waiting
                }
                for promise in waiting { promise.succeed() }
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                let buffer = unwrapInboundIn(data)
                change { $0.received += buffer.readableBytesView }
            }

            func channelInactive(context: ChannelHandlerContext) { change { $0.isClosed = true } }

            func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        }

        private init(channel: any Channel, state: Inbox) {
            self.channel = channel
            self.state = state
        }

        deinit { channel.close(promise: nil) }

        /// Connects to a port of this machine.
        /// - Parameter receiveBuffer: Size of the socket's receive buffer in bytes, for a client that is to stall soon.
        /// - Parameter sendsOn: Whether it sends on where the server has ended its side.
        static func connect(port: Int, receiveBuffer: Int? = nil, sendsOn: Bool = false) async throws -> RawClient {
            let inbox = Inbox()
            var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(.seconds(30))
                .channelOption(.allowRemoteHalfClosure, value: sendsOn)
                .channelInitializer { $0.pipeline.addHandler(inbox) }
            if let receiveBuffer {
                bootstrap = bootstrap.channelOption(
                    .socketOption(.so_rcvbuf), value: ChannelOptions.Types.SocketOption.Value(receiveBuffer))
            }
            let channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            return RawClient(channel: channel, state: inbox)
        }

        /// Sends `text` as it is.
        func send(_ text: String) async throws {
            try await channel.writeAndFlush(ByteBuffer(string: text))
        }

        /// Sends one of these after the other with such a pause between, as a slow client does. The socket's loop keeps the time,
        /// which goes on however busy the tests are.
        func send(_ texts: [String], every pause: TimeAmount) async throws {
            let channel = channel
            let sent = texts.enumerated().map { place, text in
                channel.eventLoop.flatScheduleTask(in: pause * place) {
                    channel.writeAndFlush(ByteBuffer(string: text))
                }.futureResult
            }
            try await EventLoopFuture.andAllSucceed(sent, on: channel.eventLoop).get()
        }

        /// Sends these bytes as they are.
        func send(_ bytes: some Collection<UInt8> & Sendable) async throws {
            try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
        }

        /// Says that it will send nothing more; answers may still come.
        func endSending() async throws { try await channel.close(mode: .output) }

        /// Sends a request for `target`.
        func request(_ target: String, method: String = "GET", _ fields: [(String, String)] = []) async throws {
            try await send(RawClient.head(target, method: method, fields))
        }

        static func head(_ target: String, method: String = "GET", _ fields: [(String, String)] = []) -> String {
            var lines = ["\(method) \(target) HTTP/1.1"]
            if !fields.contains(where: { $0.0 == "Host" }) { lines.append("Host: 127.0.0.1") }
            lines += fields.map { "\($0.0): \($0.1)" }
            return lines.joined(separator: "\r\n") + "\r\n\r\n"
        }

        /// Stops or goes on reading, as a player that pauses.
        func setReading(_ isReading: Bool) async throws {
            try await channel.setOption(.autoRead, value: isReading).get()
        }

        func close() async { try? await channel.close() }

        /// Bytes that have come and were not taken yet.
        var unreadCount: Int { state.withState { $0.received.count } }

        var isClosed: Bool { state.withState { $0.isClosed } }

        /// Waits until the other side has closed the connection.
        func waitUntilClosed() async throws {
            try await wait { $0.isClosed ? true : nil }
        }

        /// Waits until `count` bytes have come, and takes whatever is there.
        func takeBytes(atLeast count: Int) async throws -> [UInt8] {
            try await wait { state in
                guard state.received.count >= count else { return nil }
                defer { state.received = [] }
                return state.received
            }
        }

        /// Waits until `found` has a result; looks again whenever something came.
        @discardableResult
        private func wait<Result: Sendable>(_ found: @Sendable (inout State) throws -> Result?) async throws -> Result {
            while true {
                let eventLoop = channel.eventLoop
                let (result, promise) = try state.withState { state -> (Result?, EventLoopPromise<Void>?) in
                    if let result = try found(&state) { return (result, nil) }
                    if state.isClosed { throw RawClientError(description: "the connection was closed") }
                    let promise = eventLoop.makePromise(of: Void.self)
                    state.waiting.append(promise)
                    return (nil, promise)
                }
                guard let promise else {
                    guard let result else { continue }
                    return result
                }
                let deadline = channel.eventLoop.scheduleTask(in: .seconds(300)) {
                    promise.fail(RawClientError(description: "nothing came for 300 seconds"))
                }
                defer { deadline.cancel() }
                try await promise.futureResult.get()
            }
        }

        /// Reads the head of an answer and no further.
        func readHead() async throws -> RawAnswer {
            try await wait { state in
                guard let end = RawClient.endOfHead(state.received) else { return nil }
                let answer = try RawClient.parse(state.received[..<end])
                state.received.removeFirst(end + 4)
                return answer
            }
        }

        /// Reads one answer, body included.
        /// - Parameter isBodyless: Whether it answers a `HEAD`.
        func readAnswer(isBodyless: Bool = false) async throws -> RawAnswer {
            let (answer, isWhole) = try await readAnswerOrBeginning(isBodyless: isBodyless)
            guard isWhole else { throw RawClientError(description: "the connection was closed") }
            return answer
        }

        /// Reads one answer, or what of it came before the connection was closed; its head at least.
        func readAnswerOrBeginning(isBodyless: Bool = false) async throws -> (answer: RawAnswer, isWhole: Bool) {
            var answer = try await readHead()
            while (102..<200).contains(answer.status) {
                let interims = answer.interims + [(answer.status, answer.fields)]
                answer = try await readHead()
                answer.interims = interims
            }
            if isBodyless || answer.status == 204 || answer.status == 304 { return (answer, true) }
            let isWhole: Bool
            if let length = answer.fields["Content-Length"].flatMap({ Int($0) }) {
                (answer.body, isWhole) = try await wait { state in
                    guard state.received.count >= length || state.isClosed else { return nil }
                    let body = Array(state.received.prefix(length))
                    state.received.removeFirst(body.count)
                    return (body, body.count == length)
                }
            } else if answer.fields.has(token: "chunked", in: "Transfer-Encoding") {
                (answer.body, answer.trailers, isWhole) = try await wait { state in
                    let taken = try RawClient.takeChunks(&state.received)
                    if let trailers = taken.trailers { return (taken.body, trailers, true) }
                    return state.isClosed ? (taken.body, HTTPFields(), false) : nil
                }
            } else {
                answer.body = try await wait { state in
                    guard state.isClosed else { return nil }
                    defer { state.received = [] }
                    return state.received
                }
                isWhole = true
            }
            return (answer, isWhole)
        }

        private static func endOfHead(_ bytes: [UInt8]) -> Int? {
            let mark = Array("\r\n\r\n".utf8)
            guard bytes.count >= 4 else { return nil }
            return (0...(bytes.count - 4)).first { bytes[$0] == mark[0] && Array(bytes[$0..<($0 + 4)]) == mark }
        }

        private static func parse(_ head: ArraySlice<UInt8>) throws -> RawAnswer {
            let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map { String($0) }
            let status = lines.first?.split(separator: " ", maxSplits: 2) ?? []
            guard status.count >= 2, let code = Int(status[1]) else {
                throw RawClientError(description: "not a status line: \(lines.first ?? "")")
            }
            return RawAnswer(version: String(status[0]), status: code, fields: HTTPFields(lines: lines.dropFirst()))
        }

        // What there is of a chunked body, with its trailers where it is whole; it is taken off `bytes` only then.
        private static func takeChunks(_ bytes: inout [UInt8]) throws -> (body: [UInt8], trailers: HTTPFields?) {
            var body: [UInt8] = []
            var position = 0
            while true {
                guard let end = bytes[position...].firstIndex(of: 0x0D), end + 1 < bytes.count else {
                    return (body, nil)
                }
                guard let size = Int(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16) else {
                    throw RawClientError(description: "not a chunk size")
                }
                let start = end + 2
                if size == 0 {
                    guard let last = endOfHead(Array(bytes[end...])) else { return (body, nil) }
                    let lines = String(decoding: bytes[end..<(end + last)], as: UTF8.self).split(separator: "\r\n")
                    bytes.removeFirst(end + last + 4)
                    return (body, HTTPFields(lines: lines))
                }
                body += bytes[start...].prefix(size)
                guard start + size + 2 <= bytes.count else { return (body, nil) }
                position = start + size + 2
            }
        }
    }
#endif
