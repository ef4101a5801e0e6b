#if Proxy
    import NIOCore
    import NIOPosix
    import RepriseCore
    import RepriseHTTP
    import RepriseRanges
    import ReprisePlatform
    import RepriseStorage

    /// Sends one answer's bytes: verified regions of the body file go to the kernel, everything else as buffers, also what is
    /// sealed or transformed.
    ///
    /// A region is at most 1 MiB and one at a time; its lease ends when it has left. Runs on the channel's event
    /// loop; bytes the kernel does not hold in memory are read on the read pool first.
    final class BodySender: AnswerSource {
        enum Outcome {
            /// All was sent, but for the fields behind it.
            case complete(trailers: HTTPFields = HTTPFields())
            /// Nothing was sent yet: this answer instead.
            case text(ServerExchange.Answer)
            /// It ended in the middle.
            case broken
        }

        /// Largest region given to the kernel at once, and largest piece of memory.
        private static let regionLimit = 1 << 20
        /// What the kernel cannot send is copied on the event loop up to here, where it is in memory: opening so much takes
        /// less than two hops between threads (measured with `make bench`), and others do not wait long for it.
        private static let copyLimit: Int64 = 64 * 1024
        /// Bytes sent before others on the event loop have their turn.
        private static let turnLimit: Int64 = 2 << 20

        private let exchange: ServerExchange
        private let handle: ReaderHandle
        private let context: ChannelHandlerContext
        private let writer: AnswerWriter
        private let deadline: ConnectionDeadline
        private let standing: SharedStanding
        private let onFinish: (Outcome) -> Void
        private let onInterim: (OriginResponseHead) -> Void
        private let onHead: (ServerExchange.Answer) -> Void
        /// What is done where nothing can be told, instead of telling why. The reader is left to it.
        private let onFailure: ((ReaderHandle) -> Void)?
        private var hasHead = false
        /// Bytes of the resource the head announced that were not handed out yet, in this part if there are several; 0
        /// where it announced no length.
        private var missing: Int64 = 0
        /// Whether the head announced a length.
        private var isDelimited = false
        /// The body where it has several parts, and how many of its pieces were begun.
        private var parts: MultipartByteRanges?
        private var begunPieces = 0
        private var isFinished = false
        /// A region or a read is under way.
        private var isBusy = false
        /// Bytes the socket took in this turn.
        private var sentAtOnce: Int64 = 0
        /// Writing may have the channel ask for more.
        private var isTellingInterims = false
        private var waker: (@Sendable () -> Void)?

        init(
            exchange: ServerExchange, handle: ReaderHandle, context: ChannelHandlerContext,
            writer: AnswerWriter, deadline: ConnectionDeadline, standing: SharedStanding,
            onFinish: @escaping (Outcome) -> Void,
            onInterim: @escaping (OriginResponseHead) -> Void,
            onHead: @escaping (ServerExchange.Answer) -> Void, onFailure: ((ReaderHandle) -> Void)? = nil
        ) {
            self.onFailure = onFailure
            self.exchange = exchange
            self.handle = handle
            self.context = context
            self.writer = writer
            self.deadline = deadline
            self.standing = standing
            self.onFinish = onFinish
            self.onInterim = onInterim
            self.onHead = onHead
        }

        func leave() {
            stop()
            handle.leave()
        }

        /// Does no more; the reader stays.
        private func stop() {
            isFinished = true
            waker = nil
            deadline.clear()
        }

        private func finish(_ outcome: Outcome) {
            guard !isFinished else { return }
            leave()
            onFinish(outcome)
        }

        // One an answer: it is given with every step.
        private func makeWaker() -> @Sendable () -> Void {
            if let waker { return waker }
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let loop = context.eventLoop
            let made: @Sendable () -> Void = { loop.execute { bound.value.pump() } }
            waker = made
            return made
        }

        func pump() {
            guard !isFinished, !isTellingInterims else { return }
            let beginsHere = !hasHead
            if beginsHere, !sendHead() { return }
            deadline.clear()
            var hasWritten = beginsHere
            sentAtOnce = 0
            while !isFinished, !isBusy, context.channel.isWritable {
                if isDelimited, missing == 0, parts == nil { return finish(.complete()) }
                switch handle.step(limit: BodySender.regionLimit, wake: makeWaker()) {
                case .memory(let bytes, _):
                    write(.byteBuffer(ByteBuffer(bytes: bytes)), count: bytes.count)
                    hasWritten = true
                case .lease(let lease):
                    send(lease)
                    hasWritten = true
                case .pending:
                    if hasWritten { writer.flush() }
                    watchProgress()
                    return
                case .end:
                    // Less than the head announced can only be told by closing.
                    if missing > 0 {
                        writer.flush()
                        return finish(.broken)
                    }
                    guard beginNextPart() else { return finish(.complete(trailers: trailers())) }
                    hasWritten = true
                case .failed:
                    if hasWritten { writer.flush() }
                    finish(.broken)
                    return
                }
            }
            if hasWritten { writer.flush() }
            watchProgress()
        }

        private func sendHead() -> Bool {
            let now = SystemCalls.wallClock()
            var interims: [OriginResponseHead] = []
            let known = handle.info(interim: { interims.append($0) }, wake: makeWaker())
            isTellingInterims = true
            interims.forEach(onInterim)
            isTellingInterims = false
            switch known {
            case .success(nil): return false
            case .failure(let error):
                if let onFailure {
                    stop()
                    onFailure(handle)
                    return false
                }
                finish(.text(exchange.told(exchange.answer(error, now: now), age: nil, outcome: handle.outcome)))
                return false
            case .success(let info?):
                let known = exchange.answer(info, now: now, memory: &writer.memory)
                let answer = exchange.told(known, age: info.age, outcome: handle.outcome)
                hasHead = true
                guard answer.range != nil || answer.parts != nil, answer.text == nil else {
                    // A head alone, or with a line of text.
                    let isBodyless = exchange.method == "HEAD" && answer.text == nil
                    if isBodyless {
                        onHead(answer)
                        finish(.complete())
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
                    isDelimited = answer.isDelimited
                    missing = isDelimited ? range.count : 0
                }
                parts = answer.parts
                _ = beginNextPart()
                return true
            }
        }

        /// What came behind the body, which only a body without a length can be told with.
        private func trailers() -> HTTPFields {
            guard !isDelimited, parts == nil, case .success(let info?) = handle.info(wake: {}) else {
                return HTTPFields()
            }
            return exchange.role.told(trailers: info.trailers)
        }

        /// Writes the text up to the next part's bytes and moves the reader there; `false` where no part is left.
        private func beginNextPart() -> Bool {
            guard let parts else { return false }
            while begunPieces < parts.pieceCount {
                defer { begunPieces += 1 }
                switch parts.piece(at: begunPieces) {
                case .text(let text):
                    writer.write(body: .byteBuffer(ByteBuffer(string: text)))
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
            writer.write(body: data)
        }

        private func send(_ lease: ReaderLease) {
            guard lease.isUndisturbed else {
                handle.putBack(lease)
                return
            }
            guard let descriptor = lease.descriptor else { return copy(lease) }
            guard lease.isResident else { return read(lease) }
            missing -= lease.range.count
            var range = lease.range
            range = ByteRange(range.lowerBound + writer.send(range, of: descriptor), range.upperBound)
            guard range.count > 0 else { return rest(after: lease.range.count) }
            isBusy = true
            let file = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
            let region = FileRegion(
                fileHandle: file, readerIndex: Int(range.lowerBound), endIndex: Int(range.upperBound))
            let promise = context.eventLoop.makePromise(of: Void.self)
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            promise.futureResult.whenComplete { result in
                // The descriptor is the generation's; the lease, which ends here, has kept it open.
                _ = try? file.takeDescriptorOwnership()
                withExtendedLifetime(lease) {}
                let sender = bound.value
                sender.isBusy = false
                guard case .success = result else { return }
                sender.writer.allHasLeft()
                sender.pump()
            }
            writer.write(body: .fileRegion(region), left: promise)
        }

        // A client that takes everything at once must not keep its event loop from the others.
        private func rest(after count: Int64) {
            sentAtOnce += count
            guard sentAtOnce >= BodySender.turnLimit, missing > 0 else { return }
            isBusy = true
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.eventLoop.execute {
                bound.value.isBusy = false
                bound.value.pump()
            }
        }

        private func copy(_ lease: ReaderLease) {
            guard lease.range.count <= BodySender.copyLimit, let bytes = lease.readResident() else {
                return read(lease)
            }
            missing -= Int64(bytes.count)
            let taken = writer.send(bytes)
            if taken < bytes.count { writer.write(body: .byteBuffer(ByteBuffer(bytes: bytes[taken...]))) }
            rest(after: Int64(bytes.count))
        }

        private func read(_ lease: ReaderLease) {
            isBusy = true
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let loop = context.eventLoop
            handle.read(lease) { bytes in
                loop.execute {
                    let sender = bound.value
                    sender.isBusy = false
                    guard !sender.isFinished else { return }
                    if let bytes {
                        sender.write(.byteBuffer(ByteBuffer(bytes: bytes)), count: bytes.count)
                        sender.writer.flush()
                    }
                    sender.pump()
                }
            }
        }

        /// A client that takes nothing for very long is let go.
        private func watchProgress() {
            guard !isFinished else { return }
            guard !context.channel.isWritable || isBusy else {
                deadline.clear()
                standing.value = .answering
                return
            }
            standing.value = .stalled(since: ConnectionHandler.now)
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            deadline.setForClient { bound.value.finish(.broken) }
        }
    }
#endif
