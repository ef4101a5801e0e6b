#if Proxy
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import RepriseCore
    import RepriseHTTP
    import RepriseRanges
    import ReprisePlatform
    import RepriseStorage

    /// Sends one answer's bytes: verified regions of the body file go to the kernel, everything else as buffers.
    ///
    /// A region is at most 1 MiB and one at a time; its lease ends when it has left. Runs on the channel's event
    /// loop; bytes the kernel does not hold in memory are read on the read pool first.
    final class BodySender {
        enum Outcome {
            /// All was sent.
            case complete
            /// Nothing was sent yet: this answer instead.
            case text(ServerExchange.Answer)
            /// It ended in the middle.
            case broken
        }

        /// Largest region given to the kernel at once, and largest piece of memory.
        private static let regionLimit = 1 << 20

        private let exchange: ServerExchange
        private let edge: EdgeRole?
        private let handle: ReaderHandle
        private let context: ChannelHandlerContext
        private let queues: any WorkQueues
        private let slowClientTimeout: Int
        private let standing: SharedStanding
        private let onFinish: (Outcome) -> Void
        private let onHead: (ServerExchange.Answer) -> Void
        private var hasHead = false
        /// Bytes of the resource the head announced that were not handed out yet, in this part if there are several; 0
        /// where it announced no length.
        private var missing: Int64 = 0
        /// The body where it has several parts, and how many of its pieces were begun.
        private var parts: MultipartByteRanges?
        private var begunPieces = 0
        private var isFinished = false
        /// A region or a read is under way.
        private var isBusy = false
        private var slowTimer: Scheduled<Void>?

        init(
            exchange: ServerExchange, edge: EdgeRole? = nil, handle: ReaderHandle, context: ChannelHandlerContext,
            slowClientTimeout: Int,
            standing: SharedStanding, queues: any WorkQueues, onFinish: @escaping (Outcome) -> Void,
            onHead: @escaping (ServerExchange.Answer) -> Void
        ) {
            self.exchange = exchange
            self.edge = edge
            self.handle = handle
            self.context = context
            self.queues = queues
            self.slowClientTimeout = slowClientTimeout
            self.standing = standing
            self.onFinish = onFinish
            self.onHead = onHead
        }

        func start() { pump() }

        /// The client left, or the answer is over.
        func leave() {
            isFinished = true
            slowTimer?.cancel()
            handle.leave()
        }

        private func finish(_ outcome: Outcome) {
            guard !isFinished else { return }
            leave()
            onFinish(outcome)
        }

        private func makeWaker() -> @Sendable () -> Void {
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let loop = context.eventLoop
            return { loop.execute { bound.value.pump() } }
        }

        /// Does what can be done now.
        func pump() {
            guard !isFinished else { return }
            let beginsHere = !hasHead
            if beginsHere, !sendHead() { return }
            slowTimer?.cancel()
            var hasWritten = beginsHere
            while !isFinished, !isBusy, context.channel.isWritable {
                switch handle.step(limit: BodySender.regionLimit, wake: makeWaker()) {
                case .memory(let bytes, _):
                    write(.byteBuffer(ByteBuffer(bytes: bytes)), count: bytes.count)
                    hasWritten = true
                case .lease(let lease):
                    send(lease)
                    hasWritten = true
                case .pending:
                    if hasWritten { context.flush() }
                    watchProgress()
                    return
                case .end:
                    // Less than the head announced can only be told by closing.
                    if missing > 0 {
                        context.flush()
                        return finish(.broken)
                    }
                    guard beginNextPart() else { return finish(.complete) }
                    hasWritten = true
                case .failed:
                    if hasWritten { context.flush() }
                    finish(.broken)
                    return
                }
            }
            if hasWritten { flush(withHead: beginsHere) }
            watchProgress()
        }

        /// Sends what was written. A head and the region behind it leave the kernel together: alone, the head would be
        /// a packet of its own, and wake the client for nothing.
        private func flush(withHead: Bool) {
            guard withHead, isBusy, let cork = SystemCalls.cork, let options = context.channel.syncOptions else {
                return context.flush()
            }
            let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: cork))
            // Where the option is refused the packets are smaller, nothing else.
            try? options.setOption(option, value: 1)
            context.flush()
            try? options.setOption(option, value: 0)
        }

        private func sendHead() -> Bool {
            let now = SystemCalls.wallClock()
            switch handle.info(wake: makeWaker()) {
            case .success(nil): return false
            case .failure(let error):
                finish(.text(relayed(exchange.answer(error, now: now), age: nil)))
                return false
            case .success(let info?):
                let answer = relayed(exchange.answer(info, now: now), age: info.age)
                hasHead = true
                guard answer.range != nil || answer.parts != nil, answer.text == nil else {
                    // A head alone, or with a line of text.
                    let isBodyless = exchange.method == "HEAD" && answer.text == nil
                    if isBodyless {
                        onHead(answer)
                        finish(.complete)
                    } else {
                        finish(.text(answer))
                    }
                    return false
                }
                onHead(answer)
                if let range = answer.range {
                    if range != exchange.presumedRange {
                        handle.setRange(position: range.lowerBound, end: range.upperBound)
                    }
                    missing = answer.isDelimited ? range.count : 0
                }
                parts = answer.parts
                _ = beginNextPart()
                return true
            }
        }

        /// What a shared cache tells of an answer's way.
        private func relayed(_ answer: ServerExchange.Answer, age: Int64?) -> ServerExchange.Answer {
            guard let edge else { return answer }
            var answer = answer
            answer.fields = edge.relayed(answer.fields, age: age, outcome: handle.outcome)
            return answer
        }

        /// Writes the text up to the next part's bytes and moves the reader there; `false` where no part is left.
        private func beginNextPart() -> Bool {
            guard let parts else { return false }
            while begunPieces < parts.pieceCount {
                defer { begunPieces += 1 }
                switch parts.piece(at: begunPieces) {
                case .text(let text):
                    context.write(
                        NIOAny(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
                case .bytes(let range):
                    missing = range.count
                    handle.setRange(position: range.lowerBound, end: range.upperBound)
                    return true
                }
            }
            return false
        }

        private func write(_ data: IOData, count: Int) {
            missing -= Int64(count)
            context.write(NIOAny(HTTPServerResponsePart.body(data)), promise: nil)
        }

        private func send(_ lease: ExtentLease) {
            guard lease.isUndisturbed else {
                handle.putBack(lease)
                return
            }
            guard let descriptor = lease.descriptor, lease.isResident else { return read(lease) }
            isBusy = true
            let file = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
            let region = FileRegion(
                fileHandle: file, readerIndex: Int(lease.range.lowerBound), endIndex: Int(lease.range.upperBound))
            let promise = context.eventLoop.makePromise(of: Void.self)
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            promise.futureResult.whenComplete { result in
                // The descriptor is the generation's; the lease, which ends here, has kept it open.
                _ = try? file.takeDescriptorOwnership()
                withExtendedLifetime(lease) {}
                bound.value.isBusy = false
                if case .success = result { bound.value.pump() }
            }
            missing -= lease.range.count
            context.write(NIOAny(HTTPServerResponsePart.body(.fileRegion(region))), promise: promise)
        }

        private func read(_ lease: ExtentLease) {
            isBusy = true
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let loop = context.eventLoop
            queues.read {
                var bytes: [UInt8]?
                do throws(FileError) { bytes = try lease.read() } catch { bytes = nil }
                let found = bytes
                loop.execute {
                    let sender = bound.value
                    sender.isBusy = false
                    guard !sender.isFinished else { return }
                    if let found {
                        sender.write(.byteBuffer(ByteBuffer(bytes: found)), count: found.count)
                        sender.context.flush()
                    } else {
                        sender.handle.putBack(lease)
                    }
                    sender.pump()
                }
            }
        }

        /// A client that takes nothing for very long is let go.
        private func watchProgress() {
            slowTimer?.cancel()
            guard !isFinished, !context.channel.isWritable || isBusy else {
                standing.value = .answering
                return
            }
            standing.value = .stalled(since: ConnectionHandler.now)
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            slowTimer = context.eventLoop.scheduleTask(in: .seconds(Int64(slowClientTimeout))) {
                bound.value.finish(.broken)
            }
        }
    }
#endif
