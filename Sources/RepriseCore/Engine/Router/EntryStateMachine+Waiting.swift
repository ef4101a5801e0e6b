import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Readers that wait: what they are told, and how long they wait.
extension EntryStateMachine {
    // MARK: What readers are told

    /// Has a reader ask again.
    mutating func wake(_ reader: Reader) {
        if let waker = reader.takeWaker(now: now) { leave(.wake(waker)) }
    }

    /// Has readers ask again that wait for something that may be there.
    mutating func wakeWaiting() { for reader in readers where reader.isWaiting { wake(reader) } }

    mutating func wakeReaders(of id: RepresentationID, in range: ByteRange) {
        for reader in readers where reader.isCalled && reader.representation == id && range.contains(reader.position) {
            wake(reader)
        }
    }

    mutating func fail(_ reader: Reader, _ error: CacheError) {
        if case .originRefused = error.code, isGivenAnswers(reader) {
            guard isPrivate else { return redirect(reader, .aloneOnce) }
            // An origin that asked to be left alone is not asked for that.
            if error.retryAfter == nil, reader.takeNext(now: now) { return backoff.reset() }
        }
        guard reader.fail(error) else { return }
        wake(reader)
        tellWatchers()
    }

    /// Whether a reader that would be told of a status gets the answer itself: other readers were given it, or it came while
    /// another was hoped for. It asks alone, and in an entry of its own it takes the next one. A reader that wants only what is
    /// stored asks for none; a fresh URL was asked for already.
    private func isGivenAnswers(_ reader: Reader) -> Bool {
        reader.awaitsAnyAnswer && !reader.cacheControl.onlyIfCached && environment.freshURLs == nil
    }

    /// Sends a reader to another entry; one that was told of a representation here ends, as two answers must not meet in one.
    mutating func redirect(_ reader: Reader, _ redirect: Redirect) {
        guard reader.redirect(redirect) else {
            return fail(
                reader, CacheError(.changed, "the origin answers this reader otherwise than others; open it again"))
        }
        wake(reader)
        tellWatchers()
    }

    /// Has a reader go on with a representation, whatever word on another it waited for.
    mutating func give(_ reader: Reader, _ id: RepresentationID) {
        if let representation = representations[id], !representation.isResource {
            guard reader.takesAnyAnswer else { return fail(reader, CacheError(representation)) }
            // It has no ranges (RFC 9110 §14.2).
            reader.readAll(now: now)
        } else {
            reader.readOwnRange(now: now)
        }
        reader.bind(to: id)
        wake(reader)
    }

    // MARK: Time

    /// Whether a reader's next byte has to come from the origin.
    func isStarving(_ reader: Reader) -> Bool {
        guard let representation = representations[reader.representation] else { return true }
        switch representation.generation?.availability(at: reader.position) {
        // What is stored only has to be read and verified; the origin's failures are not its own.
        case .verified, .claimed, .unloaded: return false
        case .absent, nil: break
        }
        return buffers.heldEnd(representation.id, from: reader.position) == nil
    }

    /// Whether an answer that has begun brings a reader's next byte.
    private func isOnItsWay(_ reader: Reader) -> Bool {
        transfers.contains { transfer in
            guard transfer.representation == reader.representation, transfer.readers.contains(reader.id),
                let request = transfer.request, request.hasHead, head(of: transfer) <= reader.position
            else { return false }
            return request.end.map { reader.position < $0 } ?? true
        }
    }

    /// When a reader gives up on an origin that fails; `nil` while the origin's answer to that reader comes.
    func givesUpAt(_ reader: Reader) -> Int64? {
        if let answer = representations[reader.representation], answer.isHandedOn, isComing(answer) { return nil }
        let timeLimit = reader.hasBytes || reader.isAnnounced ? tuning.retryDeadline : tuning.openDeadline
        return backoff.failsAt(waitsSince: reader.waitsSince, timeLimit: timeLimit)
    }

    /// Readers that have waited past the deadline get the last error, or what is stored where that is allowed.
    mutating func failExpiredWaiters() {
        failWithoutSlot()
        if let refused = renewal.expire(tuning.retryDeadline, now: now) {
            failRefused(refused, "no fresh URL came in time")
        }
        guard let error = backoff.error else { return }
        for reader in readers where reader.isAwaiting {
            guard let due = givesUpAt(reader), due <= now, isStarving(reader) else { continue }
            if reader.awaitsValidation, error.meansAbsence, serveStale(reader) { continue }
            if reader.representation == nil, serveSuperseded(reader) { continue }
            fail(reader, error)
        }
    }

