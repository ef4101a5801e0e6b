import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// One version of the resource's bytes, as an entry knows it.
///
///     unknown --first bytes--> storable: stored or not (`StorageState`)
///        |__ its type, first bytes of a page --> transient: never stored
///     handedOn: not the resource, and for one reader alone
///
///     unnamed --commit--> chosen --the description reached the disk--> named
///        ^__ uncommit: its files went, or another took its place ________|
///
///     any --supersede--> superseded: it can still be read, not filled
///      ^__ restore: none took its place, and the origin has it again __|
///
/// A reference, its entry's alone and under its lock.
final class Representation: Identifiable {
    /// Who may have it.
    enum Audience: Hashable {
        case everybody
        /// Only the reader it was fetched for (RFC 9111: not shareable); `nil` where no reader asked.
        case only(ReaderID?)
    }

    /// What `info.json` says of it. A description is due where it could not be written.
    private enum Naming: Equatable {
        case unnamed
        /// It is to name it, and names what it did before until it does.
        case chosen(isDue: Bool)
        /// It names it, as it was or as it is.
        case named(isDue: Bool)
    }

    /// What it is.
    enum Kind {
        /// Its first bytes have still to show that.
        case unknown
        /// Media, or what the origin says may be stored.
        case storable
        /// A playlist or a page: never stored. It lives as long as its readers, and a request that comes after its head is
        /// answered anew.
        case transient
        /// What the origin answered instead of the resource, for the reader that asked: it takes no other's place.
        case handedOn
    }

    let id: RepresentationID
    let audience: Audience
    /// Fields of the answer that are only for the reader it came for, among all the others; `nil` where there are none.
    private let ownFields: HTTPFields?
    private let requester: ReaderID?
    private(set) var info: EntryInfo { didSet { described = nil } }
    /// Fields that came behind its bytes (RFC 9110 §6.5); none of what is stored, which may do without them (§6.5.1).
    private(set) var trailers = HTTPFields() { didSet { described = nil } }
    /// Whether and where its bytes are stored.
    private(set) var storage: StorageState
    private var naming: Naming
    private var kind: Kind { didSet { described = nil } }
    /// Whether the origin has a newer one.
    private(set) var isSuperseded = false
    /// Whether others deleted files of it.
    private(set) var hasLostFiles = false
    /// An end that was told only by a closed connection: good for readers that wait now, asked again later.
    private(set) var inferredEnd: Int64?
    /// The logarithm to base 2 of how often it was used, as its summary keeps it.
    private(set) var logUseCount: UInt8 = 0
    /// When an answer last showed that the origin serves no ranges, in nanoseconds; `nil` where it did so before the entry was
    /// opened.
    private var rangesRefusedAt: Int64?
    /// What doors are told of `info`, once it was made.
    private var described: ContentInfo?

    /// A representation that an answer began.
    init(
        id: RepresentationID, info: EntryInfo, storage: StorageState, audience: Audience, kind: Kind,
        ownFields: HTTPFields? = nil, requester: ReaderID? = nil, now: Int64
    ) {
        self.id = id
        self.info = info
        self.storage = storage
        self.audience = audience
        self.ownFields = ownFields
        self.requester = requester
        self.kind = kind
        naming = .unnamed
        rangesRefusedAt = now
    }

    /// The representation that is stored.
    init(id: RepresentationID, stored entry: StoredEntry) {
        self.id = id
        info = entry.info
        storage = .storing(in: entry.generation)
        audience = .everybody
        (ownFields, requester) = (nil, nil)
        kind = .storable
        naming = .named(isDue: false)
    }

    // MARK: State

    /// Whether `info.json` names it, or is to.
    var isCommitted: Bool { naming != .unnamed }

    /// Whether `info.json` is known to name it.
    var isNamed: Bool { if case .named = naming { true } else { false } }

    /// Its files, where a description may name them that does not yet: they are not deleted, and what came last of a superseded one
    /// may reach the disk after all of its successor.
    var filesToName: Generation? {
        guard !isCommitted, !isSuperseded, let generation, generation.number == info.generation else { return nil }
        return generation
    }

    /// Whether its description could not be written, so that `info.json` is what it was before.
    var isDescriptionDue: Bool { naming == .chosen(isDue: true) || naming == .named(isDue: true) }

    /// Whether the first description that was to name it could not be written.
    var isChosenInVain: Bool { naming == .chosen(isDue: true) }

    /// Whether it is never stored because of what it is.
    var isTransient: Bool { kind == .transient || isHandedOn }

    /// Whether it is what the origin answered one reader instead of the resource.
    var isHandedOn: Bool { kind == .handedOn }

    /// Whether it is the resource, whose bytes any reader can be given; otherwise an answer that only the door can tell of.
    var isResource: Bool { info.isResource && !isHandedOn }

    /// Whether its first bytes have still to show whether it is media.
    var needsSniffing: Bool { kind == .unknown }

    /// Whether they will be looked at. What is not to be stored is handed on for what its type says.
    var awaitsSniffing: Bool { needsSniffing && storage.isUndecided }

    var generation: Generation? { storage.generation }

    /// Whether its files are being made, however long that takes.
    var awaitsFiles: Bool { storage.awaitsFiles }

    /// Whether one reader alone may have it.
    var isPrivate: Bool { audience != .everybody }

    /// Whether a reader may have it.
    func isFor(_ reader: ReaderID) -> Bool { !isPrivate || audience == .only(reader) }

