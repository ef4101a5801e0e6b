import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// How one transfer makes sure that the bytes it brings belong to the representation it fills.
///
///     unconfirmed --stored bytes needed--> reading --read--> known
///         |  ^                                 \__ unreadable  |  \__ they are elsewhere
///         |  |                                                 v                v
///         |  +-- the answer ended before the joint -------- comparing      withholding --the answer ended--> withheld
///         |                                                    | same                                     asked |  ^ too short
///         |                                                    v                                                v  |
///         |                                                confirmed            unconfirmed <----- same ----- checking
///         |
///         +-- a validator guards it, or there is nothing to protect: sent as it is
///
/// Where bytes differ the representation has changed. Bytes that adjoin are asked for again with the wanted ones, in one answer.
/// Where only bytes elsewhere are held, the wanted ones come first and are withheld until those elsewhere, asked for after them,
/// have shown that the object had not been replaced by then; a check before the request would say nothing of its answer.
///
/// Guarantee: where an overlap of bytes is the only guard, no byte behind the joint is accepted before it was compared, and
/// an overlap that cannot be had is a refusal. Offsets are bytes.
struct RangeContinuation {
    private enum State {
        case unconfirmed
        case reading(ByteRange)
        case unreadable(ByteRange)
        case known(Overlap)
        case comparing(Overlap)
        /// Those bytes were the same.
        case confirmed(Overlap)
        /// Not even one byte more than the overlap comes with an answer: it has to be asked for alone.
        case apart(Overlap)
        /// The wanted bytes are coming.
        case withholding(Withheld)
        /// They came: the overlap has to be asked for.
        case withheld(Withheld)
        /// It is on its way.
        case checking(Withheld)
    }

    /// So many bytes are never the same by accident, where they are media. Fewer are compared only where they are all there is.
    private static let leastOverlap: Int64 = 64

    /// An overlap with answers that are too short for a longer one still has so many bytes. (One byte of another version is the
    /// same by chance in one of 256 files.)
    static let leastShown: Int64 = 16

    /// Whether so many bytes that adjoin are enough, where an overlap has at most `limit`.
    static func suffices(_ count: Int64, limit: Int64) -> Bool { count >= min(limit, leastOverlap) }

    private var state = State.unconfirmed
    /// What of their validators has differed between what was withheld and its check. Where every answer has its own, it shows
    /// nothing.
    private var differing: Set<Validator.Part> = []
    private(set) var trial: Trial?
    private var limit: Int64
    /// It is never less than this.
    private let least: Int64
    private let withheldLimit: Int64

    /// - Parameters:
    ///   - limit: Most bytes of an overlap.
    ///   - withheldLimit: Most bytes that are asked for before the check they are withheld for.
    init(limit: Int64, withheldLimit: Int64) {
        self.limit = limit
        least = min(limit, RangeContinuation.leastShown)
        self.withheldLimit = withheldLimit
    }

    /// Whether stored bytes are being read.
    var isReading: Bool { if case .reading = state { true } else { false } }
    /// Whether bytes have shown, or will before any other is taken, that the answers belong to the representation.
    var isConfirmed: Bool {
        switch state {
        case .comparing, .confirmed, .withholding, .withheld, .checking: true
        case .unconfirmed, .reading, .unreadable, .known, .apart: false
        }
    }

    /// Whether bytes have still to be the same before what the answer under way says is believed.
    var isComparing: Bool {
        switch state {
        case .comparing, .withholding, .withheld, .checking: true
        case .unconfirmed, .reading, .unreadable, .known, .apart, .confirmed: false
        }
    }

    /// Whether its next request has to go to the origin that the last one went to: what another origin has shows nothing of bytes
    /// that this one sent, nor why its validators differ.
    var isBoundToOrigin: Bool {
        if trial != nil { return true }
        switch state {
        case .withheld, .checking: return true
        // Until something has come it may be another's.
        case .withholding(let withheld): return !withheld.bytes.isEmpty
        case .unconfirmed, .reading, .unreadable, .known, .comparing, .confirmed, .apart: return false
        }
    }

