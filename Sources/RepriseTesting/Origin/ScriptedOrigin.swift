public import RepriseCore
public import RepriseHTTP
import ReprisePlatform
public import RepriseRanges

/// An origin whose content is a function of position and whose behaviour is a script. It decides what each request
/// is answered; sending is the business of an in-memory client or of a loopback server, so both misbehave alike.
public final class ScriptedOrigin: Sendable {
    /// What is sent first where `OriginBehaviour.earlyHints` says so.
    public static let earlyHints = OriginResponseHead(status: 103, fields: ["Link": "</style.css>; rel=preload"])
    /// The body of a login page.
    public static let loginPage = Array(
        "<!DOCTYPE html><html><body>Please sign in to use this network.</body></html>".utf8)

    /// An object: what it is now, and how it is served.
    public struct Resource: Sendable, Hashable {
        /// The bytes, or for real media files the bytes themselves.
        public var content: PositionCodedContent
        /// Real bytes instead of position-coded ones.
        public var literal: [UInt8]?
        /// How it is served.
        public var behaviour: OriginBehaviour

        /// Makes an object of position-coded content.
        public init(_ content: PositionCodedContent, _ behaviour: OriginBehaviour = OriginBehaviour()) {
            self.content = content
            self.behaviour = behaviour
        }

        /// Makes an object of real bytes.
        public init(literal: [UInt8], _ behaviour: OriginBehaviour = OriginBehaviour()) {
            content = PositionCodedContent(length: Int64(literal.count))
            self.literal = literal
            self.behaviour = behaviour
        }

        /// The bytes of `range`.
        public func bytes(in range: ByteRange) -> [UInt8] {
            guard let literal else { return content.bytes(in: range) }
            guard let range = range.intersection(ByteRange(0, Int64(literal.count))) else { return [] }
            return Array(literal[Int(range.lowerBound)..<Int(range.upperBound)])
        }
    }

    /// A request as it came, for a test to look at.
    public struct Logged: Sendable, Hashable {
        /// Target without query.
        public var path: String
        /// Path and query, byte for byte.
        public var target: String
        /// Method as it came.
        public var method: String
        /// Header fields as they came.
        public var fields: HTTPFields
        /// The body behind it.
        public var body: [UInt8] = []
        /// Status of the answer.
        public var status: Int
        /// The bytes the answer announced, as a range of the object.
        public var range: ByteRange?
    }

    private struct State {
        var resources: [String: Resource] = [:]
        var requests: [String: Int] = [:]
        var log: [Logged] = []
        var bodyBytes: Int64 = 0
        var isDown = false
    }

    private let state = Lock(State())

    /// An origin with nothing on it.
    public init() {}

    /// Puts an object at `path` (target without query).
    public func put(_ resource: Resource, at path: String) { state.withLock { $0.resources[path] = resource } }

    /// Takes the object at `path` away, and forgets how often it was asked for.
    public func remove(_ path: String) {
        state.withLock { state in
            state.resources[path] = nil
            state.requests[path] = nil
        }
    }

    /// Changes how the object at `path` is served, or what it is.
    public func change(_ path: String, _ change: (inout Resource) -> Void) {
        state.withLock { state in
            if var resource = state.resources[path] {
                change(&resource)
                state.resources[path] = resource
            }
        }
    }

    /// The object at `path`.
    public func resource(at path: String) -> Resource? { state.withLock { $0.resources[path] } }

    /// While down, nothing is answered: connections are refused.
    public func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

    /// Whether the origin is down.
    public var isDown: Bool { state.withLock { $0.isDown } }

    /// All requests so far.
    public var log: [Logged] { state.withLock { $0.log } }

    /// Number of requests so far.
    public var requestCount: Int { state.withLock { $0.log.count } }

    /// Body bytes sent so far.
    public var bodyBytes: Int64 { state.withLock { $0.bodyBytes } }

    /// Forgets the log and the counts.
    public func resetLog() {
        state.withLock { state in
            state.log = []
            state.bodyBytes = 0
        }
    }

    /// Counts body bytes as sent; for whoever does the sending.
    public func countSent(_ bytes: Int) { state.withLock { $0.bodyBytes += Int64(bytes) } }

    /// Decides the answer to a request for `target` (path and query).
    public func answer(
        method: String, target: String, fields: HTTPFields, body: [UInt8] = []
    ) -> ScriptedAnswer {
        let path = String(target.upTo("?"))
        return state.withLock { state in
            state.requests[path, default: 0] += 1
            let number = state.requests[path] ?? 1
            let answer =
                state.resources[path].map { Script(resource: $0, number: number, fields: fields).answer(to: method) }
                ?? .plain(404, "nothing at this path")
            state.log.append(
                Logged(
                    path: path, target: target, method: method, fields: fields, body: body, status: answer.status,
                    range: answer.range))
            return answer
        }
    }
}

/// What a scripted origin sends back: a head, and a body as steps.
public struct ScriptedAnswer: Sendable, Hashable {
    /// One thing that happens on the connection.
    public enum Step: Sendable, Hashable {
        /// Bytes of the object.
        case content(ByteRange)
        /// Other bytes.
        case literal([UInt8])
        /// Nothing more comes, the connection stays open.
        case stall
        /// The connection is reset.
        case reset
    }

