public import RepriseCore
import RepriseHTTP
import RepriseRanges

/// What every `OriginClient` has to do, as checks that its tests run against a scripted origin.
///
///     @Test(arguments: OriginClientContract.Rule.allCases)
///     func `my client keeps the contract`(rule: OriginClientContract.Rule) async throws {
///         try await contract.check(rule)
///     }
public struct OriginClientContract: Sendable {
    /// One thing a client has to do.
    public enum Rule: String, CaseIterable, Sendable {
        case headComesOnceUnasked, nothingWithoutDemand, onePieceForOneDemand, bytesAndLength, chunkedEndIsDelimited
        case endByClosingIsNotDelimited, emptyBody, rangeAndFieldsAsGiven, errorStatusIsAnAnswer, resetIsAFailure
        case shortBodyIsAFailure, cancelEndsEvents, cancelAtOnce, cancelIsIdempotent, redirectIsFollowed
        case redirectIsHandedOn, redirectCircleFails, interimAnswersComeFirst, unreachableFails, connectionsAreReused
    }

    private static let length: Int64 = 600_000

    private let client: any OriginClient
    private let origin: ScriptedOrigin
    private let base: String
    private let unreachable: String
    private let connections: (@Sendable () -> Int)?

    /// - Parameters:
    ///   - client: The client to look at.
    ///   - origin: What `base` is served by; the contract puts its objects there.
    ///   - base: Scheme, host and port of the origin.
    ///   - unreachable: A URL nobody answers at.
    ///   - connections: Connections the origin has accepted so far, if there are any to count.
    public init(
        client: any OriginClient, origin: ScriptedOrigin, base: String, unreachable: String,
        connections: (@Sendable () -> Int)? = nil
    ) {
        self.client = client
        self.origin = origin
        self.base = base
        self.unreachable = unreachable
        self.connections = connections
    }

    /// Checks one rule.
    /// - Throws: `ContractViolation` with what the client did instead.
    public func check(_ rule: Rule) async throws {
        switch rule {
        case .headComesOnceUnasked:
            let exchange = start("/head")
            try await exchange.waitForHead()
            try expect(exchange.heads.first?.status == 200, "status \(exchange.heads)")
            try await expectSilence(exchange, pieces: 0)
        case .nothingWithoutDemand:
            let exchange = start("/silent")
            try await exchange.waitForHead()
            try await exchange.takePiece()
            try await expectSilence(exchange, pieces: 1)
        case .onePieceForOneDemand:
            let exchange = start("/pieces")
            try await exchange.waitForHead()
            for number in 1...5 {
                try await exchange.takePiece()
                try expect(exchange.pieces == number, "\(exchange.pieces) pieces for \(number) demands")
            }
            try await expectSilence(exchange, pieces: 5)
        case .bytesAndLength: try await whole("/whole", isDelimited: true)
        case .chunkedEndIsDelimited: try await whole("/chunked", isDelimited: true) { $0.framing = .chunked }
        case .endByClosingIsNotDelimited: try await whole("/close", isDelimited: false) { $0.framing = .close }
        case .emptyBody: try await whole("/empty", length: 0, isDelimited: true)
        case .rangeAndFieldsAsGiven: try await fieldsAsGiven()
        case .errorStatusIsAnAnswer:
            let exchange = start("/error") { $0.status = 503 }
            try await exchange.takeAll()
            try expect(exchange.heads.first?.status == 503 && exchange.failure == nil, "\(exchange.heads)")
        case .resetIsAFailure: try await breaks("/reset", .reset(at: 300_000))
        case .shortBodyIsAFailure: try await breaks("/short", .short(by: 1000))
        case .cancelEndsEvents, .cancelIsIdempotent:
            let exchange = start("/cancel")
            try await exchange.waitForHead()
            try await exchange.takePiece()
            for _ in 0..<(rule == .cancelIsIdempotent ? 3 : 1) { exchange.cancel() }
            try await expectSilence(exchange, pieces: 1)
            exchange.demand()
            try await expectSilence(exchange, pieces: 1)
        case .cancelAtOnce:
            let exchange = start("/cancel-at-once")
            exchange.cancel()
            try await expectSilence(exchange, pieces: 0)
        case .redirectIsFollowed: try await redirect()
        case .redirectIsHandedOn: try await handedOn()
        case .redirectCircleFails:
            let exchange = start("/circle") { $0.redirect = "/circle" }
            try await exchange.takeAll()
            try expect(exchange.failure?.kind == .malformed, "\(String(describing: exchange.failure))")
        case .interimAnswersComeFirst: try await beside("/hints")
        case .unreachableFails:
            let exchange = ExchangeRecorder(client, try request(unreachable))
            try await exchange.takeAll()
            try expect(exchange.failure?.kind == .unreachable, "\(String(describing: exchange.failure))")
        case .connectionsAreReused: try await reuse()
        }
    }

    // MARK: Rules of more than a few lines

    /// What comes before and behind an answer is told as it came, or not at all.
    private func beside(_ path: String) async throws {
        try await whole(path, isDelimited: true) { $0.earlyHints = true }
        let exchange = start(path + "/2") { ($0.earlyHints, $0.trailers) = (true, ["X-Behind": "1"]) }
        try await exchange.takeAll()
        try expect(exchange.heads.map(\.status) == [200] && exchange.isDelimited == true, "\(exchange.heads)")
        try expect([[], [ScriptedOrigin.earlyHints]].contains(exchange.interims), "\(exchange.interims)")
        try expect([[:], ["X-Behind": "1"]].contains(exchange.trailers), "\(exchange.trailers)")
    }

