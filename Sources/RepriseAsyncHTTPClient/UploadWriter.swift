#if Server
    import AsyncHTTPClient
    import NIOCore
    import NIOPosix
    import RepriseCore
    import ReprisePlatform

    /// Gives the library a request's body piece by piece: the next is asked for when one was taken. Where the exchange is over
    /// before the body is whole, the connection is closed: its origin waits for the rest, and would take the beginning for all
    /// of it otherwise.
    ///
    /// What the library promises for a piece it may never keep, where its request is over; so nothing is held for that promise
    /// but a weak reference. Safe to use from any thread.
    final class UploadWriter: Sendable {
        private struct State {
            var writer: HTTPClient.Body.StreamWriter?
            /// That all was given to the library.
            var sent: EventLoopPromise<Void>?
            var channel: (any Channel)?
            var phase = Phase.sending
        }

        private enum Phase { case sending, whole, stopped }

        private let upload: OriginUpload
        private let state = Lock(State())

        init(_ upload: OriginUpload) { self.upload = upload }

        deinit { stop() }

        /// The connection that carries the request.
        func isCarried(by channel: any Channel) { state.withLock { $0.channel = channel } }

        /// The request's body as the library takes it.
        var body: HTTPClient.Body { .stream(contentLength: upload.length) { self.begin($0) } }

        /// The library is ready to send.
        /// - Returns: Fulfilled when all was given.
        private func begin(_ writer: HTTPClient.Body.StreamWriter) -> EventLoopFuture<Void> {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let sent = state.withLock { state -> EventLoopPromise<Void>? in
                guard state.phase == .sending, state.sent == nil else { return nil }
                let sent = loop.makePromise(of: Void.self)
                (state.writer, state.sent) = (writer, sent)
                return sent
            }
            guard let sent else { return loop.makeFailedFuture(UploadWriter.brokenOff) }
            askNext()
            return sent.futureResult
        }

        /// The exchange is over.
        func stop() {
            let (sent, channel) = state.withLock { state in
                defer { (state.writer, state.sent, state.channel) = (nil, nil, nil) }
                guard state.phase == .sending else { return (state.sent, (any Channel)?.none) }
                state.phase = .stopped
                return (state.sent, state.channel)
            }
            sent?.fail(UploadWriter.brokenOff)
            channel?.close(promise: nil)
        }

        private static let brokenOff = OriginFailure(.interrupted, "the request's body broke off")

        private func askNext() { upload.next { [weak self] in self?.took($0) } }

        private func took(_ piece: OriginUpload.Piece) {
            switch piece {
            case .bytes(let bytes):
                let writer = state.withLock { $0.writer }
                writer?.write(.byteBuffer(ByteBuffer(bytes: bytes))).whenComplete { [weak self] result in
                    if case .success = result { self?.askNext() } else { self?.stop() }
                }
            case .end:
                let sent = state.withLock { state in
                    defer { (state.writer, state.sent, state.channel) = (nil, nil, nil) }
                    if state.phase == .sending { state.phase = .whole }
                    return state.sent
                }
                sent?.succeed()
            case .broken: stop()
            }
        }
    }
#endif
