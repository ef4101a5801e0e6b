#if Proxy
    import NIOCore
    import RepriseCore
    import RepriseHTTP

    /// Where the answer that is being sent comes from; lives on its connection's event loop.
    protocol AnswerSource {
        /// Does what can be done now: the client has room for more.
        func pump()
        /// The client left, or the answer is over.
        func leave()
    }

    /// How an answer ended.
    enum AnswerOutcome {
        /// All was sent, but for the fields behind it.
        case complete(trailers: HTTPFields = HTTPFields())
        /// Nothing was sent yet: this answer instead.
        case text(ServerExchange.Answer)
        /// It ended in the middle.
        case broken
    }

    /// What the source of one answer has of its client's connection. Used on the channel's event loop.
    struct AnswerOutlet {
        /// What is answered.
        let request: RequestHead
        let context: ChannelHandlerContext
        let writer: AnswerWriter
        let deadline: ConnectionDeadline
        let standing: SharedStanding
        private weak var handler: ConnectionHandler?

        /// `nil` where the client has left.
        init?(of handler: ConnectionHandler, to request: RequestHead) {
            guard let context = handler.context, let writer = handler.writer, let deadline = handler.deadline else {
                return nil
            }
            self.request = request
            self.context = context
            self.writer = writer
            self.deadline = deadline
            self.handler = handler
            standing = handler.standing
        }

        var canTakeMore: Bool { context.channel.isWritable }

        func write(_ answer: ServerExchange.Answer) { handler?.writeHead(answer, to: request) }

        func write(interim head: OriginResponseHead) { handler?.writeInterim(head, to: request) }

        func finish(_ outcome: AnswerOutcome) { handler?.finished(outcome, request) }

        /// Has what the client has sent looked at again.
        func readOn() { handler?.turn() }

        /// What passes the request on, where that is what answers it.
        var relay: RequestRelay? { handler?.relay }
    }
#endif
