import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Whether a reader may be given what is there, and how its request was handled (freshness `.http`).
extension SessionState {
    /// Whether a reader may use a shared representation now. Otherwise it waits for the origin's word or for slots, has
    /// failed, or is to begin as if nothing were stored.
    mutating func admit(_ id: Int, to representation: Representation) -> Bool {
        guard let reader = readers[id], reader.failure == nil, belongs(id, to: representation.id) else { return false }
        if !reader.isConfirmed {
            let rule = reuse(of: representation, by: reader.fields)
            switch rule.verdict {
            case .use, .useStale: readers[id]?.outcome = CacheStatus()
            case .useWhileConfirming:
                readers[id]?.outcome = CacheStatus()
                confirmationFields = reader.fields
            case .confirm(let reason):
                readers[id]?.outcome = CacheStatus(forward: reason)
                readers[id]?.awaitsFreshness = true
                return false
            case .unsatisfiable:
                fail(id, .onlyIfCached)
                return false
            }
        }
        return mayBeRead(id, representation)
    }

    /// A part of a representation is completed only under a strong validator (RFC 9111 §3.4), and not at all for a
    /// request that wants only what is stored: then everything has to be there.
    private mutating func mayBeRead(_ id: Int, _ representation: Representation) -> Bool {
        guard let reader = readers[id] else { return false }
        readers[id]?.awaitsSlots = false
        // One that is superseded has no successor here: it is read as it is, or not at all.
        let isLoose =
            representation.isCommitted && !isInUse(representation.id)
            && !PartialContentRule.mayComplete(representation.info.fields)
        guard isLoose || reader.demands.onlyIfCached else { return true }
        switch holdsAll(of: reader, representation) {
        case true?: return true
        case nil:
            readers[id]?.awaitsSlots = true
            return false
        case false? where reader.demands.onlyIfCached: fail(id, .onlyIfCached)
        case false?:
            supersede(representation.id)
            readers[id]?.outcome = CacheStatus(forward: .partial)
        }
        return false
    }

    func isInUse(_ number: Int) -> Bool {
        readers.contains { $0.representation == number }
            || transfers.contains { $0.representation == number && $0.request?.isRevalidation != true }
    }

    /// Whether everything a reader asks for is there; `nil` while slots are read to find out.
    private mutating func holdsAll(of reader: Reader, _ representation: Representation) -> Bool? {
        guard let end = [reader.end, representation.info.length ?? .max].min(), end < .max else { return false }
        var position = reader.position
        while position < end {
            switch representation.generation?.availability(at: position) {
            case .verified(let until), .claimed(let until): position = until
            case .unloaded(let range)?:
                load(representation.id, representation.generation, range)
                return nil
            case .absent, nil:
                guard let until = buffers.heldEnd(representation.id, from: position) else { return false }
                position = until
            }
        }
        return true
    }

    private mutating func load(_ number: Int, _ generation: Generation?, _ range: ByteRange) {
        if let generation { load(number, generation, range) }
    }

    /// Slots have been read: readers that waited for them are looked at again.
    mutating func bindThoseWhoAwaitSlots() {
        for id in readers.ids where readers[id]?.awaitsSlots == true {
            readers[id]?.awaitsSlots = false
            bind(id)
        }
    }

    // MARK: Variants

    /// Whether a representation was chosen by other request fields than these (RFC 9111 §4.1).
    func isOtherVariant(_ representation: Representation, _ request: HTTPFields) -> Bool {
        guard environment.freshness == .http, !isPrivate, !representation.isPrivate else { return false }
        return Variant(answer: representation.info.fields, request: request)?.text != representation.info.variant
    }

    /// Whether a reader may be given the representation as far as its request fields go. One that may not is told to
    /// ask for its own variant.
    mutating func belongs(_ id: Int, to number: Int) -> Bool {
        guard let reader = readers[id], let representation = representations[number],
            isOtherVariant(representation, reader.fields)
        else { return true }
        readers[id]?.variant = Variant(answer: representation.info.fields, request: reader.fields)
        fail(id, readers[id]?.variant == nil ? .mustBePrivate : .otherVariant)
        return false
    }

