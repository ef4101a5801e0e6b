#if Proxy
    import NIOCore
    import RepriseCore
    import RepriseHTTP
    import RepriseRanges
    import ReprisePlatform

    extension ConnectionHandler {
        /// Seconds a connection that ends waits for its client to see what was said, as long as it sends and in all.
        private static let (lingering, longestLingering) = (2, 30)

        /// Waits for the client to close, which may have more to send before it reads.
        func linger() {
            let now = context?.eventLoop.now ?? .now()
            let end = lingersUntil ?? now + .seconds(Int64(ConnectionHandler.longestLingering))
            lingersUntil = end
            guard now < end else { return }
            deadline?.set(ConnectionHandler.lingering) { [weak self] in self?.context?.close(promise: nil) }
        }

        /// Answers with what the cache has, or gets.
        /// - Parameters:
        ///   - range: What is read before anything is known; `nil` for what the request asks for.
        ///   - onFailure: What is done where nothing can be told, instead of telling why. The reader is left to it.
        func serve(
            _ resource: MediaResource, _ head: RequestHead, in range: ByteRange? = nil,
            onFailure: ((ReaderHandle) -> Void)? = nil
        ) {
            guard let outlet = AnswerOutlet(of: self, to: head) else { return }
            outlet.deadline.clear()
            standing.value = .answering
            let exchange = ServerExchange(
                method: head.method, fields: head.fields, for: resource.request.url, role: server.role)
            let handle = resource.makeHandle(in: range ?? exchange.presumedRange)
            let sender = BodySender(exchange: exchange, handle: handle, outlet: outlet, onFailure: onFailure)
            current = sender
            sender.pump()
        }

        func writeHead(_ answer: ServerExchange.Answer, to request: RequestHead?) {
            machine.headIsWritten()
            // HTTP/1.0 knows no chunks: a body without a length ends with the connection.
            let isOld = request?.minorVersion == 0
            let isChunked = !answer.isDelimited && !isOld && request?.method != "HEAD"
            if isOld, !answer.isDelimited {
                machine.endWithAnswer()
                if request?.method != "HEAD" { resetsAtClose = true }
            }
            var head = AnswerWriter.Head(status: answer.status, fields: answer.fields, part: answer.part)
            if isOld, !answer.isDelimited { head.minorVersion = 0 }
            if isChunked { head.more["Transfer-Encoding"] = "chunked" }
            // Behind what has no chunks nothing comes (RFC 9112 §7.1.2). Most answers have none: their fields are not copied for it.
            if !isChunked, head.fields.contains("Trailer"), request?.method != "HEAD" {
                head.fields.remove(["Trailer"])
            }
            if machine.isLast { head.more["Connection"] = "close" }
            if isOld, !machine.isLast { head.more["Connection"] = "keep-alive" }
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
        func sendContinue() {
            writer?.write(AnswerWriter.Head(status: 100), isChunked: false)
            writer?.flush()
        }

        /// Sends an answer that is a head and at most a line of text.
        func send(_ answer: ServerExchange.Answer, to request: RequestHead?) {
            guard context != nil else { return }
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

        func finished(_ outcome: AnswerOutcome, _ request: RequestHead? = nil) {
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
            resetsAtClose = false
            guard let context else { return }
            writer?.allHasLeft()
            guard machine.answerHasLeft() else { return turn() }
            guard machine.lingers else { return context.close(promise: nil) }
            // A socket closed over bytes that were not read takes back what it has sent: the client is told the end first, and
            // gets time to read and to close (RFC 9112 §9.6).
            standing.value = .waiting(since: ConnectionHandler.now)
            linger()
            // What is left of its requests is read and dropped.
            readRequests()
            if !machine.hasPlace { server.told(context.channel) }
            context.close(mode: .output, promise: nil)
        }
    }
#endif
