import RepriseHTTP
import RepriseStorage

/// Which answer a request may be given, whose fields ask for it, and who may have what comes (RFC 9111 §3 and §4). It remembers
/// whose fields and which URLs the origin refused, and who was answered for itself alone.
struct ResponseSelector {
    /// What a stored answer is to a request.
    enum Selection: Hashable {
        /// It may be used; whether it is to be confirmed meanwhile.
        case use(isConfirmedMeanwhile: Bool)
        /// The origin has to confirm it first.
        case validate(CacheStatus.Forward)
        /// The request wants only what is stored and may be used (RFC 9111 §5.2.1.7).
        case onlyIfCachedMiss
        /// It is not for this request.
        case redirect(Redirect)
    }

    private let policy: FreshnessPolicy
    private let isPrivate: Bool
    /// Whether the entry has its key for what its requests say, beside the URL.
    private let isOfVariant: Bool
    /// Fields the origin refused lately: another caller's may still do.
    private var refusedFields: [HTTPFields] = []
    /// Fields that the origin answered for their callers alone while they read what is shared; the newest few.
    private var ownFields: [HTTPFields] = []
    /// What the origin refused lately, or what was asked instead: another caller's URL and fields may still do.
    private var refusedCallers: [Caller] = []
    private static let mostRefused = 16
    /// More than ever read one resource at once: each is asked in place of another once.
    private static let mostRefusedCallers = 1024
    private static let mostOwn = 16

    init(policy: FreshnessPolicy, isPrivate: Bool, isOfVariant: Bool) {
        self.policy = policy
        self.isPrivate = isPrivate
        self.isOfVariant = isOfVariant
    }

    /// Whether RFC 9111 says who may have what.
    var isSharedHTTP: Bool { policy == .http && !isPrivate }

    // MARK: Stored answers

    /// Whether a reader may use a stored answer now.
    func select(_ representation: Representation, for reader: Reader, wallClock: Int64) -> Selection {
        guard isSharedHTTP else { return .use(isConfirmedMeanwhile: false) }
        if ownFields.contains(reader.fields) { return .redirect(.alone) }
        if let redirect = redirect(for: reader.fields, from: representation) { return .redirect(redirect) }
        if reader.isConfirmed { return .use(isConfirmedMeanwhile: false) }
        switch reuse(of: representation, by: reader.fields, wallClock: wallClock).verdict {
        case .use, .useStale: return .use(isConfirmedMeanwhile: false)
        case .useWhileConfirming: return .use(isConfirmedMeanwhile: true)
        case .confirm(let reason): return .validate(reason)
        case .unsatisfiable: return .onlyIfCachedMiss
        }
    }

    /// Whether a stored answer may be used for a request with those fields.
    func reuse(of representation: Representation, by fields: HTTPFields, wallClock: Int64) -> ReuseRule {
        ReuseRule(stored: freshness(of: representation), request: RequestCacheControl(fields), now: wallClock)
    }

    /// Where a request goes on whose fields choose another answer than this one (RFC 9111 §4.1); `nil` where they choose it.
    func redirect(for fields: HTTPFields, from representation: Representation) -> Redirect? {
        guard isOtherVariant(representation, fields) else { return nil }
        return Variant(answer: representation.info.fields, request: fields).map { .variant($0) } ?? .alone
    }

    /// Whether an answer was chosen by other request fields than these.
    func isOtherVariant(_ representation: Representation, _ fields: HTTPFields) -> Bool {
        guard isSharedHTTP, !representation.isPrivate else { return false }
        return Variant(answer: representation.info.fields, request: fields)?.text != representation.info.variant
    }

    /// What an answer's variant is called in its description.
    func variant(of answer: HTTPFields, to request: HTTPFields) -> String? {
        policy == .http ? Variant(answer: answer, request: request)?.text : nil
    }

    func freshness(of representation: Representation) -> Freshness {
        let info = representation.info
        return Freshness(fields: info.fields, status: info.status, checked: info.checked)
    }

    // MARK: What is told of it

    /// Why a request goes on to the origin where nothing is stored for it.
    func reason(_ fields: HTTPFields) -> CacheStatus.Forward {
        if isPrivate { return RequestCacheControl(fields).noStore ? .bypass : .miss }
        return isOfVariant ? .varyMiss : .uriMiss
    }

    /// What `Age` is to say; `nil` where the origin made or confirmed it for this very request.
    func age(of representation: Representation, for reader: Reader, wallClock: @autoclosure () -> Int64) -> Int64? {
        guard policy == .http else { return nil }
        let outcome = reader.outcome
        let isOld = outcome.isHit || outcome.isCollapsed || outcome.forward == .partial
        guard isOld || outcome.detail != nil || representation.info.fields.contains("Age") else { return nil }
        return freshness(of: representation).age(now: wallClock())
    }

    /// How a reader's request was handled, as far as that is known now.
    func outcome(of reader: Reader, _ representation: Representation?, wallClock: Int64) -> CacheStatus {
        var outcome = reader.outcome
        guard let representation else { return outcome }
        if isSharedHTTP { outcome.ttl = freshness(of: representation).timeLeft(now: wallClock) }
        if !representation.storage.isOff { outcome.isStored = !outcome.isHit }
        return outcome
    }

