import RepriseHTTP

/// One client's connection: what is read of it, which request is answered next, what is waited for and how it ends. No I/O and no
/// clock.
///
///     waiting --request--> answering --its last byte has left--> waiting     requests sent ahead queue up meanwhile
///                              |
///                              +--the last answer's--> ending: the client is told, and what still comes is dropped
///
/// A connection beyond those that there is room for has no place: it is told so where there is none by the time that it asks.
package struct ConnectionStateMachine: Sendable {
    /// A request that is to be answered.
    package struct Request: Sendable, Hashable {
        package let head: RequestHead
        /// Whether it asks for the same as the one before it, but for the range.
        package let isRepetition: Bool
        package let body: Body
    }

    /// What a request brings to its origin.
    package enum Body: Sendable, Hashable {
        /// All of it; nothing where the request is not to be passed on.
        case whole([UInt8])
        /// It begins so; the rest is read while the request is answered. Its length in all, where that is known.
        case beginning([UInt8], length: Int64?)
    }

    /// What was read.
    package enum Reading: Sendable, Hashable {
        /// A head, of which `begin` is to be told.
        case head(RequestHead)
        /// Further bytes of the body of the request that is being answered.
        case body([UInt8])
        /// That body is whole.
        case bodyEnded
        /// The rest of that body cannot be understood.
        case bodyBroke(RequestRefusal)
    }

    /// What is to be done next.
    package enum Step: Sendable, Hashable {
        case answer(Request)
        /// Tells the client why nothing more is answered.
        /// - Parameter of: The request, where its head was understood.
        case refuse(RequestRefusal, of: RequestHead?)
        /// Tells a client that waits with its body to send it (RFC 9110 §10.1.1).
        case sendContinue
    }

    /// How long a request, or the rest of one, is waited for.
    package struct Wait: Sendable, Hashable {
        /// Seconds after which what only makes the next answer quicker is let go of, where the wait is longer.
        package let forgetsAfter: Int?
        /// Seconds.
        package let limit: Int
    }

    /// A request whose body is read before it is answered.
    private struct Incoming: Sendable {
        let head: RequestHead
        let isRepetition: Bool
        let isRelayed: Bool
        /// Where it is to be passed on.
        var body: [UInt8] = []
        var bodyBytes: Int64 = 0
        var owesContinue: Bool
    }

    /// The request that is still coming.
    private enum Coming: Sendable {
        case none
        case gathered(Incoming)
        /// It waits for its turn, the last of the queue, and its body with it.
        case queued(owesContinue: Bool)
        /// It is being answered while its body comes.
        case passedOn
    }

    private enum Intake: Sendable {
        case reading
        /// Nothing behind the queue is read, and this is why.
        case refused(RequestRefusal, of: RequestHead?)
        /// Nothing behind the queue is read: the client was told why, or an answer that is the last tells.
        case over
    }

    private enum Awaited: Sendable { case request, restOfRequest }

    private enum Phase: Sendable {
        /// For what the time runs; `nil` where it does not run yet.
        case waiting(for: Awaited?)
        case answering
        case ending
    }

    /// Requests a client may send ahead; then nothing more is read until one is answered.
    private static let pipelineLimit = 16
    private static let noPlace = RequestRefusal(503, "too many connections; ask again in a moment")
    /// After so many seconds without a request a client has paused: what it asked last is not worth its memory.
    private static let idleAfter = 5
    /// Seconds that a client without a place has to ask, before it is told all the same.
    private static let noPlaceTimeout = 2

    private var reader: RequestReader
    private var coming = Coming.none
    /// Requests to be answered, in order.
    private var queue: [Request] = []
    private var intake = Intake.reading
    private var phase = Phase.waiting(for: nil)
    /// Whether it counts among those that are served.
    package private(set) var hasPlace = true
    /// Whether the connection ends with the answer that is on its way, or the next one.
    package private(set) var isLast = false

    /// Whether its client has time to see the end before it is closed: in a flood of connections without a place those whose
    /// request is whole have none.
    package private(set) var lingers = true

    /// - Parameter headLimit: Most bytes of a request's head.
    package init(headLimit: Int) { reader = RequestReader(headLimit: headLimit) }

    /// It does not count among those that are served.
    package mutating func hasNoPlace() { hasPlace = false }

    /// Whether what comes is not read any more: it cannot be understood, or it has no use.
    package var isDeaf: Bool { if case .reading = intake { false } else { true } }

    private var isWaiting: Bool { if case .waiting = phase { true } else { false } }

    // MARK: Requests

    /// Whether something more may be read. A body in the queue is memory, and behind one that is passed on as it comes its rest
    /// stands: one at a time.
    private var mayRead: Bool {
        guard !isDeaf, queue.count < ConnectionStateMachine.pipelineLimit else { return false }
        return queue.last.map { $0.body == .whole([]) } ?? true
    }

    /// Takes bytes from the front of `bytes` up to what is to be told; `nil` where all were taken, or nothing more is read
    /// before a request is answered.
    package mutating func read<Bytes: RandomAccessCollection<UInt8>>(_ bytes: inout Bytes) -> Reading?
    where Bytes.SubSequence == Bytes, Bytes.Index == Int {
        while mayRead {
            let before = bytes
            switch reader.read(&bytes) {
            case nil: return nil
            case .head(let head): return .head(head)
            case .body(let count):
                let taken = before[bytes.startIndex - count..<bytes.startIndex]
                if case .passedOn = coming { return .body(Array(taken)) }
                gather(taken)
            case .end:
                if case .passedOn = coming {
                    endPassedOn()
                    return .bodyEnded
                }
                if case .gathered(let incoming) = coming { gathered(incoming) }
            case .refused(let reason):
                if case .passedOn = coming {
                    isLast = true
                    endPassedOn()
                    return .bodyBroke(reason)
                }
                refuse(reason)
            }
        }
        return nil
    }

    /// Decides what becomes of the head that was read.
    /// - Parameters:
    ///   - isRelayed: Whether the request is to be passed on with its body.
    ///   - hasPlace: Whether the connection counts among those that are served now.
    package mutating func begin(_ head: RequestHead, isRelayed: Bool, hasPlace: Bool) {
        // What it waits for has another time now.
        if hasPlace, !self.hasPlace, isWaiting { phase = .waiting(for: nil) }
        self.hasPlace = hasPlace
        guard hasPlace else {
            lingers = head.body != .none
            return refuse(ConnectionStateMachine.noPlace, head)
        }
        let intake = RequestIntake(head, isRelayed: isRelayed)
        switch intake {
        case .whole, .wholeAfterContinue:
            coming = .gathered(
                Incoming(
                    head: head, isRepetition: reader.isRepetition, isRelayed: isRelayed,
                    owesContinue: intake == .wholeAfterContinue))
        case .asItComes, .asItComesAfterContinue:
            let length: Int64? = if case .length(let length) = head.body { length } else { nil }
            queue.append(Request(head: head, isRepetition: false, body: .beginning([], length: length)))
            coming = .queued(owesContinue: intake == .asItComesAfterContinue)
        case .headAlone:
            queue.append(Request(head: head, isRepetition: false, body: .whole([])))
            self.intake = .over
        case .refused(let reason): refuse(reason, head)
        }
    }

    private mutating func gather(_ bytes: some Collection<UInt8>) {
        guard case .gathered(var incoming) = coming else { return }
        // The only holder of the body, which grows in place.
        coming = .none
        incoming.owesContinue = false
        incoming.bodyBytes += Int64(bytes.count)
        if incoming.isRelayed { incoming.body += bytes }
        if incoming.bodyBytes <= (incoming.isRelayed ? RequestIntake.wholeBodyLimit : RequestIntake.bodyLimit) {
            coming = .gathered(incoming)
        } else if incoming.isRelayed {
            // It comes in chunks: of others the length was known.
            let body = Body.beginning(incoming.body, length: nil)
            queue.append(Request(head: incoming.head, isRepetition: false, body: body))
            coming = .queued(owesContinue: false)
        } else {
            refuse(RequestIntake.tooLarge, incoming.head)
        }
    }

    private mutating func gathered(_ incoming: Incoming) {
        queue.append(
            Request(head: incoming.head, isRepetition: incoming.isRepetition, body: .whole(incoming.body)))
        coming = .none
    }

    private mutating func endPassedOn() {
        coming = .none
        if isLast { intake = .over }
    }

    /// - Parameter head: The request's, where it is not the one whose body comes.
    private mutating func refuse(_ reason: RequestRefusal, _ head: RequestHead? = nil) {
        let gathered: RequestHead? = if case .gathered(let incoming) = coming { incoming.head } else { nil }
        intake = .refused(reason, of: head ?? gathered)
        coming = .none
    }

    // MARK: Answers

    /// What is to be done now: called until it is `nil`. A request that is to be answered is being answered from here on, and
    /// so is a refusal.
    /// - Parameter isDraining: Whether connections end with their answers.
    package mutating func next(isDraining: Bool) -> Step? {
        guard isWaiting else { return nil }
        if owesContinue {
            paidContinue()
            return .sendContinue
        }
        if !queue.isEmpty {
            phase = .answering
            let request = queue.removeFirst()
            if queue.isEmpty, case .queued = coming { coming = .passedOn }
            let isBehindAll = if case .over = intake { queue.isEmpty } else { false }
            if isDraining || isBehindAll || !request.head.isKeepAlive { endWithAnswer() }
            return .answer(request)
        }
        guard case .refused(let reason, let head) = intake else { return nil }
        phase = .answering
        endWithAnswer()
        return .refuse(reason, of: head)
    }

    /// Whether the client waits with the body of the request whose turn is next.
    private var owesContinue: Bool {
        switch coming {
        case .gathered(let incoming): incoming.owesContinue && queue.isEmpty
        case .queued(let owesContinue): owesContinue && queue.count == 1
        case .none, .passedOn: false
        }
    }

    private mutating func paidContinue() {
        switch coming {
        case .gathered(var incoming):
            incoming.owesContinue = false
            coming = .gathered(incoming)
        case .queued: coming = .queued(owesContinue: false)
        case .none, .passedOn: break
        }
    }

    /// The answer that is on its way is the last, and nothing behind its request is read.
    package mutating func endWithAnswer() {
        isLast = true
        queue = []
        if case .passedOn = coming { return }
        coming = .none
        intake = .over
    }

    /// The head of an answer is written. Where its request is still coming, the client may not send the rest: nothing behind it
    /// can be told from that.
    package mutating func headIsWritten() { if case .passedOn = coming { endWithAnswer() } }

    /// The last byte of an answer was taken by the kernel: only now the next request's turn has come; `true` where there is
    /// none, and the client is to be told the end.
    package mutating func answerHasLeft() -> Bool {
        if case .passedOn = coming {
            coming = .none
            endWithAnswer()
        }
        phase = isLast ? .ending : .waiting(for: nil)
        return isLast
    }

    /// Takes nothing more; `true` where no answer is on its way, and the connection is to be closed.
    package mutating func drain() -> Bool {
        endWithAnswer()
        return isWaiting
    }

    // MARK: Waiting

    /// How long what is awaited now may take; `nil` where nothing is, or the time for it runs already.
    /// - Parameters:
    ///   - idleTimeout: Seconds a connection may be without a request.
    ///   - requestTimeout: Seconds a request may take to come.
    package mutating func startWaiting(idleTimeout: Int, requestTimeout: Int) -> Wait? {
        guard case .waiting(let before) = phase, !isDeaf else { return nil }
        let isInside = if case .gathered = coming { true } else { reader.isInsideRequest }
        let awaited: Awaited = isInside ? .restOfRequest : .request
        guard awaited != before else { return nil }
        phase = .waiting(for: awaited)
        let mostIdle = hasPlace ? idleTimeout : ConnectionStateMachine.noPlaceTimeout
        switch awaited {
        case .restOfRequest: return Wait(forgetsAfter: nil, limit: min(requestTimeout, mostIdle))
        case .request:
            let idleAfter = ConnectionStateMachine.idleAfter
            return Wait(forgetsAfter: idleAfter < mostIdle ? idleAfter : nil, limit: mostIdle)
        }
    }

    /// What was awaited did not come in time; `true` where the client is told nothing and the connection is to be closed.
    package mutating func waitedTooLong() -> Bool {
        guard case .waiting(let awaited) = phase else { return false }
        if !hasPlace {
            refuse(ConnectionStateMachine.noPlace)
        } else if awaited == .restOfRequest {
            refuse(.tooSlow)
        } else {
            return true
        }
        return false
    }

    /// Lets go of what only makes the next request quicker to read.
    package mutating func forget() { reader.forget() }
}
