#if Proxy
    import NIOCore
    import NIOHTTP1
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform

    extension ConnectionHandler {
        /// Seconds a connection whose answer said more than its client has read waits for the client to see it.
        private static let lingering = 2

        func serve(_ url: OriginURL, _ head: RequestHead, _ context: ChannelHandlerContext) {
            isAnswering = true
            timer?.cancel()
            standing.value = .answering
            let exchange = ServerExchange(method: head.method, fields: head.fields)
            let edge = server.configuration.edge
            let forwarded = edge?.forwarded(head.fields) ?? ServerExchange.forwarded(head.fields)
            let resource = server.cache.resource(for: url, fields: forwarded)
            let sender = BodySender(
                exchange: exchange, edge: edge, handle: resource.makeHandle(in: exchange.presumedRange),
                context: context,
                slowClientTimeout: server.configuration.slowClientTimeout, standing: standing,
                queues: server.cache.environment.queues
            ) { [weak self] outcome in
                self?.finished(outcome, head)
            } onHead: { [weak self] answer in
                self?.writeHead(answer, to: head)
            }
            current = sender
            sender.start()
        }

        private func writeHead(_ answer: ServerExchange.Answer, to request: RequestHead?) {
            guard let context else { return }
            // HTTP/1.0 knows no chunks: a body without a length ends with the connection.
            let isOld = request?.minorVersion == 0
            let version = isOld && !answer.isDelimited ? HTTPVersion.http1_0 : .http1_1
            if isOld, !answer.isDelimited { closesAfterAnswer = true }
            var headers = HTTPHeaders(answer.fields.lines.map { ($0.name, $0.value) })
            if !answer.isDelimited, !isOld, request?.method != "HEAD" {
                headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked")
            }
            if closesAfterAnswer { headers.replaceOrAdd(name: "Connection", value: "close") }
            if isOld, !closesAfterAnswer { headers.replaceOrAdd(name: "Connection", value: "keep-alive") }
            let head = HTTPResponseHead(
                version: version, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
        }

        /// Tells a client that waits with its body to send it (RFC 9110 §10.1.1).
        func sendContinue(_ context: ChannelHandlerContext) {
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }

        /// Sends an answer that is a head and at most a line of text.
        func send(_ answer: ServerExchange.Answer, to request: RequestHead?) {
            guard context != nil else { return }
            isAnswering = true
            var answer = answer
            let body = answer.text.map { $0 + "\n" } ?? ""
            if answer.status != 204, answer.status != 304 {
                answer.fields["Content-Length"] = "\(body.utf8.count)"
                if !body.isEmpty { answer.fields["Content-Type"] = "text/plain; charset=utf-8" }
            }
            writeHead(answer, to: request)
            if !body.isEmpty, request?.method != "HEAD" {
                context?.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
            }
            finished(.complete)
        }

        private func finished(_ outcome: BodySender.Outcome, _ request: RequestHead? = nil) {
            guard let context else { return }
            current = nil
            switch outcome {
            case .text(let answer):
                return send(answer, to: request)
            case .complete:
                let promise = context.eventLoop.makePromise(of: Void.self)
                let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
                promise.futureResult.whenComplete { _ in bound.value.answerHasLeft() }
                // The end of an answer waits for the client no longer than its middle does.
                standing.value = .stalled(since: ConnectionHandler.now)
                startTimer(server.configuration.slowClientTimeout) { [weak self] in self?.context?.close(promise: nil) }
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
            case .broken:
                // The head promised bytes that cannot be had: only a closed connection tells so.
                context.close(promise: nil)
            }
        }

        /// The last byte of an answer was taken by the kernel: only now the next request's turn has come.
        private func answerHasLeft() {
            timer?.cancel()
            guard context != nil else { return }
            if closesAfterAnswer { return end() }
            isAnswering = false
            turn()
        }

        // A socket closed over bytes nobody has read takes back what it has sent: where a client may still be sending, it
        // is told the end first and gets time to read (RFC 9112 §9.6).
        private func end() {
            guard isDeaf, let context else {
                self.context?.close(promise: nil)
                return
            }
            standing.value = .waiting(since: ConnectionHandler.now)
            startTimer(ConnectionHandler.lingering) { [weak self] in self?.context?.close(promise: nil) }
            context.close(mode: .output, promise: nil)
        }
    }
#endif