    /// Status code.
    public var status: Int
    /// Header fields.
    public var fields: HTTPFields
    /// 1xx answers sent first.
    public var interim: [OriginResponseHead] = []
    /// How the end of the body is told.
    public var framing = OriginBehaviour.Framing.length
    /// Fields behind a chunked body.
    public var trailers = HTTPFields()
    /// What happens after the head, in order.
    public var steps: [Step] = []
    /// The bytes of the object the answer announces.
    public var range: ByteRange?
    /// Nanoseconds before the head.
    public var delay: Int64 = 0
    /// Bytes a second; 0 for as fast as possible.
    public var bytesPerSecond: Int64 = 0

    static func plain(_ status: Int, _ text: String) -> ScriptedAnswer {
        let body = Array((text + "\n").utf8)
        return ScriptedAnswer(
            status: status, fields: ["Content-Type": "text/plain", "Content-Length": "\(body.count)"],
            steps: [.literal(body)])
    }
}

/// The answer to one request.
private struct Script {
    let resource: ScriptedOrigin.Resource
    let number: Int
    let fields: HTTPFields

    private var behaviour: OriginBehaviour { resource.behaviour }
    private var isFaulty: Bool { number <= behaviour.faultyRequests }
    private var length: Int64 { resource.content.length }

    func answer(to method: String) -> ScriptedAnswer {
        var answer = behaviour.statuses[method].map { changed(method, $0) } ?? decide()
        if behaviour.earlyHints { answer.interim = [ScriptedOrigin.earlyHints] }
        if !behaviour.trailers.isEmpty, method != "HEAD" {
            answer.framing = .chunked
            answer.fields["Content-Length"] = nil
            answer.trailers = HTTPFields(behaviour.trailers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
            answer.fields["Trailer"] = answer.trailers.lines.map(\.name).joined(separator: ", ")
        }
        answer.delay = behaviour.firstByteDelay
        answer.bytesPerSecond = behaviour.bytesPerSecond
        return answer
    }

    private func decide() -> ScriptedAnswer {
        if let redirect = behaviour.redirect {
            var answer = ScriptedAnswer(status: 302, fields: ["Location": redirect, "Content-Length": "0"])
            for (name, value) in behaviour.statusFields { answer.fields[name] = value }
            return answer
        }
        if let status = behaviour.status, isFaulty {
            var answer = ScriptedAnswer.plain(status, "status \(status)")
            if status == 204 { answer = ScriptedAnswer(status: 204, fields: [:]) }
            for (name, value) in behaviour.statusFields { answer.fields[name] = value }
            if let seconds = behaviour.retryAfter { answer.fields["Retry-After"] = "\(seconds)" }
            if status == 416 { answer.fields["Content-Range"] = "bytes */\(length)" }
            return answer
        }
        if let user = fields["Authorization"] ?? fields["Cookie"].map({ String($0.dropFirst("user=".count)) }),
            let status = behaviour.refusals[user]
        {
            var answer = ScriptedAnswer.plain(status, "not for \(fields["Authorization"] ?? fields["Cookie"] ?? "")")
            if status == 429, let seconds = behaviour.retryAfter { answer.fields["Retry-After"] = "\(seconds)" }
            return answer
        }
        if behaviour.loginPage, isFaulty {
            let page = ScriptedOrigin.loginPage
            var answer = ScriptedAnswer(status: 200, fields: ["Content-Type": "text/html"], steps: [.literal(page)])
            answer.framing = behaviour.framing
            if behaviour.framing == .length { answer.fields["Content-Length"] = "\(page.count)" }
            return answer
        }
        if notModified { return ScriptedAnswer(status: 304, fields: validatorFields) }
        return content()
    }

    private func changed(_ method: String, _ status: Int) -> ScriptedAnswer {
        var answer = ScriptedAnswer.plain(status, method)
        if status == 204 {
            answer.steps = []
            answer.fields.remove(["Content-Length", "Content-Type"])
        }
        for (name, value) in behaviour.extraFields { answer.fields[name] = value }
        return answer
    }

    private var notModified: Bool {
        guard behaviour.heedsIfNoneMatch, let condition = fields["If-None-Match"], let tag else { return false }
        return EntityTagCondition(condition).matches(EntityTag(tag), strongly: false)
    }

    private var tag: String? {
        let coding = isGzipTaken ? "-gzip" : ""
        let base = "\"g\(resource.content.generation)-\(length)\(behaviour.tagMark)\(coding)\""
        return switch behaviour.tag {
        case .strong: base
        case .weak: "W/" + base
        case .weakShared: "W/\"all\""
        case .none: nil
        case .perRequestWeak: "W/\"node-\(number)-\(resource.content.generation)\(behaviour.tagMark)\""
        case .perRequest: "\"node-\(number)-\(resource.content.generation)\(behaviour.tagMark)\""
        }
    }

    private var lastModified: String { HTTPDate.format(1_600_000_000 + Int64(resource.content.generation) * 86_400) }

    private var validatorFields: HTTPFields {
        var fields = HTTPFields()
        if let tag { fields["ETag"] = tag }
        if behaviour.hasLastModified { fields["Last-Modified"] = lastModified }
        for (name, value) in behaviour.extraFields.sorted(by: { $0.key < $1.key }) { fields[name] = value }
        return fields
    }

    private var requestedRange: RangeSpecifier? {
        guard behaviour.ranges == .served, let field = fields["Range"] else { return nil }
        if behaviour.heedsIfRange, let condition = fields["If-Range"] {
            let matches = condition == tag && !condition.beginsLike("W/")
            guard matches || (behaviour.hasLastModified && condition == lastModified) else { return nil }
        }
        return RangeSpecifier.parse(field)?.first
    }

    private var isGzipTaken: Bool {
        behaviour.gzipsForTakers && fields.has(token: "gzip", in: "Accept-Encoding")
    }

    private func content() -> ScriptedAnswer {
        var head = validatorFields
        head["Content-Type"] = behaviour.contentType
        if isGzipTaken {
            head["Content-Encoding"] = "gzip"
            return body(status: 200, head, ByteRange(0, length))
        }
        if behaviour.tellsRanges { head["Accept-Ranges"] = behaviour.ranges == .served ? "bytes" : "none" }
        guard let requested = requestedRange else {
            return body(status: 200, head, ByteRange(0, length))
        }
        guard let asked = requested.resolved(length: length) else {
            var refusal = ScriptedAnswer(status: 416, fields: ["Content-Length": "0"])
            if behaviour.explainsRefusals { refusal = .plain(416, "the range lies beyond the end of what is here") }
            if behaviour.tellsTotalInRefusals { refusal.fields["Content-Range"] = "bytes */\(length)" }
            return refusal
        }
        let range = served(asked)
        head["Content-Range"] = contentRange(range)
        return body(status: 206, head, range)
    }

    private func served(_ asked: ByteRange) -> ByteRange {
        if let longest = behaviour.longestRange {
            return ByteRange(offset: asked.lowerBound, count: min(asked.count, longest))
        }
        return ByteRange(
            max(0, asked.lowerBound - behaviour.widensRanges),
            min(length, ByteRange(offset: asked.upperBound, count: behaviour.widensRanges).upperBound))
    }

    private func contentRange(_ range: ByteRange) -> String? {
        let fault = isFaulty ? behaviour.contentRange : .none
        return switch fault {
        case .none: ContentRange.satisfied(range, total: length).field
        case .absent: nil
        case .wrongStart: "bytes \(range.lowerBound + 1)-\(range.upperBound)/\(length + 1)"
        case .wrongEnd: "bytes \(range.lowerBound)-\(range.upperBound)/\(length + 1)"
        case .garbage: "bytes potato"
        case .unknownTotal: ContentRange.satisfied(range, total: nil).field
        case .changingTotal(let from):
            ContentRange.satisfied(range, total: number >= from ? length + 1 : length).field
        }
    }

    private func body(status: Int, _ head: HTTPFields, _ range: ByteRange) -> ScriptedAnswer {
        var answer = ScriptedAnswer(status: status, fields: head, range: range)
        answer.framing = behaviour.framing
        if behaviour.framing == .length { answer.fields["Content-Length"] = "\(range.count)" }
        if behaviour.gzipsAnyway { answer.fields["Content-Encoding"] = "gzip" }
        answer.steps = steps(range)
        if behaviour.icyMetadata, fields["Icy-MetaData"] == "1" {
            answer.fields["icy-metaint"] = "1024"
            answer.steps = interleaved(range)
            answer.fields["Content-Length"] = nil
            answer.framing = .close
        }
        return answer
    }

    private func steps(_ range: ByteRange) -> [ScriptedAnswer.Step] {
        switch isFaulty ? behaviour.body : .none {
        case .none: return [.content(range)]
        case .short(let missing):
            return [.content(ByteRange(range.lowerBound, max(range.lowerBound, range.upperBound - missing))), .reset]
        case .long(let extra): return [.content(range), .literal([UInt8](repeating: 0xEE, count: Int(extra)))]
        case .stall(let offset): return cut(range, at: offset, then: .stall)
        case .reset(let offset): return cut(range, at: offset, then: .reset)
        }
    }

    private func cut(_ range: ByteRange, at offset: Int64, then step: ScriptedAnswer.Step) -> [ScriptedAnswer.Step] {
        guard offset < range.upperBound else { return [.content(range)] }
        guard offset > range.lowerBound else { return [step] }
        return [.content(ByteRange(range.lowerBound, offset)), step]
    }

    private func interleaved(_ range: ByteRange) -> [ScriptedAnswer.Step] {
        var steps: [ScriptedAnswer.Step] = []
        var position = range.lowerBound
        while position < range.upperBound {
            let end = min(position + 1024, range.upperBound)
            steps += [.content(ByteRange(position, end)), .literal([1] + Array("StreamTitle='x';".utf8))]
            position = end
        }
        return steps
    }
}