    /// Whether readers other than the one it was fetched for may be given it later.
    var isShareable: Bool { !isPrivate && !isTransient }

    /// Where its bytes end, as far as that is known.
    var end: Int64? { info.length ?? inferredEnd }

    /// Whether a range may be asked for where the origin serves none: it was long ago, and the answer may have been that of one
    /// host of many.
    func mayTryRange(now: Int64, retry: Int64) -> Bool { rangesRefusedAt.map { now >= $0.adding(retry) } ?? true }

    /// Whether every byte is stored.
    var isComplete: Bool {
        guard let length = info.length, let generation else { return false }
        return generation.claims(ByteRange(0, length))
    }

    /// Whether every byte may be stored: also where the disk does not answer now or cannot be read, or not all slots have been
    /// read.
    var mayBeComplete: Bool {
        guard let files = storage.files else { return isCommitted }
        guard let length = info.length else { return false }
        return files.firstUnloaded != nil || files.claims(ByteRange(0, length))
    }

    /// Whether something of it is not taken for granted by the first reader after none.
    var mayBeginAnew: Bool { inferredEnd != nil || mayReopen }

    /// Whether it was not stored lately, though it has files that are named.
    var mayReopen: Bool { isCommitted && !isSuperseded && storage.isOff && storage.generation != nil }

    /// What a reader's door is told now.
    func content(for reader: ReaderID, age: Int64?) -> ContentInfo {
        var content = described ?? ContentInfo(self)
        if described == nil { described = content }
        if let ownFields, reader == requester { content.fields = ownFields }
        content.age = age
        content.isComplete = isComplete
        return content
    }

    /// What is written beside its bytes.
    func summary(lastUse: Int64, statistics: EntryStatistics, of generation: Generation) -> EntrySummary {
        var summary = EntrySummary()
        summary.lastUse = lastUse
        summary.logUseCount = logUseCount
        summary.isPinned = info.isPinned
        summary.length = info.length
        summary.stored = generation.claimedBytes
        summary.allocated = generation.allocatedBytes
        summary.statistics = statistics
        return summary
    }

    // MARK: Inputs: what is known of it

    /// An answer told its length.
    func learn(length: Int64) { info.length = length }

    /// Fields came behind its last byte.
    func learn(trailers: HTTPFields) { if storage.isOff, !trailers.isEmpty { self.trailers = trailers } }

    /// An answer was everything instead of a range, or a range.
    func learn(servesRanges: Bool, now: Int64) {
        if servesRanges != info.servesRanges { info.servesRanges = servesRanges }
        if !servesRanges { rangesRefusedAt = now }
    }

    /// Only a closed connection told where it ends.
    func infer(end: Int64) { inferredEnd = end }

    /// An end that was inferred is asked for again.
    func forgetInferredEnd() { inferredEnd = nil }

    /// The origin has confirmed it.
    func confirm(fields: HTTPFields, variant: String?, checked: Int64) {
        var info = info
        info.checked = checked
        info.fields = fields
        info.variant = variant
        self.info = info
    }

    /// It has to be confirmed before it is used again.
    func invalidate() { info.checked = Freshness.invalidated }

    /// The origin has another one now. Answers whether that was not known.
    func outdate() -> Bool {
        guard info.checked >= 0 else { return false }
        info.checked = Freshness.outdated(info.checked)
        return true
    }

    /// Its first bytes were looked at.
    /// - Parameter isTransient: Whether it is a page or a playlist, which is never stored.
    func sniffed(isTransient: Bool) {
        kind = isTransient ? .transient : .storable
    }

    /// A use begins, which was drawn to count or not.
    func countUse(_ logUseCount: UInt8) { self.logUseCount = logUseCount }

    func pin(_ isPinned: Bool) { info.isPinned = isPinned }

    // MARK: Inputs: its files

    /// Its files were made, under that number. What was learnt while they were being made stays.
    func filesMade(as made: EntryInfo) { info.generation = made.generation }

    func commit() { if naming == .unnamed { naming = .chosen(isDue: false) } }

    /// A description of it reached the disk.
    func named() { if case .chosen(let isDue) = naming { naming = .named(isDue: isDue) } }

    /// Its description is being written, or could not be.
    func describe(failed: Bool) {
        switch naming {
        case .unnamed: break
        case .chosen: naming = .chosen(isDue: failed)
        case .named: naming = .named(isDue: failed)
        }
    }

    /// No description names it any more.
    func uncommit() { naming = .unnamed }

    /// Its files were deleted: what is read of them still is not to be named.
    func loseFiles() {
        uncommit()
        info.generation = 0
        hasLostFiles = true
    }

    func supersede() { isSuperseded = true }

    /// The origin has it again.
    func restore() { isSuperseded = false }

    /// Changes whether and where it is stored; answers what of that others have to know.
    func changeStorage<Result>(_ change: (inout StorageState) -> Result) -> (Result, StorageChange) {
        let before = (storage.destination, storage.isSettled, storage.generation.map(ObjectIdentifier.init))
        let result = change(&storage)
        let after = (storage.destination, storage.isSettled, storage.generation.map(ObjectIdentifier.init))
        return (result, before.0 != after.0 ? .destination : before == after ? .none : .readable)
    }

    enum StorageChange {
        case none
        /// What can be read of it changed.
        case readable
        /// Where its bytes go changed.
        case destination
    }
}
