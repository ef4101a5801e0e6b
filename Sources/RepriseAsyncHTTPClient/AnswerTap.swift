#if Server
    import NIOCore
    import NIOHTTP1
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform

    /// Hears what the library does not tell of an exchange: its connection, interim answers, and the fields behind the body.
    /// Whose answer comes next on a connection is said by a field of its request, which stays here.
    final class AnswerTap: ChannelDuplexHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundIn = HTTPClientRequestPart
        typealias OutboundOut = HTTPClientRequestPart

        /// Whose answers are listened to. Any thread may call it.
        final class Listeners: Sendable {
            /// The request field that names a listener.
            static let field = "Reprise-Listener"

            private let listening = Lock<[String: any AnswerListener]>([:])

            /// Adds one, which is held until `remove`.
            /// - Returns: The name it has here.
            func add(_ listener: any AnswerListener) -> String {
                let name = Listeners.name(listener)
                listening.withLock { $0[name] = listener }
                return name
            }

            func remove(_ listener: any AnswerListener) {
                listening.withLock { $0[Listeners.name(listener)] = nil }
            }

            private static func name(_ listener: any AnswerListener) -> String {
                String(UInt(bitPattern: ObjectIdentifier(listener)), radix: 16)
            }

            fileprivate func take(from headers: inout HTTPHeaders) -> (any AnswerListener)? {
                defer { headers.remove(name: Listeners.field) }
                return headers.first(name: Listeners.field).flatMap { name in listening.withLock { $0[name] } }
            }

            /// How many there are, for tests.
            var count: Int { listening.withLock { $0.count } }
        }

        private let listeners: Listeners
        private var listener: (any AnswerListener)?

        init(_ listeners: Listeners) { self.listeners = listeners }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
            listener = listeners.take(from: &head.headers)
            listener?.isCarried(by: context.channel)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        }

        /// Most bytes of fields that are told; the library takes 2 MiB, and these are held for each who waits.
        private static let mostBytes = 16 * 1024

        private static func fields(_ headers: HTTPHeaders) -> HTTPFields? {
            let size = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
            return size <= mostBytes ? HTTPFields(headers) : nil
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            // 100 answers what the library has sent itself, 101 is none before another.
            case .head(let head) where (102..<200).contains(head.status.code):
                guard let fields = AnswerTap.fields(head.headers) else { break }
                listener?.heard(interim: OriginResponseHead(status: Int(head.status.code), fields: fields))
            case .head, .body: break
            case .end(let trailers):
                if let fields = trailers.flatMap(AnswerTap.fields) { listener?.heard(trailers: fields) }
                listener = nil
            }
            context.fireChannelRead(data)
        }
    }

    extension HTTPFields {
        init(_ headers: HTTPHeaders) { self.init(headers.map { ($0.name, $0.value) }) }
    }

    /// Is told what an `AnswerTap` hears, on the connection's event loop.
    protocol AnswerListener: AnyObject, Sendable {
        /// The request's head goes out.
        func isCarried(by channel: any Channel)
        /// An interim answer.
        func heard(interim head: OriginResponseHead)
        /// The fields behind the body, before it ends.
        func heard(trailers: HTTPFields)
    }
#endif
