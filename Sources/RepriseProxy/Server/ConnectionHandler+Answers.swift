#if Proxy
    import NIOCore
    import RepriseCore
    import RepriseHTTP
    import RepriseRanges
    import ReprisePlatform

    extension ConnectionHandler {
        /// Seconds a connection whose answer said more than its client has read waits for the client to see it.
        private static let lingering = 2

        /// Answers with what the cache has, or gets.
        /// - Parameters:
        ///   - range: What is read before anything is known; `nil` for what the request asks for.
        ///   - onFailure: What is done where nothing can be told, instead of telling why. The reader is left to it.
        func serve(
            _ resource: MediaResource, _ head: RequestHead, _ context: ChannelHandlerContext,
            in range: ByteRange? = nil, onFailure: ((ReaderHandle) -> Void)? = nil
        ) {
            guard let deadline, let writer else { return }
            isAnswering = true
            deadline.clear()
            standing.value = .answering
            let exchange = ServerExchange(
                method: head.method, fields: head.fields, for: resource.request.url, role: server.role)
            let sender = BodySender(
                exchange: exchange,
                handle: resource.makeHandle(in: range ?? exchange.presumedRange), context: context,
                writer: writer, deadline: deadline, standing: standing,
                onFinish: { [weak self] outcome in self?.finished(outcome, head) },
                onInterim: { [weak self] interim in self?.writeInterim(interim, to: head) },
                onHead: { [weak self] answer in self?.writeHead(answer, to: head) }, onFailure: onFailure)
            current = sender
            sender.pump()
        }

        func writeHead(_ answer: ServerExchange.Answer, to request: RequestHead?) {
            // HTTP/1.0 knows no chunks: a body without a length ends with the connection.
            let isOld = request?.minorVersion == 0
            let isChunked = !answer.isDelimited && !isOld && request?.method != "HEAD"
            if isOld, !answer.isDelimited { closesAfterAnswer = true }
            var head = AnswerWriter.Head(status: answer.status, fields: answer.fields, part: answer.part)
            if isOld, !answer.isDelimited { head.minorVersion = 0 }
            if isChunked { head.more["Transfer-Encoding"] = "chunked" }
            if closesAfterAnswer { head.more["Connection"] = "close" }
            if isOld, !closesAfterAnswer { head.more["Connection"] = "keep-alive" }
            writer?.write(head, isChunked: isChunked)
        }

        /// Tells a client of an interim answer, which one of HTTP/1.0 would take for it (RFC 9110 §15.2), and one that
        /// takes nothing has no use for.
        func writeInterim(_ interim: OriginResponseHead, to request: RequestHead) {
            guard context?.channel.isWritable == true, request.minorVersion > 0,
                let fields = server.role.interim(interim.fields)
            else { return }
            writer?.write(AnswerWriter.Head(status: interim.status, fields: fields), isChunked: false)
            writer?.flush()
        }

        /// Tells a client that waits with its body to send it (RFC 9110 §10.1.1).
        func sendContinue(_ context: ChannelHandlerContext) {
            writer?.write(AnswerWriter.Head(status: 100), isChunked: false)
            writer?.flush()
        }

        /// Sends an answer that is a head and at most a line of text.
        func send(_ answer: ServerExchange.Answer, to request: RequestHead?) {
            guard context != nil else { return }
            isAnswering = true
            var answer = answer
            let body = answer.text.map { $0 + "\n" } ?? ""
            if answer.status != 204, answer.status != 304 {
                answer.fields["Content-Length"] = "\(body.utf8.count)"
                if !body.isEmpty { answer.fields["Content-Type"] = answer.textType }
            }
            writeHead(answer, to: request)
            if request?.method != "HEAD" { writer?.write(body: .byteBuffer(ByteBuffer(string: body))) }
            finished(.complete())
        }

        func finished(_ outcome: BodySender.Outcome, _ request: RequestHead? = nil) {
            guard let context else { return }
            current = nil
            switch outcome {
            case .text(let answer):
                return send(answer, to: request)
            case .complete(let trailers):
                guard let writer, !writer.hasEnded else { return answerHasLeft() }
                let promise = context.eventLoop.makePromise(of: Void.self)
                let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
                promise.futureResult.whenComplete { _ in bound.value.answerHasLeft() }
                // The end of an answer waits for the client no longer than its middle does.
                standing.value = .stalled(since: ConnectionHandler.now)
                deadline?.setForClient { [weak self] in self?.context?.close(promise: nil) }
                writer.end(trailers, left: promise)
                writer.flush()
            case .broken:
                // The head promised bytes that cannot be had: only a closed connection tells so.
                context.close(promise: nil)
            }
        }

        /// The last byte of an answer was taken by the kernel: only now the next request's turn has come.
        private func answerHasLeft() {
            deadline?.clear()
            guard context != nil else { return }
            writer?.allHasLeft()
            if closesAfterAnswer { return end() }
            isAnswering = false
            turn()
        }

        // A socket closed over bytes nobody has read takes back what it has sent: where a client may still be sending, it
        // is told the end first and gets time to read (RFC 9112 §9.6). Who has no place has none for that either.
        private func end() {
            guard isDeaf, hasPlace, let context else {
                self.context?.close(promise: nil)
                return
            }
            standing.value = .waiting(since: ConnectionHandler.now)
            deadline?.set(ConnectionHandler.lingering) { [weak self] in self?.context?.close(promise: nil) }
            context.close(mode: .output, promise: nil)
        }
    }
#endif
