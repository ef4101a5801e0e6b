package import RepriseCore
package import RepriseHTTP
import ReprisePlatform

/// Plays the engine's part towards an origin client, and notes what the client does and whether it may.
package final class ExchangeRecorder: Sendable {
    private struct State {
        var interims: [OriginResponseHead] = []
        var trailers = HTTPFields()
        var heads: [OriginResponseHead] = []
        var pieces = 0
        var bytes: [UInt8] = []
        var isDelimited: Bool?
        var failure: OriginFailure?
        var demands = 0
        var isCancelled = false
        var isInHandler = false
        var violations: [String] = []

        var isOver: Bool { isDelimited != nil || failure != nil }
    }

    /// Whether the code now running was called by the client's caller: an event that sees it came from inside.
    @TaskLocal private static var isInsideCall = false

    private let state = Lock(State())
    private let exchange = Lock<(any OriginExchange)?>(nil)

    package init(_ client: any OriginClient, _ request: OriginRequest) {
        let started = ExchangeRecorder.$isInsideCall.withValue(true) {
            client.start(request) { [weak self] event in self?.record(event) }
        }
        exchange.withLock { $0 = started }
    }

    // The engine lets no exchange go without its end or a cancel.
    deinit { cancel() }

    /// Interim answers, where the client tells of them.
    package var interims: [OriginResponseHead] { state.withLock { $0.interims } }
    /// Fields behind the body, where the client tells of them.
    package var trailers: HTTPFields { state.withLock { $0.trailers } }
    var heads: [OriginResponseHead] { state.withLock { $0.heads } }
    package var pieces: Int { state.withLock { $0.pieces } }
    package var bytes: [UInt8] { state.withLock { $0.bytes } }
    package var isDelimited: Bool? { state.withLock { $0.isDelimited } }
    package var failure: OriginFailure? { state.withLock { $0.failure } }
    package var violations: [String] { state.withLock { $0.violations } }

    private func record(_ event: OriginEvent) {
        let isInside = ExchangeRecorder.isInsideCall
        state.withLock { state in
            if isInside { state.violations.append("an event came from inside start, demand or cancel: \(event)") }
            if state.isInHandler { state.violations.append("two events at a time") }
            if state.isOver { state.violations.append("an event after the end: \(event)") }
            state.isInHandler = true
            switch event {
            case .interim(let head):
                if !state.heads.isEmpty { state.violations.append("an interim answer behind the head") }
                state.interims.append(head)
            case .head(let head):
                if !state.heads.isEmpty { state.violations.append("a second head") }
                state.heads.append(head)
            case .body(let piece):
                if state.heads.isEmpty { state.violations.append("a body before its head") }
                if piece.isEmpty { state.violations.append("an empty piece") }
                state.pieces += 1
                state.bytes += piece
                if state.pieces > state.demands { state.violations.append("a piece that was not asked for") }
            case .end(let isDelimited, let trailers):
                state.trailers = trailers
                if state.heads.isEmpty { state.violations.append("an end without a head") }
                state.isDelimited = isDelimited
            case .failed(let failure): state.failure = failure
            }
        }
        state.withLock { $0.isInHandler = false }
    }

    func demand() {
        state.withLock { $0.demands += 1 }
        let exchange = exchange.withLock { $0 }
        ExchangeRecorder.$isInsideCall.withValue(true) { exchange?.demand() }
    }

    /// Ends the exchange.
    package func cancel() {
        let exchange = exchange.withLock { $0 }
        ExchangeRecorder.$isInsideCall.withValue(true) { exchange?.cancel() }
    }

    /// Waits for the head or a failure.
    func waitForHead() async throws(ContractViolation) {
        try await wait("neither a head nor a failure came") { !$0.heads.isEmpty || $0.isOver }
    }

    /// Asks for one piece and waits for it, or for the end.
    func takePiece() async throws(ContractViolation) {
        let before = pieces
        demand()
        try await wait("no piece came though one was asked for") { $0.pieces > before || $0.isOver }
    }

    /// Asks piece by piece until the exchange is over.
    package func takeAll() async throws(ContractViolation) {
        try await waitForHead()
        while !state.withLock({ $0.isOver }) { try await takePiece() }
    }

    private func wait(_ text: String, _ condition: @escaping @Sendable (borrowing State) -> Bool)
        async throws(ContractViolation)
    {
        if !(await eventually { self.state.withLock { condition($0) } }) { throw ContractViolation(text) }
        if let violation = violations.first { throw ContractViolation(violation) }
    }
}

/// What an implementation did against its contract.
public struct ContractViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public var description: String

    init(_ description: String) { self.description = description }
}
