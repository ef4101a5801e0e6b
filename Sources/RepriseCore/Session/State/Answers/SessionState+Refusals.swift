import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// The origin will not, or cannot now.
extension SessionState {
    mutating func pastEnd(_ id: Int, _ held: Representation?, _ length: Int64?) {
        let starved = transfers[id]?.readers ?? []
        let asked = transfers[id]?.request?.asked
        endRequest(id)
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

    mutating func refused(_ id: Int, _ status: Int, _ head: OriginResponseHead) {
        let starved = transfers[id]?.readers ?? []
        let sent = transfers[id]?.request?.url
        endRequest(id)
        finish(id)
        let error = CacheError(.originRefused(status: status), "the origin answered \(status)")
        effects.append(.event(.originError(key: key.text, error)))
        if let sent, asksAnew(after: status, of: sent) { return }
        let waiting = readers.keys.sorted().filter { readers[$0]?.representation == nil }
        for reader in Set(starved + waiting).sorted() where readers[reader]?.isWaiting == true {
            readers[reader]?.outcome.forwardStatus = status
            fail(reader, error)
        }
    }

    /// An answer that must not be used; tried again, as the next one may be better.
    mutating func reject(_ id: Int, _ mismatch: Mismatch) {
        let offset = transfers[id]?.window.head
        endRequest(id)
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
        // The field may hold any number; nobody waits longer than a day for it.
        let wait = max(backoff + spread, min(error.retryAfter ?? 0, 86_400) * TransferTuning.second)
        trouble = Trouble(
            since: trouble?.since ?? now, attempts: attempts, notBefore: now + wait, error: error, offset: offset)
        effects.append(.event(.originError(key: key.text, error)))
        lookAgain(at: now + min(wait, tuning.longestRetry))
    }

    /// A request came to nothing, or ended too soon: retried from the first byte that is missing.
    mutating func requestFailed(_ id: Int, _ failure: OriginFailure) {
        guard let transfer = transfers[id], let request = transfer.request else { return }
        let isRevalidation = request.isRevalidation
        endRequest(id)
        if isRevalidation { transfers[id] = nil } else { finish(id) }
        let error = CacheError(failure)
        note(error.code, error.message, at: isRevalidation ? nil : transfer.window.head)
        // To ask again, or to make do with what is stale, would not make it right.
        let isFinal = failure.kind == .untrusted || failure.kind == .refused
        if isRevalidation, !isFinal { standInAtOnce(status: nil) }
        if isFinal {
            for reader in readers.keys.sorted() where readers[reader]?.isWaiting == true {
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

    /// The answer may not be shared: the reader has to ask for itself.
    static let mustBePrivate = CacheError(.closed, "the answer may not be shared")
    /// What is there was chosen by other request fields: the reader has to ask for its own variant.
    static let otherVariant = CacheError(.closed, "the answer was chosen by other request fields")
    /// The request wants only what is stored and may be used (RFC 9111 §5.2.1.7).
    static let onlyIfCached = CacheError(
        .originRefused(status: 504), "only what is stored was asked for, and not all of it is, or it is stale")
}
