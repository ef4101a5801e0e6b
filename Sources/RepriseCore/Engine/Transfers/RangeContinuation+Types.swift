import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// What a continuation is told, what it answers, and what it holds back until then.
extension RangeContinuation {
    /// Bytes an answer has to repeat.
    struct Overlap: Hashable, Sendable {
        let offset: Int64
        let bytes: [UInt8]

        var range: ByteRange { ByteRange(offset: offset, count: Int64(bytes.count)) }
    }

    /// Why bytes decide although validators differ.
    enum Trial: Hashable, Sendable {
        /// Nodes of one host may disagree about entity tags.
        case entityTags
        /// Another host answers, whose tags and dates are its own.
        case otherHost
        /// The answer carries no validator where one is held: that `If-Range` was heeded is not known.
        case noValidator
    }

    /// What is known of the representation where the request begins.
    struct Known {
        /// `nil` where the policy forbids to continue.
        var guarding: ContinuationGuard?
        /// Whether no byte of the representation is stored, held in memory or in a reader's hands: nothing can be mixed.
        var isBlank: Bool
        /// Whether all of it that is stored, in memory or in a reader's hands lies in a range: where that is the same, nothing of
        /// another version can be mixed in.
        var isAll: (ByteRange) -> Bool
        /// Whether bytes of it are coming, or on their way to the disk, that can be compared later: few bytes are not all there
        /// are.
        var isMoreComing = false
        /// Bytes in memory just before the request (from 0 on where it is for all), at most so many.
        var held: (_ limit: Int64) -> Overlap?
        /// Bytes in memory anywhere.
        var heldElsewhere: (_ limit: Int64) -> Overlap?
        /// Stored bytes to compare with, at most so many.
        var stored: (_ limit: Int64) -> (generation: Generation, range: ByteRange)?
    }

    /// A request as it may be sent.
    struct Request: Hashable, Sendable {
        /// Bytes to ask for; `nil` for all, without `Range`.
        var range: ByteRange?
        var ifRange: String?
        /// Whether it asks for the overlap only, as that is elsewhere than the bytes that are wanted.
        var isCheck: Bool
    }

    enum Step {
        case send(Request)
        /// The bytes of `range` have to be read first.
        case read(Generation, ByteRange)
        /// Bytes are being read, or are coming.
        case wait
        /// It cannot be made sure: the representation cannot be continued.
        case giveUp
    }

    /// What a chunk of an answer says.
    enum Comparison {
        /// Nothing, or nothing yet.
        case open
        /// The chunk is withheld until a check has passed; whether no more may be.
        case withheld(isFull: Bool)
        /// The bytes are the same; the trial that is over with it, and what was withheld until now.
        case same(Trial?, released: [UInt8])
        case different(Mismatch)
    }

    /// Bytes of an answer that has still to be shown to belong to the representation.
    struct Withheld {
        /// What of the bytes elsewhere is still to be compared.
        private(set) var overlap: Overlap
        /// Offset of the first wanted byte.
        let offset: Int64
        private(set) var bytes: [UInt8] = []
        /// What the answer says that brings them.
        var validator: Validator?

        init(overlap: Overlap, offset: Int64) {
            self.overlap = overlap
            self.offset = offset
        }

        private var end: Int64 { ByteRange(offset: offset, count: Int64(bytes.count)).upperBound }

        /// The bytes elsewhere were the same up to `position`.
        mutating func skip(to position: Int64) {
            let count = min(overlap.range.count, max(0, position - overlap.offset))
            overlap = Overlap(offset: overlap.offset.adding(count), bytes: Array(overlap.bytes.dropFirst(Int(count))))
        }

        mutating func take(_ chunk: ArraySlice<UInt8>, at position: Int64) {
            bytes += chunk.dropFirst(Int(min(Int64(chunk.count), max(0, end - position))))
        }
    }

    /// Which stored bytes an answer is compared with: those just before `offset`, where none adjoin the first ones. An answer
    /// that begins at 0 (`nil`) can only be compared from there on.
    static func overlap(in claimed: borrowing ByteRangeSet, before offset: Int64?, limit: Int64) -> ByteRange? {
        guard let offset else {
            return claimed.range(containing: 0).map { ByteRange(0, min($0.upperBound, limit)) }
        }
        let adjoining = (offset > 0 ? claimed.range(containing: offset - 1) : nil).map {
            ByteRange(max($0.lowerBound, offset - limit), offset)
        }
        if let adjoining, suffices(adjoining.count, limit: limit) { return adjoining }
        // The more bytes, the more they show.
        let best = claimed.ranges.first { $0.count >= limit } ?? claimed.ranges.max { $0.count < $1.count }
        guard let best, best.count > adjoining?.count ?? 0 else { return adjoining }
        return ByteRange(offset: best.lowerBound, count: min(best.count, limit))
    }
}
