import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Which representation a reader is given, and whether the origin is asked about it first.
extension EntryStateMachine {
    /// Gives a reader the representation that is offered, has it wait for the origin's word on that, or sends it elsewhere.
    mutating func bind(_ reader: Reader) {
        guard reader.isUnbound else { return }
        guard let offered = representations.offered else {
            if reader.cacheControl.onlyIfCached { fail(reader, .onlyIfCached) }
            return
        }
        if admit(reader, to: offered) { give(reader, offered.id) }
    }

    /// Whether a reader may use a representation now. Otherwise it waits for the origin's word or for slots, has ended, or is to
    /// begin as if nothing were stored.
    mutating func admit(_ reader: Reader, to representation: Representation) -> Bool {
        switch selector.select(representation, for: reader, wallClock: wallClock) {
        case .use(let isConfirmedMeanwhile):
            if !reader.isConfirmed { reader.handle(as: CacheStatus()) }
            if isConfirmedMeanwhile { revalidation.want(for: reader.caller, now: now) }
        case .validate(let reason):
            reader.handle(as: CacheStatus(forward: reason))
            reader.awaitValidation()
            return false
        case .onlyIfCachedMiss:
            fail(reader, .onlyIfCached)
            return false
        case .redirect(let redirect):
            self.redirect(reader, redirect)
            return false
        }
        return !selector.isSharedHTTP || mayBeRead(reader, representation)
    }

    /// A part of a representation is completed only under a strong validator (RFC 9111 §3.4), and not at all for a request that
    /// wants only what is stored: then everything has to be there.
    private mutating func mayBeRead(_ reader: Reader, _ representation: Representation) -> Bool {
        // One that is superseded has no successor here: it is read as it is, or not at all. What is no resource cannot be
        // continued, so all of it is there or on its way.
        let isLoose =
            representation.isResource
            ? representation.isCommitted && !isInUse(representation.id)
                && !PartialContentRule.mayComplete(representation.info.fields)
            : !isComing(representation)
        // What would come for its fields would be its own: it never completes what is shared (RFC 9111 §3, §3.5). What it will
        // be answered is not known yet, so all of it has to be there.
        let isOwn = representation.isResource && selector.wouldBePrivate(representation.info, to: reader.fields)
        guard isLoose || isOwn || reader.cacheControl.onlyIfCached else { return true }
        guard !representation.storage.isSilent else {
            if reader.cacheControl.onlyIfCached { fail(reader, .onlyIfCached) } else { passBy(reader) }
            return false
        }
        switch holdsAll(of: reader, representation, isWhole: isOwn && !reader.cacheControl.onlyIfCached) {
        case true?: return true
        case nil: reader.awaitIndex()
        case false? where reader.cacheControl.onlyIfCached: fail(reader, .onlyIfCached)
        case false? where isOwn: redirect(reader, .alone)
        case false?:
            supersede(representation, isOutdated: false)
            reader.handle(as: CacheStatus(forward: .partial))
            reader.unbind()
        }
        return false
    }

    /// Whether there is an answer to give to readers, fresh or stale.
    var isKnown: Bool { representations.offered != nil }

    /// Why a request with those fields goes on to the origin.
    func forward(of fields: HTTPFields) -> CacheStatus.Forward {
        guard let offered = representations.offered else { return selector.reason(fields) }
        return selector.reuse(of: offered, by: fields, wallClock: wallClock).forward
    }

    /// Whether a request that is under way brings it.
    func isComing(_ representation: Representation, besides request: RequestID? = nil) -> Bool {
        transfers.contains {
            $0.representation == representation.id && $0.request.map { $0.id != request } ?? false
        }
    }

    func isInUse(_ id: RepresentationID) -> Bool {
        readers.reads(id) || transfers.contains { $0.representation == id }
    }

    /// Whether everything a reader asks for is stored or in memory; `nil` while slots are read to find out.
    private mutating func holdsAll(
        of reader: Reader, _ representation: Representation, isWhole: Bool = false
    ) -> Bool? {
        // What is no resource has no ranges: all of it is wanted.
        let (start, wanted) = representation.isResource && !isWhole ? (reader.position, reader.end) : (0, .max)
        guard let end = [wanted, representation.info.length ?? .max].min(), end < .max else { return false }
        var position = start
        while position < end {
            switch representation.generation?.availability(at: position) {
            case .verified(let until), .claimed(let until): position = until
            case .unloaded(let range)?:
                if let generation = representation.generation { load(representation.id, generation, range) }
                return nil
            case .absent, nil:
                guard let until = buffers.heldEnd(representation.id, from: position) else { return false }
                position = until
            }
        }
        return true
    }

    /// Slots have been read: readers that waited for them are looked at again.
    mutating func bindThoseWhoAwaitIndex() {
        for reader in readers where reader.awaitsIndex {
            reader.unbind()
            bind(reader)
        }
    }

    /// Whether a reader may be given a representation as far as its request fields go. One that may not is sent to the entry of
    /// its own variant.
    mutating func belongs(_ reader: Reader, to representation: Representation) -> Bool {
        let isFor = representation.isFor(reader.id)
        guard let redirect = isFor ? selector.redirect(for: reader.fields, from: representation) : .alone else {
            return true
        }
        self.redirect(reader, redirect)
        return false
    }

    /// Gives readers without a representation the one whose answer came: the reader that asked for it as it is, the others where
    /// it may be used without asking the origin for them.
    mutating func bindUnbound(to representation: Representation, for request: OriginRequestState?) {
        for reader in readers where reader.isUnbound {
            guard belongs(reader, to: representation) else { continue }
            if selector.isSharedHTTP, reader.id != request?.requester {
                let outcome = reader.outcome
                // What is not stored cannot be confirmed later.
                let reuse = selector.reuse(of: representation, by: reader.fields, wallClock: wallClock)
                if representation.isTransient, reuse.asksOrigin { continue }
                guard admit(reader, to: representation) else { continue }
                reader.handle(as: outcome)
            }
            // What is never stored may be one user's, and nothing says whether it is.
            if !selector.isSharedHTTP, representation.isTransient, reader.fields != request?.callerFields { continue }
            give(reader, representation.id)
        }
    }

    // MARK: What is told of it

    /// Readers for which bytes come from the origin that were to be served from the store.
    mutating func noteForwarded(_ ids: [ReaderID], isCollapsed: Bool) {
        for reader in ids.compactMap({ readers[$0] }) {
            noteFetching(reader)
            guard reader.outcome.isHit, !reader.isAnnounced else { continue }
            reader.handle(as: CacheStatus(forward: .partial))
            reader.note { $0.isCollapsed = isCollapsed }
        }
    }

    /// A first answer came: whose request brought it, and who has it with them.
    mutating func noteAnswer(_ request: OriginRequestState?, status: Int) {
        for reader in readers where reader.representation == nil {
            reader.note {
                $0.forwardStatus = status
                $0.isCollapsed = reader.id != request?.requester
            }
        }
    }

    /// How a reader's request was handled, as far as that is known now.
    func outcome(of id: ReaderID) -> CacheStatus? {
        readers[id].map { selector.outcome(of: $0, representations[$0.representation], wallClock: wallClock) }
    }
}
