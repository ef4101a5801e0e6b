import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Time: what is due when, and what is done then. One timer runs, for the earliest deadline; each deadline is derived from the
/// machine that owns it.
extension EntryStateMachine {
    /// Sets the timer for the earliest deadline to come. What is due by now was done with the plan, or has a timer that was set
    /// when it was still to come.
    mutating func setTimer() {
        if deferred.isSuspended || lifecycle.isGone { return }
        var earliest = EarliestDeadline(now: now)
        earliest.add(syncing.due)
        if isIdle { earliest.add(lifecycle.idleSince.adding(tuning.idleClose)) }
        addDiskDeadlines(&earliest)
        if !isAtRest {
            addStorageDeadlines(&earliest)
            addOriginDeadlines(&earliest)
        }
        addReaderDeadlines(&earliest)
        if let time = earliest.time, timer.set(for: time, now: now) { leave(.timer(at: time)) }
    }

    /// Does what is due by now; what follows from it is planned after.
    mutating func doWhatIsDue() {
        if deferred.isSuspended { return }
        failLateRequests()
        failHungCalls()
        retryStoring()
        syncIfDue()
    }

    /// Closes an entry that was idle for long enough.
    mutating func closeIfIdleForLong() {
        if isIdle, now >= lifecycle.idleSince.adding(tuning.idleClose), !deferred.isSuspended { close() }
    }

    /// Requests whose answer, or whose next chunk, is too late.
    private mutating func failLateRequests() {
        func text(_ nanoseconds: Int64) -> String { "\(nanoseconds / TransferTuning.second) s" }
        func noHead(_ timeout: Int64) -> OriginFailure {
            OriginFailure(.timedOut, "the origin did not answer within \(text(timeout))")
        }
        if let (due, timeout) = headDue(of: revalidation.inFlight?.request, revalidation.tried), due <= now {
            confirmationFailed(noHead(timeout))
        }
        for transfer in transfers {
            if let (due, timeout) = headDue(of: transfer.request, transfer.tried), due <= now {
                requestFailed(transfer, noHead(timeout))
            } else if let due = transfer.stalledAt(tuning.stallTimeout), due <= now {
                let words = "the origin sent nothing for \(text(tuning.stallTimeout))"
                requestFailed(transfer, OriginFailure(.timedOut, words))
            }
        }
    }

    /// When a request's head is too late, and how long it may take; `nil` where it has come.
    private func headDue(of request: OriginRequestState?, _ tried: [Int]) -> (due: Int64, timeout: Int64)? {
        guard let request, !request.hasHead else { return nil }
        let timeout = headTimeout(of: request, besides: tried)
        return request.headDue(timeout).map { ($0, timeout) }
    }

    private func addStorageDeadlines(_ earliest: inout EarliestDeadline) {
        for representation in representations {
            let storage = representation.storage
            earliest.add(storage.waitsForSpaceSince?.adding(tuning.spaceTimeout))
            if isFetched(representation.id) { earliest.add(storage.retryAt) }
        }
    }

    private func addOriginDeadlines(_ earliest: inout EarliestDeadline) {
        earliest.add(headDue(of: revalidation.inFlight?.request, revalidation.tried)?.due)
        guard !transfers.isEmpty else { return }
        for transfer in transfers {
            earliest.add(headDue(of: transfer.request, transfer.tried)?.due)
            earliest.add(transfer.stalledAt(tuning.stallTimeout))
            let deadlines = deadlines(of: representations[transfer.representation])
            earliest.add(deadlines.firstChange(of: waits(of: transfer), after: now))
        }
    }

    private mutating func addReaderDeadlines(_ earliest: inout EarliestDeadline) {
        guard !readers.isEmpty else { return }
        earliest.add(renewal.failsAt(tuning.retryDeadline))
        for reader in readers where !reader.hasEnded {
            if !reader.isCalled, let id = reader.representation, buffers.passesThrough(id) {
                earliest.add(reader.lastStep.adding(tuning.detachAfter).adding(1))
            }
            guard reader.isWaiting else { continue }
            if representations[reader.representation]?.storage.isSilent == true {
                earliest.add(reader.waitsSince.adding(tuning.retryDeadline))
            }
            earliest.add(backoff.pausedUntil(now))
            earliest.add(restarts.pausedUntil(now))
            earliest.add(givesUpAt(reader))
            earliest.add(failsWithoutSlotAt(reader))
        }
    }
}
