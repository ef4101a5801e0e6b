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
    /// A request that has come whole.
    package struct Request: Sendable, Hashable {
        package let head: RequestHead
        /// Whether it asks for the same as the one before it, but for the range.
        package let isRepetition: Bool
        /// Whether it is to be passed on, with its body.
        package let isRelayed: Bool
        package fileprivate(set) var body: [UInt8] = []
    }

    /// What is to be done next.
    package enum Step: Sendable, Hashable {
        case answer(Request)
        /// Tells the client why nothing more is answered.
        case refuse(RequestRefusal)
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

    /// The request that is still coming.
    private struct Incoming: Sendable {
        var request: Request
        /// Bytes of its body so far.
        var bodyBytes: Int64 = 0
        var owesContinue: Bool
    }

    private enum Intake: Sendable {
        case reading
        /// Nothing behind the queue is read, and this is why.
        case refused(RequestRefusal)
        /// Nothing behind the queue is read: the client has said that nothing comes, or was told why, or its last answer tells.
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
    private var incoming: Incoming?
    /// Requests that have come whole, to be answered in order.
    private var queue: [Request] = []
    private var intake = Intake.reading
    private var phase = Phase.waiting(for: nil)
    /// Whether it counts among those that are served.
    package private(set) var hasPlace = true
    /// Whether the connection ends with the answer that is on its way, or the next one.
    package private(set) var isLast = false

    /// - Parameter headLimit: Most bytes of a request's head.
    package init(headLimit: Int) { reader = RequestReader(headLimit: headLimit) }

    /// It does not count among those that are served.
    package mutating func hasNoPlace() { hasPlace = false }

    /// Whether what comes is not read any more: it cannot be understood, or it has no use.
    package var isDeaf: Bool { if case .reading = intake { false } else { true } }

    private var isWaiting: Bool { if case .waiting = phase { true } else { false } }

    // MARK: Requests

    /// Takes bytes from the front of `bytes` up to the end of the next head, of which `begin` is to be told; `nil` where all were taken,
    /// or nothing more is read before a request is answered.
    package mutating func read<Bytes: RandomAccessCollection<UInt8>>(_ bytes: inout Bytes) -> RequestHead?
    where Bytes.SubSequence == Bytes, Bytes.Index == Int {
        // Bytes of a body in the queue are memory: one at a time.
        while !isDeaf, queue.count < ConnectionStateMachine.pipelineLimit, queue.last?.body.isEmpty ?? true {
            let before = bytes
            switch reader.read(&bytes) {
            case nil: return nil
            case .head(let head): return head
            case .body(let count): took(before[bytes.startIndex - count..<bytes.startIndex])
            case .end:
                guard let request = incoming?.request else { break }
                queue.append(request)
                incoming = nil
                if !request.head.isKeepAlive { intake = .over }
            case .refused(let reason): refuse(reason)
            }
        }
        return nil
    }

    /// Decides what becomes of the head that was read.
    /// - Parameters:
    ///   - isRelayed: Whether the request is to be passed on with its body.
    ///   - hasPlace: Whether the connection counts among those that are served now.
    package mutating func begin(_ head: RequestHead, isRelayed: Bool, hasPlace: Bool) {
        self.hasPlace = hasPlace
        guard hasPlace else { return refuse(ConnectionStateMachine.noPlace) }
        let request = Request(head: head, isRepetition: reader.isRepetition, isRelayed: isRelayed)
        switch RequestIntake(head, isRelayed: isRelayed) {
        case .whole: incoming = Incoming(request: request, owesContinue: false)
        case .wholeAfterContinue: incoming = Incoming(request: request, owesContinue: true)
        case .headAlone:
            queue.append(request)
            intake = .over
        case .refused(let reason): refuse(reason)
        }
    }

    private mutating func took(_ bytes: some Collection<UInt8>) {
        guard var incoming else { return }
        incoming.owesContinue = false
        incoming.bodyBytes += Int64(bytes.count)
        let isRelayed = incoming.request.isRelayed
        guard incoming.bodyBytes <= (isRelayed ? RequestIntake.relayedBodyLimit : RequestIntake.bodyLimit) else {
            return refuse(RequestIntake.tooLarge(isRelayed: isRelayed))
        }
        // The only holder of the body, which grows in place.
        self.incoming = nil
        if isRelayed { incoming.request.body += bytes }
        self.incoming = incoming
    }

    private mutating func refuse(_ reason: RequestRefusal) {
        intake = .refused(reason)
        incoming = nil
    }

    // MARK: Answers

    /// What is to be done now: called until it is `nil`. A request that is to be answered is being answered from here on, and so is a
    /// refusal.
    /// - Parameter isDraining: Whether connections end with their answers.
    package mutating func next(isDraining: Bool) -> Step? {
        guard isWaiting else { return nil }
        if !queue.isEmpty {
            phase = .answering
            let request = queue.removeFirst()
            let isBehindAll = if case .over = intake { queue.isEmpty } else { false }
            if isDraining || isBehindAll { endWithAnswer() }
            return .answer(request)
        }
        if case .refused(let reason) = intake {
            phase = .answering
            endWithAnswer()
            return .refuse(reason)
        }
        guard incoming?.owesContinue == true else { return nil }
        incoming?.owesContinue = false
        return .sendContinue
    }

    /// The answer that is on its way is the last, and nothing behind it is read.
    package mutating func endWithAnswer() {
        isLast = true
        intake = .over
        incoming = nil
        queue = []
    }

    /// The last byte of an answer was taken by the kernel: only now the next request's turn has come; `true` where there is none, and
    /// the client is to be told the end.
    package mutating func answerHasLeft() -> Bool {
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
        let isInside = incoming != nil || reader.isInsideRequest
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
            refuse(RequestRefusal(408, "the request took too long to come"))
        } else {
            return true
        }
        return false
    }

    /// Lets go of what only makes the next request quicker to read.
    package mutating func forget() { reader.forget() }
}