    /// An answer came for a request whose fields choose another variant than the one that is there: nothing of it is
    /// used.
    mutating func keepFromVariant(_ id: Int) {
        let own = transfers[id]?.request?.requester.map { [$0] } ?? []
        let number = transfers[id]?.representation ?? newest
        finish(id)
        guard let representation = number.flatMap({ representations[$0] }) else { return }
        for id in own {
            guard let reader = readers[id], isOtherVariant(representation, reader.fields) else { continue }
            if reader.isBound {
                // What it is chosen by changed while it was read: two answers must not meet in one.
                fail(id, CacheError(.changed, "the origin answers this reader otherwise than others; open it again"))
            } else {
                _ = belongs(id, to: representation.id)
            }
        }
    }

    // MARK: What is told of it

    /// Why a request goes on to the origin where nothing is stored for it.
    var firstReason: CacheStatus.Forward {
        if isPrivate { return RequestCacheControl(fields).noStore ? .bypass : .miss }
        return isOfVariant ? .varyMiss : .uriMiss
    }

    /// Readers for which bytes come from the origin that were to be served from the store.
    mutating func noteForwarded(_ ids: [Int], isCollapsed: Bool) {
        for id in ids { noteFetching(id) }
        for id in ids where readers[id]?.outcome.isHit == true && readers[id]?.isBound == false {
            readers[id]?.outcome = CacheStatus(forward: .partial)
            readers[id]?.outcome.isCollapsed = isCollapsed
        }
    }

    /// A first answer came: whose request brought it, and who has it with them.
    mutating func noteAnswer(_ id: Int, _ head: OriginResponseHead) {
        let owner = transfers[id]?.request?.requester
        for reader in readers.ids where readers[reader]?.representation == nil {
            readers[reader]?.outcome.forwardStatus = head.status
            readers[reader]?.outcome.isCollapsed = reader != owner
        }
    }

    /// What was stored is confirmed or replaced for all who wait for that.
    mutating func noteConfirmed(status: Int) {
        let awaiting = readers.ids.filter { readers[$0]?.awaitsFreshness == true }
        for reader in awaiting {
            readers[reader]?.outcome.forwardStatus = status
            readers[reader]?.outcome.isCollapsed = reader != awaiting.first
        }
    }

    /// The origin cannot confirm what is stored: those whom it is allowed to are given it without a second try.
    mutating func standInAtOnce(status: Int?) {
        guard let number = offered, let representation = representations[number] else { return }
        for id in readers.ids where readers[id]?.awaitsFreshness == true {
            guard let fields = readers[id]?.fields, reuse(of: representation, by: fields).standsInAtOnce else {
                continue
            }
            if serveStale(id) { readers[id]?.outcome.forwardStatus = status }
        }
    }

    /// How a reader's request was handled, as far as that is known now.
    func outcome(of id: Int) -> CacheStatus? {
        guard let reader = readers[id] else { return nil }
        var outcome = reader.outcome
        guard let representation = reader.representation.flatMap({ representations[$0] }) else { return outcome }
        if environment.freshness == .http, !isPrivate {
            outcome.ttl = freshness(of: representation).timeLeft(now: wallClock)
        }
        if !representation.storage.isOff { outcome.isStored = !outcome.isHit }
        return outcome
    }

    /// What `Age` is to say; `nil` where the origin made or confirmed it for this very request.
    func age(of representation: Representation, for reader: Reader) -> Int64? {
        guard environment.freshness == .http, !isPrivate else { return nil }
        let isOld = reader.outcome.isHit || reader.outcome.isCollapsed || reader.outcome.forward == .partial
        guard isOld || reader.outcome.detail != nil || representation.info.fields.contains("Age") else { return nil }
        return freshness(of: representation).age(now: wallClock)
    }

    func freshness(of representation: Representation) -> Freshness {
        Freshness(fields: representation.info.fields, checked: representation.info.checked)
    }
}