    private func whole(
        _ path: String, length: Int64 = OriginClientContract.length, isDelimited: Bool,
        _ change: (inout OriginBehaviour) -> Void = { _ in }
    ) async throws {
        let exchange = start(path, length: length, change)
        try await exchange.takeAll()
        try expect(exchange.failure == nil, "\(String(describing: exchange.failure))")
        try expect(exchange.heads.map(\.status) == [200], "\(exchange.heads)")
        try expect(
            exchange.isDelimited == isDelimited,
            "the end is called delimited: \(String(describing: exchange.isDelimited))")
        try expectContent(exchange, length)
    }

    private func fieldsAsGiven() async throws {
        put("/fields")
        var request = try request(base + "/fields?a=%20b")
        request.fields = ["Range": "bytes=1000-1999", "Accept-Encoding": "identity", "If-Range": "\"g1-600000\""]
        let exchange = ExchangeRecorder(client, request)
        try await exchange.takeAll()
        try expect(exchange.heads.first?.status == 206, "\(exchange.heads)")
        try expect(exchange.bytes.count == 1000, "\(exchange.bytes.count) bytes")
        guard let logged = origin.log.last(where: { $0.path == "/fields" }) else {
            throw ContractViolation("nothing was sent")
        }
        try expect(logged.target == "/fields?a=%20b", "asked for \(logged.target)")
        for line in request.fields.lines {
            try expect(
                logged.fields.values(of: line.name) == [line.value],
                "\(line.name): \(logged.fields.values(of: line.name))")
        }
    }

    private func breaks(_ path: String, _ fault: OriginBehaviour.BodyFault) async throws {
        let exchange = start(path) { $0.body = fault }
        try await exchange.takeAll()
        try expect(exchange.failure?.kind == .interrupted, "\(String(describing: exchange.failure))")
        try expectContent(exchange, Int64(exchange.bytes.count))
    }

    private func redirect() async throws {
        put("/new")
        let exchange = start("/old") { $0.redirect = "/new" }
        try await exchange.takeAll()
        try expect(exchange.heads.map(\.status) == [200], "\(exchange.heads)")
        try expectContent(exchange, OriginClientContract.length)
    }

    private func handedOn() async throws {
        put("/new")
        put("/old") { $0.redirect = "/new" }
        var request = try request(base + "/old")
        request.followsRedirects = false
        let before = origin.requestCount
        let exchange = ExchangeRecorder(client, request)
        try await exchange.takeAll()
        try expect(exchange.failure == nil, "\(String(describing: exchange.failure))")
        try expect(exchange.heads.map(\.status) == [302], "\(exchange.heads)")
        try expect(exchange.heads.first?.fields["Location"] == "/new", "\(exchange.heads)")
        try expect(origin.requestCount - before == 1, "\(origin.requestCount - before) requests")
    }

    private func reuse() async throws {
        let before = connections?() ?? 0
        for _ in 0..<100 {
            let exchange = start("/reuse", length: 10_000)
            try await exchange.takeAll()
            try expectContent(exchange, 10_000)
        }
        let opened = (connections?() ?? 0) - before
        try expect(opened <= 4, "100 exchanges one after the other took \(opened) connections")
    }

    // MARK: Tools

    private func put(_ path: String, length: Int64 = length, _ change: (inout OriginBehaviour) -> Void = { _ in }) {
        var behaviour = OriginBehaviour()
        change(&behaviour)
        origin.put(.init(PositionCodedContent(length: length), behaviour), at: path)
    }

    private func request(_ url: String) throws(ContractViolation) -> OriginRequest {
        guard let url = OriginURL(url) else { throw ContractViolation("\(url) is no URL") }
        return OriginRequest(url: url, fields: ["Accept-Encoding": "identity"])
    }

    private func start(
        _ path: String, length: Int64 = length, _ change: (inout OriginBehaviour) -> Void = { _ in }
    ) -> ExchangeRecorder {
        put(path, length: length, change)
        guard let url = OriginURL(base + path) else { preconditionFailure("\(base) is no base of a URL") }
        return ExchangeRecorder(client, OriginRequest(url: url, fields: ["Accept-Encoding": "identity"]))
    }

    private func expect(_ holds: Bool, _ text: @autoclosure () -> String) throws(ContractViolation) {
        if !holds { throw ContractViolation(text()) }
    }

    private func expectContent(_ exchange: ExchangeRecorder, _ length: Int64) throws(ContractViolation) {
        try expect(Int64(exchange.bytes.count) == length, "\(exchange.bytes.count) of \(length) bytes")
        let content = PositionCodedContent(length: OriginClientContract.length)
        if let wrong = content.firstMismatch(exchange.bytes, at: 0) {
            throw ContractViolation("a wrong byte at \(wrong)")
        }
    }

    // That nothing comes can only be seen by letting other things happen meanwhile: two whole exchanges.
    private func expectSilence(_ exchange: ExchangeRecorder, pieces: Int) async throws {
        for _ in 0..<2 { try await whole("/meanwhile", isDelimited: true) }
        try expectUnfinished(exchange, pieces: pieces)
    }

    // Not a part of the loop above: Swift 6.3.1's optimizer reads freed memory when it splits the two as one coroutine.
    private func expectUnfinished(_ exchange: ExchangeRecorder, pieces: Int) throws(ContractViolation) {
        if let violation = exchange.violations.first { throw ContractViolation(violation) }
        try expect(exchange.pieces == pieces, "\(exchange.pieces) pieces, asked for \(pieces)")
        try expect(exchange.isDelimited == nil && exchange.failure == nil, "the exchange ended by itself")
    }
}