    /// Readers whose transfer or confirmation never got a connection slot get an error too.
    private mutating func failWithoutSlot() {
        for reader in readers where reader.isAwaiting {
            guard let due = failsWithoutSlotAt(reader), due <= now, isStarving(reader) else { continue }
            let words =
                "all \(tuning.requestsPerHost) connections to \(origin().location.host) are in use; try again"
            fail(reader, CacheError(.originTimedOut, words))
        }
    }

    /// When a reader has waited too long for a connection slot; `nil` where it waits for none.
    func failsWithoutSlotAt(_ reader: Reader) -> Int64? {
        let since =
            reader.awaitsValidation
            ? revalidation.awaitsSlotSince
            : transfers.lazy.filter { $0.readers.contains(reader.id) }.compactMap(\.awaitsSlotSince).min()
        return since.map { max($0, reader.waitsSince).adding(tuning.retryDeadline).adding(1) }
    }

    /// Lets a reader have what is stored of a replaced representation where the origin cannot give the new one.
    private mutating func serveSuperseded(_ reader: Reader) -> Bool {
        guard let superseded else { return false }
        reader.restartWait(now: now)
        give(reader, superseded.id)
        return true
    }

    /// What a reader without a representation makes do with where the origin fails.
    var superseded: Representation? {
        environment.freshness == .immutable ? representations[representations.current] : nil
    }

    /// Readers of a superseded representation that were told nothing of it yet go on with the newest.
    mutating func moveReadersOfSuperseded() {
        // First what costs nothing: this runs with every input, and seldom has work.
        guard representations.contains(where: { $0.isSuperseded }), let newest = representations.newest else { return }
        for reader in readers where !reader.hasEnded && !reader.isAnnounced {
            guard let representation = representations[reader.representation], representation.isSuperseded,
                belongs(reader, to: newest)
            else { continue }
            give(reader, newest.id)
        }
    }

    /// The others end where nothing brings their next byte. Behind the planning and the release of memory, which may have ended what
    /// brought it, or dropped it.
    mutating func endReadersOfSuperseded() {
        for representation in representations where representation.isSuperseded {
            let hasSuccessor = representations.newest != nil
            for reader in readers.reading(representation.id) where reader.isAnnounced || !hasSuccessor {
                guard reader.isWaiting, isStarving(reader), !isOnItsWay(reader) else { continue }
                fail(
                    reader, CacheError(.changed, "the resource changed at the origin while it was read; open it again"))
            }
            let id = representation.id
            guard !representation.isCommitted, !representation.awaitsFiles, id != representations.current,
                !readers.reads(id),
                !transfers.contains(where: { $0.representation == id }), !buffers.has(id),
                revalidation.inFlight?.representation != id
            else { continue }
            abandonFiles(of: representation)
            representations.remove(id)
        }
    }

    /// Without ranges and without a store a transfer cannot go back: readers that come later fetch for themselves, readers that
    /// fell behind get an error.
    mutating func failReadersLeftBehind() {
        for transfer in transfers where transfer.isSequential {
            guard let representation = representations[transfer.representation], representation.storage.isOff else {
                continue
            }
            let (reading, held) = (readers.reading(representation.id), transfer.buffer.flatMap { buffers[$0]?.range })
            let base = held?.lowerBound ?? head(of: transfer)
            // A transfer that holds nothing, and that no other reader needs, gives way to another from 0.
            func needs(_ reader: Reader) -> Bool {
                !reader.hasEnded && reader.position >= base && !isLeftBehind(reader)
            }
            guard held != nil || reading.contains(where: needs) else { continue }
            for reader in reading where reader.isWaiting && reader.position < base && isStarving(reader) {
                // A disk that does not answer may yet.
                if representation.storage.isSilent, now < reader.waitsSince.adding(tuning.retryDeadline) { continue }
                if !reader.isAnnounced, !isPrivate {
                    redirect(reader, .alone)
                } else {
                    fail(
                        reader,
                        CacheError(
                            .store, "the reader fell behind; the origin serves no ranges and nothing can be stored"))
                }
            }
        }
    }

    /// In a transfer that cannot be stored, a reader that stands still does not hold up the others.
    func isLeftBehind(_ reader: Reader) -> Bool { !reader.isCalled && now - reader.lastStep > tuning.detachAfter }
}
