/// Something that happened, for an app's log or display.
public enum CacheEvent: Sendable, Hashable {
    /// A reader got its first byte from what was stored.
    case hit(key: String)
    /// A reader that began with what was stored needs more than that: something is fetched for it. Comes once a reader,
    /// after its `hit`.
    case partial(key: String)
    /// A reader's first byte had to come from the origin.
    case miss(key: String)
    /// A request was sent to the origin.
    case originRequest(key: String, range: String)
    /// Bytes reached the store.
    case stored(key: String, bytes: Int64)
    /// The entry cannot be stored now; playback goes on.
    case degraded(key: String, reason: String)
    /// The system deleted files of an entry that is in use; what comes from now on is stored anew.
    case purged(key: String)
    /// What was stored of it went to make room: all of it, or where it is being read, blocks far from every reader.
    case evicted(key: String, bytes: Int64)
    /// The origin has another representation, as the difference shows; a new generation was begun.
    indirect case generationChanged(key: String, Mismatch)
    /// Blocks failed their checksum and will be fetched again.
    case damaged(key: String, blocks: Int64)
    /// The origin's nodes disagree about entity tags; judged by length, date and overlap for a day.
    case demotedEntityTags(host: String)
    /// An answer was not what was asked for, or not what is held.
    indirect case mismatch(key: String, Mismatch)
    /// The origin could not be used.
    indirect case originError(key: String, CacheError)
    /// A request failed at one of several origins; where another is well it was asked instead.
    case originFailed(origin: String, reason: String)
    /// So many events happened here that were not kept, as nobody took them in time. Only in `CacheEvents`.
    case dropped(Int)

    /// The key of the resource it is about; `nil` where it is about a host, the whole store or the events themselves.
    public var key: String? {
        switch self {
        case .hit(let key), .partial(let key), .miss(let key), .originRequest(let key, _), .stored(let key, _),
            .degraded(let key, _), .purged(let key), .evicted(let key, _), .generationChanged(let key, _),
            .damaged(let key, _), .mismatch(let key, _), .originError(let key, _):
            key.isEmpty ? nil : key
        case .demotedEntityTags, .originFailed, .dropped: nil
        }
    }

    /// What went wrong, and with which resource, where something did.
    var error: (key: String, error: CacheError)? {
        switch self {
        case .originError(let key, let error): (key, error)
        case .mismatch(let key, let mismatch): (key, CacheError(.originInvalid, mismatch.reason))
        case .degraded(let key, let reason): (key, CacheError(.store, reason))
        case .damaged(let key, let blocks): (key, CacheError(.store, "\(blocks) damaged blocks, fetched again"))
        case .hit, .partial, .miss, .originRequest, .stored, .purged, .evicted, .generationChanged, .demotedEntityTags,
            .originFailed, .dropped:
            nil
        }
    }
}
