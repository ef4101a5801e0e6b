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
        /// Largest region given to the kernel at once, and largest piece of memory.
        private static let regionLimit = 1 << 20
        /// What the kernel cannot send is copied on the event loop up to here, where it is in memory: opening so much takes
        /// less than two hops between threads (measured with `make bench`), and others do not wait long for it.
        private static let copyLimit: Int64 = 64 * 1024
        /// Bytes sent before others on the event loop have their turn.
        private static let turnLimit: Int64 = 2 << 20

        private let exchange: ServerExchange
        private let handle: ReaderHandle
        private let outlet: AnswerOutlet
        private var writer: AnswerWriter { outlet.writer }
        /// What is done where nothing can be told, instead of telling why. The reader is left to it.
        private let onFailure: ((ReaderHandle) -> Void)?
        private var machine = AnswerStateMachine()
        /// Bytes the socket took in this turn.
        private var sentAtOnce: Int64 = 0
        /// Writing may have the channel ask for more.
        private var isTellingInterims = false
        private var waker: (@Sendable () -> Void)?

        init(
            exchange: ServerExchange, handle: ReaderHandle, outlet: AnswerOutlet,
            onFailure: ((ReaderHandle) -> Void)? = nil
        ) {
            self.exchange = exchange
            self.handle = handle
            self.outlet = outlet
            self.onFailure = onFailure
        }

        func leave() {
            stop()
            handle.leave()
        }

        /// Does no more; the reader stays.
        private func stop() {
            machine.end()
            waker = nil
            outlet.deadline.clear()
        }

        private func finish(_ outcome: AnswerOutcome) {
            guard !machine.isOver else { return }
            leave()
            outlet.finish(outcome)
        }

        // One an answer: it is given with every step.
        private func makeWaker() -> @Sendable () -> Void {
            if let waker { return waker }
            let loop = outlet.context.eventLoop
            let bound = NIOLoopBound(self, eventLoop: loop)
            let made: @Sendable () -> Void = { loop.execute { bound.value.pump() } }
            waker = made
            return made
        }

        func pump() {
            guard !machine.isOver, !isTellingInterims else { return }
            var hasWritten = machine.isOpening
            if machine.isOpening, !sendHead() { return }
            outlet.deadline.clear()
            sentAtOnce = 0
            steps: while outlet.canTakeMore, let step = machine.next() {
                switch step {
                case .seek(let range): handle.setRange(position: range.lowerBound, end: range.upperBound)
                case .text(let text):
                    writer.write(body: .byteBuffer(ByteBuffer(string: text)))
                    hasWritten = true
                case .read:
                    guard readOn(&hasWritten) else { break steps }
                case .end(let mayHaveTrailers):
                    return finish(.complete(trailers: mayHaveTrailers ? trailers() : HTTPFields()))
                case .broken:
                    if hasWritten { writer.flush() }
                    return finish(.broken)
                }
            }
            if hasWritten { writer.flush() }
            watchProgress()
        }

        /// Has the reader give what comes next; `false` where that is not there yet.
        private func readOn(_ hasWritten: inout Bool) -> Bool {
            switch handle.step(limit: BodySender.regionLimit, wake: makeWaker()) {
            case .memory(let bytes, _):
                write(bytes)
                hasWritten = true
            case .lease(let lease):
                send(lease)
                hasWritten = true
            case .pending: return false
            case .end: machine.readerEnded()
            case .failed: machine.readerFailed()
            }
            return true
        }

        /// Sends the head, or the whole answer where that is all; `false` where no body is to be sent now.
        private func sendHead() -> Bool {
            let now = SystemCalls.wallClock()
            var interims: [OriginResponseHead] = []
            let known = handle.info(interim: { interims.append($0) }, wake: makeWaker())
            isTellingInterims = true
            interims.forEach(outlet.write(interim:))
            isTellingInterims = false
            switch known {
            case .success(nil): return false
            case .failure(let error):
                if let onFailure {
                    stop()
                    onFailure(handle)
                } else {
                    finish(.text(exchange.told(exchange.answer(error, now: now), age: nil, outcome: handle.outcome)))
                }
                return false
            case .success(let info?):
                let known = exchange.answer(info, now: now, memory: &writer.memory)
                let answer = exchange.told(known, age: info.age, outcome: handle.outcome)
                let opening = machine.open(answer, method: exchange.method, at: exchange.presumedRange)
                if opening == .text {
                    finish(.text(answer))
                    return false
                }
                outlet.write(answer)
                if opening == .headAlone { finish(.complete()) }
                return opening == .body
            }
        }

        /// What came behind the body, which only a body without a length can be told with.
        private func trailers() -> HTTPFields {
            guard case .success(let info?) = handle.info(wake: {}) else { return HTTPFields() }
            return exchange.role.told(trailers: info.trailers)
        }

        private func write(_ bytes: some Collection<UInt8>) {
            machine.took(Int64(bytes.count))
            writer.write(body: .byteBuffer(ByteBuffer(bytes: bytes)))
        }

        private func send(_ lease: ReaderLease) {
            guard let descriptor = lease.descriptor else { return copy(lease) }
            guard lease.isUndisturbed else { return handle.putBack(lease) }
            guard lease.isResident else { return read(lease) }
            machine.took(lease.range.count)
            var range = lease.range
            range = ByteRange(range.lowerBound + writer.send(range, of: descriptor), range.upperBound)
            guard range.count > 0 else { return rest(after: lease.range.count) }
            machine.isBusy = true
            let file = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
            let region = FileRegion(
                fileHandle: file, readerIndex: Int(range.lowerBound), endIndex: Int(range.upperBound))
            let promise = outlet.context.eventLoop.makePromise(of: Void.self)
            let bound = NIOLoopBound(self, eventLoop: outlet.context.eventLoop)
            promise.futureResult.whenComplete { result in
                // The descriptor is the generation's; the lease, which ends here, has kept it open.
                _ = try? file.takeDescriptorOwnership()
                withExtendedLifetime(lease) {}
                let sender = bound.value
                sender.machine.isBusy = false
                guard case .success = result else { return }
                sender.writer.allHasLeft()
                sender.pump()
            }
            writer.write(body: .fileRegion(region), left: promise)
        }

        // A client that takes everything at once must not keep its event loop from the others.
        private func rest(after count: Int64) {
            sentAtOnce += count
            guard sentAtOnce >= BodySender.turnLimit else { return }
            machine.isBusy = true
            let bound = NIOLoopBound(self, eventLoop: outlet.context.eventLoop)
            outlet.context.eventLoop.execute {
                bound.value.machine.isBusy = false
                bound.value.pump()
            }
        }

        private func copy(_ lease: ReaderLease) {
            // A volume that reads without waiting answers without waiting, too; of any other this is not the thread to ask it.
            guard lease.range.count <= BodySender.copyLimit, let bytes = lease.readResident() else {
                return read(lease)
            }
            guard lease.isUndisturbed else { return handle.putBack(lease) }
            machine.took(Int64(bytes.count))
            let taken = writer.send(bytes)
            if taken < bytes.count { writer.write(body: .byteBuffer(ByteBuffer(bytes: bytes[taken...]))) }
            rest(after: Int64(bytes.count))
        }

        private func read(_ lease: ReaderLease) {
            machine.isBusy = true
            let bound = NIOLoopBound(self, eventLoop: outlet.context.eventLoop)
            let loop = outlet.context.eventLoop
            handle.read(lease) { bytes in
                loop.execute {
                    let sender = bound.value
                    sender.machine.isBusy = false
                    guard !sender.machine.isOver else { return }
                    if let bytes {
                        sender.write(bytes)
                        sender.writer.flush()
                    }
                    sender.pump()
                }
            }
        }

        /// A client that takes nothing for very long is let go.
        private func watchProgress() {
            // Flushing may have ended the answer: the deadline is the next request's then.
            if machine.isOver { return }
            guard !outlet.canTakeMore || machine.isBusy else {
                outlet.deadline.clear()
                outlet.standing.value = .answering
                return
            }
            outlet.standing.value = .stalled(since: ConnectionHandler.now)
            let bound = NIOLoopBound(self, eventLoop: outlet.context.eventLoop)
            outlet.deadline.setForClient { bound.value.finish(.broken) }
        }
    }
#endif