    // MARK: Answers that come

    /// Whether an answer may be shared: what it says of itself and of its request (RFC 9111 §3, §5.2.2.7).
    func mayShare(_ head: OriginResponseHead, to request: HTTPFields) -> Bool {
        guard isSharedHTTP else { return true }
        return StoringRule.refusal(status: head.status, fields: head.fields, request: request) == nil
    }

    /// Whether an answer forbids by its own word to be shared, whatever it answers; a cookie that comes with it is the asker's alone.
    func forbidsSharing(_ head: OriginResponseHead) -> Bool {
        var head = head
        head.fields.remove(["Set-Cookie"])
        return !mayShare(head, to: [:])
    }

    /// Whether an answer about what is shared already leaves it so.
    func mayShare(_ head: OriginResponseHead, to request: HTTPFields, _ verdict: ResponseJudge.Verdict) -> Bool {
        switch verdict {
        case .part, .whole, .changed: mayShare(head, to: request)
        // It confirms what is shared already, unless it takes the permission back, or has a cookie for the one who asked.
        case .notModified: !forbidsSharing(head) && !head.fields.contains("Set-Cookie")
        case .pastEnd, .refused, .busy, .invalid: true
        }
    }

    /// Whether an answer like the one that is stored, had it come to a request with these fields, would be for that request
    /// alone.
    func wouldBePrivate(_ stored: EntryInfo, to request: HTTPFields) -> Bool {
        guard request.contains("Cookie") || request.contains("Authorization") else { return false }
        return !mayShare(OriginResponseHead(status: stored.status, fields: stored.fields), to: request)
    }

    // MARK: Requests that are sent

    /// The reader whose fields a request for `wanting` is sent with. Where answers may depend on credentials it is the one that
    /// needs it most; else the newest caller's fields are sent, as tokens run out, unless the origin refused them.
    /// - Parameter isMedia: Whether media is known to come. A page is for the one that asked alone.
    func requester(
        for wanting: [ReaderID], of readers: ReaderTable, newest: Caller, isMedia: Bool = true
    ) -> ReaderID? {
        let isNewest = { (id: ReaderID) in readers[id]?.fields == newest.fields }
        guard policy == .immutable, !refusedFields.contains(newest.fields), isMedia || wanting.contains(where: isNewest)
        else {
            // One that does not wait is not told of a refusal: the others would be refused with it again and again.
            let wanting = wanting.compactMap { readers[$0] }
            let mayDo = wanting.filter { !refusedFields.contains($0.fields) }
            return (mayDo.first(where: \.isWaiting) ?? mayDo.first ?? wanting.first)?.id
        }
        return wanting.first(where: isNewest)
    }

    /// The fields of a caller that may be sent to a URL: what may be a credential stays with the origin it was given for.
    static func allowed(_ caller: Caller, at url: OriginURL) -> HTTPFields {
        guard !caller.url.hasOrigin(of: url) else { return caller.fields }
        return caller.fields.keeping(RedirectRule.impersonal)
    }

    /// Whether a refusal is told to a reader: it is for the readers the request was sent for, which are those with its fields.
    func concerns(_ reader: Reader, _ request: OriginRequestState) -> Bool {
        reader.fields == request.callerFields || request.requester == reader.id && policy == .http
    }

    /// Whether the origin's answer to a request counts for a reader. One that wants what the origin has now, as who reloads does, was
    /// there before it was sent (RFC 9111 §5.2.1.4): what was published in between would be missed.
    func counts(_ request: OriginRequestState, for reader: Reader) -> Bool {
        let isReload = reader.cacheControl.noCache || reader.cacheControl.maxAge == 0
        return !isReload || reader.id.number < request.id.number
    }

    /// Whether the origin refused these fields for that URL lately.
    func hasRefused(_ fields: HTTPFields, at url: OriginURL) -> Bool {
        refusedCallers.contains { $0.url == url && $0.fields == fields }
    }

    // MARK: Inputs

    /// The origin refused a request with these fields.
    mutating func refused(_ fields: HTTPFields) {
        if policy != .http { ResponseSelector.note(fields, in: &refusedFields, ResponseSelector.mostRefused) }
    }

    /// The origin refused a request for that URL, or is asked with it in place of one that it refused.
    mutating func refused(_ caller: Caller) {
        ResponseSelector.note(caller, in: &refusedCallers, ResponseSelector.mostRefusedCallers)
    }

    /// The origin answered a request for that URL.
    mutating func accepted(_ url: OriginURL) { refusedCallers.removeAll { $0.url == url } }

    /// The origin answered a reader with these fields for itself alone: opened again, it is not given the shared beginning.
    mutating func answeredAlone(_ fields: HTTPFields) {
        ResponseSelector.note(fields, in: &ownFields, ResponseSelector.mostOwn)
    }

    /// Remembers the newest few.
    private static func note<Value: Equatable>(_ value: Value, in values: inout [Value], _ most: Int) {
        if !values.contains(value) { values.append(value) }
        if values.count > most { values.removeFirst() }
    }
}