    /// The next request for `wanted`; without ranges (`isSequential`) it begins at 0.
    mutating func next(_ wanted: ByteRange, isSequential: Bool, _ known: Known) -> Step {
        // Where there is nothing to be mixed with, a condition could only keep the bytes away.
        guard !known.isBlank else {
            state = .unconfirmed
            return .send(Request(range: isSequential ? nil : wanted, ifRange: nil, isCheck: false))
        }
        guard let guarding = known.guarding else { return .giveUp }
        let whole = Request(
            range: isSequential ? nil : wanted, ifRange: isSequential ? nil : guarding.ifRange, isCheck: false)
        guard guarding.comparesOverlap else {
            state = .unconfirmed
            return .send(whole)
        }
        switch state {
        case .reading: return .wait
        // One that is to be compared already was not sent yet: there was no connection slot.
        case .known(let overlap), .comparing(let overlap): return compare(overlap, whole, wanted, isSequential)
        case .apart(let overlap) where !isSequential: return withhold(overlap, whole, wanted)
        case .withholding(let withheld) where !isSequential: return withhold(withheld.overlap, whole, wanted)
        case .withheld(let withheld) where !isSequential, .checking(let withheld) where !isSequential:
            state = .checking(withheld)
            return .send(Request(range: withheld.overlap.range, ifRange: nil, isCheck: true))
        case .unconfirmed, .unreadable, .confirmed, .apart, .withholding, .withheld, .checking: break
        }
        let held = known.held(limit)
        if let held, RangeContinuation.suffices(held.range.count, limit: limit) {
            return compare(held, whole, wanted, isSequential)
        }
        // The more bytes, the more they show: few that adjoin are better replaced by more elsewhere.
        guard let stored = known.stored(limit), stored.range.count > held?.range.count ?? 0,
            isEvidence(stored.range, for: wanted, isSequential, known)
        else {
            let elsewhere = isSequential ? nil : known.heldElsewhere(limit)
            if let elsewhere, elsewhere.range.count > held?.range.count ?? 0,
                isEvidence(elsewhere.range, for: wanted, false, known)
            {
                return compare(elsewhere, whole, wanted, isSequential)
            }
            if let held, isEvidence(held.range, for: wanted, isSequential, known) {
                return compare(held, whole, wanted, isSequential)
            }
            return known.isMoreComing && !isSequential ? .wait : .giveUp
        }
        if case .unreadable(let range) = state, range == stored.range { return .giveUp }
        state = .reading(stored.range)
        return .read(stored.generation, stored.range)
    }

    /// Whether bytes show anything of those that are wanted: few do not, but where they adjoin and are all there is.
    private func isEvidence(_ range: ByteRange, for wanted: ByteRange, _ isSequential: Bool, _ known: Known) -> Bool {
        if RangeContinuation.suffices(range.count, limit: limit) { return true }
        return (isSequential || range.upperBound == wanted.lowerBound) && !range.isEmpty && known.isAll(range)
    }

    private mutating func compare(
        _ overlap: Overlap, _ whole: Request, _ wanted: ByteRange, _ isSequential: Bool
    ) -> Step {
        guard isSequential || overlap.range.upperBound == wanted.lowerBound else {
            return withhold(overlap, whole, wanted)
        }
        state = .comparing(overlap)
        if isSequential { return .send(whole) }
        var request = whole
        request.range = ByteRange(overlap.offset, wanted.upperBound)
        return .send(request)
    }

    private mutating func withhold(_ overlap: Overlap, _ whole: Request, _ wanted: ByteRange) -> Step {
        state = .withholding(Withheld(overlap: overlap, offset: wanted.lowerBound))
        var request = whole
        let most = ByteRange(offset: wanted.lowerBound, count: withheldLimit)
        request.range = ByteRange(wanted.lowerBound, min(wanted.upperBound, most.upperBound))
        return .send(request)
    }

    /// The bytes that were asked for by `.read`; `nil` where they cannot be read or failed their verification.
    mutating func overlapRead(_ bytes: [UInt8]?) {
        guard case .reading(let range) = state else { return }
        guard let bytes, Int64(bytes.count) == range.count, !bytes.isEmpty else {
            state = .unreadable(range)
            return
        }
        state = .known(Overlap(offset: range.lowerBound, bytes: bytes))
    }

