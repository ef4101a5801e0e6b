import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// The origin will not, or cannot now.
extension SessionState {
    mutating func pastEnd(_ id: Int, _ held: Representation?, _ length: Int64?) {
        let starved = transfers[id]?.readers ?? []
        let asked = transfers[id]?.request?.asked
        if asked?.lowerBound == 0, length ?? 0 == 0 {
            // Nothing satisfies a range of an empty resource (RFC 9110 §14.1.2): asked for whole, it is answered.
            endRequest(id)
            transfers[id]?.isSequential = true
            return ask(id)
        }
        if let held, let length, holds(held, from: length) {
            return lengthChanged(id, held, .length(held.info.length ?? asked?.upperBound ?? length, length))
        }
        finish(id)
        if let held, let length, held.info.length == nil {
            learnLength(length, of: held.id)
            return
        }
        if let held, held.info.length == nil, let head = asked?.lowerBound, head > 0 {
            representations[held.id]?.softEnd = head
            wakeWaiting()
            return
        }
        let error = CacheError(
            .rangeNotSatisfiable(length: length),
            "the resource ends before the wanted range\(length.map { " (\($0) bytes)" } ?? "")")
        for reader in starved { fail(reader, error) }
    }

    /// Whether a byte at or after an offset is stored or in memory.
    private func holds(_ representation: Representation, from offset: Int64) -> Bool {
        buffers.of(representation.id).contains { $0.range.upperBound > offset && !$0.range.isEmpty }
            || representation.generation?.askClaimed({ $0.upperBound }) ?? 0 > offset
    }

    mutating func refused(_ id: Int, _ status: Int, _ head: OriginResponseHead) {
        guard let transfer = transfers[id], let request = transfer.request else { return }
        finish(id)
        let error = CacheError(.originRefused(status: status), "the origin answered \(status)")
        effects.append(.event(.originError(key: key.text, error)))
        if asksAnew(after: status, of: request.url) { return }
        let waiting = readers.ids.filter { readers[$0]?.representation == nil }
        refuse(Set(transfer.readers + waiting).sorted(), request, error, status: status)
        // A reader that has bytes still is told once it waits; the origin is not asked again and again until then.
        let isGoingOn = transfer.readers.contains { id in
            readers[id].map { $0.failure == nil && $0.fields == request.callerFields } ?? false
        }
        if isGoingOn { note(error, at: self.head(of: transfer)) }
    }

    /// The origin refused a request: that is told to the readers it was sent for, which are those with its fields. The others
    /// go on, with requests of their own.
    mutating func refuse(_ ids: [Int], _ request: Transfer.Request, _ error: CacheError, status: Int) {
        for id in ids {
            guard let reader = readers[id], reader.isWaiting else { continue }
            guard reader.fields == request.callerFields || request.requester == id && environment.freshness == .http
            else { continue }
            readers[id]?.outcome.forwardStatus = status
            fail(id, error)
        }
        guard environment.freshness != .http, !refusedFields.contains(request.callerFields) else { return }
        refusedFields.append(request.callerFields)
        if refusedFields.count > SessionState.refusedFieldsLimit { refusedFields.removeFirst() }
    }

    /// An answer that must not be used; tried again, as the next one may be better.
    mutating func reject(_ id: Int, _ mismatch: Mismatch) {
        let offset = transfers[id].map { head(of: $0) }
        finish(id)
        effects.append(.event(.mismatch(key: key.text, mismatch)))
        note(.originInvalid, "the origin's answer cannot be used: \(mismatch)", at: offset)
    }

    mutating func note(_ code: CacheError.Code, _ message: String, at offset: Int64? = nil) {
        note(CacheError(code, message), at: offset)
    }

    /// Something went wrong at the origin, at the byte `offset`: when to try again.
    mutating func note(_ error: CacheError, at offset: Int64? = nil) {
        let attempts = (trouble?.attempts ?? 0) + 1
        let backoff = min(tuning.firstRetry << Int64(min(attempts - 1, 10)), tuning.longestRetry)
        let spread = Int64(Double(backoff) * 0.25 * environment.queues.randomFraction())
        let wait = max(backoff + spread, holdOff(error.retryAfter ?? 0))
        trouble = Trouble(
            since: trouble?.since ?? now, attempts: attempts, notBefore: now + wait, error: error, offset: offset)
        effects.append(.event(.originError(key: key.text, error)))
        lookAgain(at: now + min(wait, tuning.longestRetry))
    }

    /// How long a host is left alone that asked for so many seconds: the field may hold any number, a day is the most.
    func holdOff(_ retryAfter: Int64) -> Int64 { min(max(0, retryAfter), 86_400) * TransferTuning.second }

    /// The origin asked to be left alone: a server that has too many requests means all of them (RFC 6585 §4), any other
    /// status this resource. The next request waits, in any session.
    mutating func noteHoldOff(_ request: Transfer.Request, _ status: Int, _ error: CacheError) {
        guard let retryAfter = error.retryAfter else { return }
        let scope: HostBook.HoldOff.Scope = status == 429 ? .host : .resource(key)
        effects.append(.holdOff(request.origin, scope, until: now + holdOff(retryAfter), error))
    }

    /// Whether the origin may be asked now: not while a failure is waited out, the origin asked to wait, or a fresh URL is
    /// awaited.
    mutating func mayAsk() -> Bool {
        guard refreshing == nil else { return false }
        if let trouble, now < trouble.notBefore { return false }
        guard let holdOff = environment.hosts.holdOff(of: url.origin, for: key, now: now) else { return true }
        trouble = Trouble(since: now, attempts: 1, notBefore: holdOff.until, error: holdOff.error)
        lookAgain(at: now)
        return false
    }

    /// A request came to nothing, or ended too soon: retried from the first byte that is missing.
    mutating func requestFailed(_ id: Int, _ failure: OriginFailure) {
        guard let transfer = transfers[id], let request = transfer.request else { return }
        let isRevalidation = request.isRevalidation
        let offset = head(of: transfer)
        finish(id)
        let error = CacheError(failure)
        note(error.code, error.message, at: isRevalidation ? nil : offset)
        // To ask again, or to make do with what is stale, would not make it right.
        let isFinal = failure.kind == .untrusted || failure.kind == .refused
        if isRevalidation, !isFinal { standInAtOnce(status: nil) }
        if isFinal {
            for reader in readers.ids where readers[reader]?.isWaiting == true {
                fail(reader, error)
            }
        }
    }
}

extension CacheError {
    /// A request that came to nothing, as the cache says it.
    init(_ failure: OriginFailure) {
        let code: Code =
            switch failure.kind {
            case .timedOut: .originTimedOut
            case .malformed: .originInvalid
            case .refused: .originForbidden
            case .unreachable, .interrupted, .untrusted: .originUnreachable
            }
        self.init(code, failure.message)
    }

    /// No resource is that long.
    static let beyondAnyResource = CacheError(
        .rangeNotSatisfiable(length: nil), "no resource has \(ResponseJudge.longestResource) bytes or more")
    /// The answer may not be shared: the reader has to ask for itself.
    static let mustBePrivate = CacheError(.closed, "the answer may not be shared")
    /// What is there was chosen by other request fields: the reader has to ask for its own variant.
    static let otherVariant = CacheError(.closed, "the answer was chosen by other request fields")
    /// The request wants only what is stored and may be used (RFC 9111 §5.2.1.7).
    static let onlyIfCached = CacheError(
        .originRefused(status: 504), "only what is stored was asked for, and not all of it is, or it is stale")
}
