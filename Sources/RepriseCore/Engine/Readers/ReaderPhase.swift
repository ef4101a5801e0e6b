/// Which representation a reader reads, waits to learn, or had when it ended.
///
///     unbound --bind--> reading(not announced) --announce--> reading(announced)
///        |  ^              ^   |  \
///        v  |              |   |   +-- unbind --> unbound
///     awaitingValidation --+   |
///     awaitingIndex -----------+
///     any but announced --redirect--> redirected            any --fail--> failed
///
/// Guarantees: `failed` and `redirected` are final; a reader that was told of its representation gets that one's bytes or none.
enum ReaderPhase {
    /// It has no representation: the next answer may give it one. May become any other.
    case unbound
    /// It waits for the origin's word on what is stored.
    case awaitingValidation
    /// Slots are being read to find out whether all it asks for is stored.
    case awaitingIndex
    /// - Parameter isAnnounced: Whether it was told of the representation.
    case reading(RepresentationID, isAnnounced: Bool)
    case redirected(Redirect)
    case failed(CacheError, RepresentationID?)

    var representation: RepresentationID? {
        switch self {
        case .reading(let id, _): id
        case .failed(_, let id): id
        case .unbound, .awaitingValidation, .awaitingIndex, .redirected: nil
        }
    }

    /// Whether there is none yet, and the reader goes on.
    var isUnbound: Bool {
        switch self {
        case .unbound, .awaitingValidation, .awaitingIndex: true
        case .reading, .redirected, .failed: false
        }
    }

    var awaitsValidation: Bool { if case .awaitingValidation = self { true } else { false } }
    var awaitsIndex: Bool { if case .awaitingIndex = self { true } else { false } }
    /// Whether a transfer is to bring it something.
    var isFetchable: Bool {
        switch self {
        case .unbound, .reading: true
        case .awaitingValidation, .awaitingIndex, .redirected, .failed: false
        }
    }

    var isAnnounced: Bool { if case .reading(_, isAnnounced: true) = self { true } else { false } }

    var ending: ReaderEnding? {
        switch self {
        case .failed(let error, _): .failed(error)
        case .redirected(let redirect): .redirected(redirect)
        case .unbound, .awaitingValidation, .awaitingIndex, .reading: nil
        }
    }

    var failure: CacheError? { if case .failed(let error, _) = self { error } else { nil } }

    mutating func announce() { if case .reading(let id, _) = self { self = .reading(id, isAnnounced: true) } }

    mutating func bind(to representation: RepresentationID) {
        if isOpen { self = .reading(representation, isAnnounced: false) }
    }

    mutating func unbind() { if isOpen { self = .unbound } }

    mutating func awaitValidation() { if isUnbound { self = .awaitingValidation } }

    mutating func awaitIndex() { if isUnbound { self = .awaitingIndex } }

    mutating func confirm() { if awaitsValidation { self = .unbound } }

    /// `false` where the reader has ended already.
    mutating func fail(_ error: CacheError) -> Bool {
        guard ending == nil else { return false }
        self = .failed(error, representation)
        return true
    }

    /// `false` where the reader has ended, or was told of its representation.
    mutating func redirect(_ redirect: Redirect) -> Bool {
        guard isOpen else { return false }
        self = .redirected(redirect)
        return true
    }

    /// Whether the representation may still be another.
    private var isOpen: Bool { !isAnnounced && ending == nil }
}

/// How a reader ended before its end.
enum ReaderEnding {
    case failed(CacheError)
    case redirected(Redirect)
}

/// Which entry a reader goes on with that may not have what this one has.
enum Redirect: Hashable, Sendable {
    /// One of its own, that shares nothing and stores nothing: the answer may not be shared, or stored bytes do not help it.
    case alone
    /// The same, where the next answer is told whatever it is: it has waited here.
    case aloneOnce
    /// The one of its variant (RFC 9111 §4.1).
    case variant(Variant)
}