    /// An answer begins. `false` where a check comes from another version than what was withheld for it, and so shows nothing of
    /// that: a mirror may have been brought up to date between the two. Once for their tags and once for their dates: where every
    /// answer has its own, bytes decide.
    mutating func agrees(with validator: Validator, trustsTags: Bool) -> Bool {
        switch state {
        case .withholding(var withheld):
            withheld.validator = validator
            state = .withholding(withheld)
        case .checking(let withheld):
            let byTags = trustsTags && trial != .entityTags && !differing.contains(.entityTag)
            guard let part = withheld.validator?.difference(from: validator, byTags: byTags),
                differing.insert(part).inserted
            else { break }
            state = .unconfirmed
            return false
        case .unconfirmed, .reading, .unreadable, .known, .comparing, .confirmed, .apart, .withheld: break
        }
        return true
    }

    /// Bytes of the answer, from `offset` on.
    mutating func compare(_ chunk: ArraySlice<UInt8>, at offset: Int64) -> Comparison {
        switch state {
        case .comparing(let overlap):
            let comparison = compare(chunk, at: offset, with: overlap, releasing: [])
            if case .same = comparison { state = .confirmed(overlap) }
            return comparison
        case .checking(var withheld):
            let comparison = compare(chunk, at: offset, with: withheld.overlap, releasing: withheld.bytes)
            if case .open = comparison {
                // Where the answer ends here, the rest is asked for by the next.
                withheld.skip(to: ByteRange(offset: offset, count: Int64(chunk.count)).upperBound)
                state = .checking(withheld)
            }
            return comparison
        case .withholding(var withheld):
            state = .unconfirmed
            withheld.take(chunk, at: offset)
            state = .withholding(withheld)
            return .withheld(isFull: withheld.bytes.count >= withheldLimit)
        case .unconfirmed, .reading, .unreadable, .known, .confirmed, .apart, .withheld: return .open
        }
    }

    private mutating func compare(
        _ chunk: ArraySlice<UInt8>, at offset: Int64, with overlap: Overlap, releasing withheld: [UInt8]
    ) -> Comparison {
        let chunkRange = ByteRange(offset: offset, count: Int64(chunk.count))
        guard let common = chunkRange.intersection(overlap.range) else { return .open }
        let expected = overlap.bytes.dropFirst(Int(common.lowerBound - overlap.offset)).prefix(Int(common.count))
        let received = chunk.dropFirst(Int(common.lowerBound - offset)).prefix(Int(common.count))
        guard expected.elementsEqual(received) else {
            state = .unconfirmed
            return .different(.bytes(expected, received, at: common.lowerBound))
        }
        guard common.upperBound == overlap.range.upperBound else { return .open }
        state = .unconfirmed
        defer { trial = nil }
        return .same(trial, released: withheld)
    }

    /// The request ended: the next answer has to show anew that it belongs to the representation. An answer that brought no byte
    /// behind the overlap is asked for again with a shorter one, as long as there is one: the object may be replaced between two
    /// answers.
    /// - Parameters:
    ///   - received: Bytes of its body.
    ///   - end: Offset of the byte behind them; an honest answer may begin before the overlap.
    mutating func requestEnded(received: Int64, at end: Int64) {
        switch state {
        case .confirmed(let overlap):
            state = end > overlap.range.upperBound ? .unconfirmed : shortened(overlap, overlap.range.count)
        case .comparing(let overlap): state = received > 0 ? shortened(overlap, received) : .unconfirmed
        case .withholding(let withheld): state = withheld.bytes.isEmpty ? .unconfirmed : .withheld(withheld)
        case .checking(let withheld): state = .withheld(withheld)
        case .known, .reading, .unconfirmed, .unreadable, .apart, .withheld: break
        }
    }

    /// An answer of so many bytes brought none behind an overlap.
    private mutating func shortened(_ overlap: Overlap, _ received: Int64) -> State {
        // Fewer could be the same in another version by chance.
        if overlap.range.count <= least { return .apart(overlap) }
        limit = max(least, min(limit, received, overlap.range.count) / 2)
        return .unconfirmed
    }

    /// The transfer goes on elsewhere: what is withheld does not adjoin what comes.
    mutating func wentElsewhere() {
        switch state {
        case .withholding, .withheld, .checking: state = .unconfirmed
        case .unconfirmed, .reading, .unreadable, .known, .comparing, .confirmed, .apart: break
        }
    }

    /// Another origin is asked: what was withheld of the last one's bytes is asked for again, and its trial is over.
    mutating func changedOrigin() {
        wentElsewhere()
        trial = nil
    }

    /// Validators differ, which need not mean that the bytes do: the next request compares them.
    mutating func begin(_ trial: Trial) {
        self.trial = trial
        state = .unconfirmed
    }
}
