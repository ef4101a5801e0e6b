/// How far a request is that is passed on to its origin, with its body where that comes meanwhile, and who is awaited for how long.
/// No I/O.
///
///     asking --head--> invalidating --done--> handing on, a piece whenever the client takes one --end--> over
///       |                   |
///       +-----failure-------+--> refusing, once what may have changed all the same was looked at --> over
///
/// Guarantees: one answer is begun, the origin's or one instead of it; at most one piece is asked for at a time; one party is awaited
/// at a time, and never for ever.
package struct RelayStateMachine: Sendable {
    /// Seconds that are waited.
    package struct Deadlines: Sendable {
        /// For the origin to begin its answer.
        let head: Int
        /// For the origin to go on with it.
        let piece: Int
        /// For each 64 KiB of the request's body.
        let body: Int

        package init(head: Int, piece: Int, body: Int) {
            self.head = head
            self.piece = piece
            self.body = body
        }
    }

    /// Who is awaited.
    package enum Wait: Hashable, Sendable {
        case nothing
        /// The origin is to say something within so many seconds.
        case origin(seconds: Int)
        /// The client is to send on within so many seconds.
        case body(seconds: Int)
        /// The client is to take something.
        case client
        /// What is stored is to be looked at within so many seconds, or the client is told before.
        case store(seconds: Int)

        package var isForClient: Bool {
            switch self {
            case .body, .client: true
            case .nothing, .origin, .store: false
            }
        }
    }

    /// What of an answer a client is told.
    package enum Told: Hashable, Sendable { case nothing, head, wholeAnswer }

    /// What is done where the exchange has failed.
    package enum Failure: Hashable, Sendable {
        /// It is over already.
        case nothing
        /// The client has a part of the answer: its connection is closed.
        case breakOff
        /// The client is told.
        case tell
        /// The client is told once what may have changed was looked at: `lookedAt`.
        case tellLater
    }

    private enum Phase {
        /// Nothing of an answer has come.
        case asking
        /// The head has come, and what is stored of the URLs that it is about is looked at. Whether there is no body behind it.
        case invalidating(isWhole: Bool)
        /// There is none, and what is stored of what the origin may have changed all the same is looked at.
        case refusing
        /// The client has the head. Whether a piece was asked for and has not come.
        case handingOn(isDemanding: Bool)
        case over
    }

    /// How long a client has been waited for while it sends a body.
    private struct Slowness {
        /// Bytes that are to come within the time for them.
        static let measure = 64 * 1024
        /// Nanoseconds, for the bytes under way.
        var spent: Int64 = 0
        var since: Int64?
        private var bytes = 0

        mutating func took(_ count: Int, now: Int64) {
            if let since { spent += now - since }
            since = nil
            bytes += count
            guard bytes >= Slowness.measure else { return }
            (bytes, spent) = (0, 0)
        }
    }

    /// Seconds that a client waits for the store: a disk that hangs is none of its business.
    static let storeDeadline = 5

    private let deadlines: Deadlines
    private var phase = Phase.asking
    /// `nil` where no body comes, or no more of it.
    private var slowness: Slowness?
    private var newWait: Wait?

    /// The request is about to be sent.
    /// - Parameter hasBody: Whether its body comes while it is sent.
    package init(_ deadlines: Deadlines, hasBody: Bool) {
        self.deadlines = deadlines
        slowness = hasBody ? Slowness() : nil
        newWait = .origin(seconds: deadlines.head)
    }

    /// Whether more of the request's body is to come.
    package var isBodyComing: Bool { slowness != nil }

    /// Whether nothing was told to the client yet, so that something else can be.
    package var isUnanswered: Bool {
        switch phase {
        case .asking, .invalidating: true
        case .refusing, .handingOn, .over: false
        }
    }

    /// Who is awaited from now on; `nil` where that is as before. To be asked for behind each input.
    package mutating func takeWait() -> Wait? {
        defer { newWait = nil }
        return newWait
    }

    // MARK: The request's body

    /// The origin could take more than is there; `false` where the client has had its time.
    /// - Parameter now: Nanoseconds, as everywhere here.
    package mutating func bodyIsDemanded(now: Int64) -> Bool {
        guard slowness != nil, originWait != nil else { return true }
        guard timeLeft > 0 else { return false }
        slowness?.since = now
        newWait = owedBody
        return true
    }

    /// Nanoseconds that the client has for the bytes under way.
    private var timeLeft: Int64 { Int64(deadlines.body) * 1_000_000_000 - (slowness?.spent ?? 0) }

    /// The wait for the client, where the origin could take more than is there. Rounded up.
    private var owedBody: Wait? {
        slowness?.since == nil ? nil : .body(seconds: Int(timeLeft / 1_000_000_000) + 1)
    }

    /// So many bytes have come.
    package mutating func bodyCame(_ count: Int, now: Int64) {
        slowness?.took(count, now: now)
        newWait = originWait ?? newWait
    }

    /// It is whole, or no more of it comes.
    package mutating func bodyEnded() {
        slowness = nil
        newWait = originWait ?? newWait
    }

    /// The wait for the origin, where it has something to say.
    private var originWait: Wait? {
        switch phase {
        case .asking: .origin(seconds: deadlines.head)
        case .handingOn(isDemanding: true): .origin(seconds: deadlines.piece)
        case .invalidating, .refusing, .handingOn, .over: nil
        }
    }

    // MARK: The answer

    /// The head of an answer has come; `false` where none is wanted any more.
    package mutating func headCame() -> Bool {
        guard isUnanswered else { return false }
        phase = .invalidating(isWhole: false)
        newWait = .store(seconds: RelayStateMachine.storeDeadline)
        return true
    }

    /// What is stored of the URLs that the answer is about was looked at, or not in time: what of it the client is told now.
    package mutating func invalidated() -> Told {
        guard case .invalidating(let isWhole) = phase else { return .nothing }
        if isWhole {
            end()
            return .wholeAnswer
        }
        phase = .handingOn(isDemanding: false)
        newWait = .client
        return .head
    }

    /// A piece of the answer's body has come; `false` where none is wanted any more.
    package mutating func pieceCame() -> Bool {
        guard case .handingOn = phase else { return false }
        phase = .handingOn(isDemanding: false)
        newWait = .client
        return true
    }

    /// The client has room for more; whether a piece is to be asked for.
    package mutating func clientTakesMore() -> Bool {
        guard case .handingOn(isDemanding: false) = phase else { return false }
        phase = .handingOn(isDemanding: true)
        // An origin that was promised more of the body may say nothing before it comes.
        newWait = owedBody ?? originWait
        return true
    }

    /// The answer is whole; whether the client's is with that.
    package mutating func answerEnded() -> Bool {
        switch phase {
        case .handingOn:
            end()
            return true
        case .invalidating: phase = .invalidating(isWhole: true)
        case .asking, .refusing, .over: break
        }
        return false
    }

    // MARK: Without an answer

    /// No answer comes, or no more of it.
    /// - Parameter mayHaveChanged: Whether the origin may have done what was asked all the same.
    package mutating func fail(mayHaveChanged: Bool) -> Failure {
        switch phase {
        case .refusing, .over: return .nothing
        case .handingOn:
            end()
            return .breakOff
        case .asking where !mayHaveChanged, .invalidating where !mayHaveChanged:
            end()
            return .tell
        case .asking, .invalidating:
            phase = .refusing
            newWait = .store(seconds: RelayStateMachine.storeDeadline)
            return .tellLater
        }
    }

    /// What may have changed was looked at, or not in time; `false` where the client has left.
    package mutating func lookedAt() -> Bool {
        guard case .refusing = phase else { return false }
        end()
        return true
    }

    /// Another answers instead; `false` where an answer has begun.
    package mutating func standIn() -> Bool {
        guard isUnanswered else { return false }
        end()
        return true
    }

    /// The client has left; whether what the request may have changed is to be looked at.
    package mutating func clientLeft() -> Bool {
        if case .over = phase { return false }
        let isUnheard = if case .asking = phase { true } else { false }
        end()
        return isUnheard
    }

    private mutating func end() {
        phase = .over
        newWait = .nothing
    }
}
