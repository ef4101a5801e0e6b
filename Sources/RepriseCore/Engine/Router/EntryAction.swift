import RepriseRanges
import RepriseStorage

/// What has to be done outside the lock, in order. Results come back as inputs.
///
/// What is large and seldom is indirect: an action is moved whole for each hit.
enum EntryAction {
    // Readers and watchers
    case wake(@Sendable () -> Void)
    case event(CacheEvent)
    case count(@Sendable (inout CacheStatistics) -> Void)

    // The origin
    case acquireSlot(SlotTicket, origin: String)
    case releaseSlot(HostTable.Slot)
    indirect case send(RequestID, OriginRequest)
    case demand(any OriginExchange)
    case cancel(any OriginExchange)
    case note(HostFact, origin: String)
    indirect case renewURL(RequestID, RefusedURL)

    // Files
    case open
    case load(RepresentationID, Generation, ByteRange)
    case verify(RepresentationID, Generation, ByteRange)
    case withdraw(RepresentationID, Generation)
    case readOverlap(TransferID, RepresentationID, Generation, ByteRange)
    /// Asks whether it may be stored.
    indirect case admit(RepresentationID, EntryInfo)
    /// Makes files.
    indirect case stage(RepresentationID, EntryInfo, NamingOfMade)
    /// Writes a description.
    /// - Parameter syncing: Files that have to be on the disk before the description that names them.
    indirect case commit(RepresentationID, EntryInfo, syncing: Generation?)
    indirect case abandon(EntryInfo)
    indirect case write(WriteOrder, lane: Int)
    indirect case sync(RepresentationID, Generation, EntrySummary)
    /// So many bytes more are taken of the store.
    case addUsage(Int64)
    case requestEviction
    /// Files are to be trimmed while they are read.
    case allowTrimming(Generation)
    /// `memoryFreed` follows when all entries together have fewer bytes waiting for the disk.
    case awaitMemory
    /// A call to the disk takes too long.
    case noteSilence
    /// The entry's files are not this one's any more.
    case endWriteLease

    case timer(at: Int64)
    case depart(EntryLifecycle.Departure)

    /// When files that are made are named.
    enum NamingOfMade: Sendable, Hashable {
        /// Others are.
        case later
        /// At once, whatever the description names: what can be used of that is known.
        case atOnce
        /// At once, as they take the place of their own, which others deleted. Where the description names another version by now
        /// none are made.
        case again
    }

    /// What was learnt of a host.
    enum HostFact {
        /// Nanoseconds from a request to the first byte of its answer.
        case firstByte(Int64)
        /// Bytes a second of one connection.
        case rate(Double)
        /// A request goes to it although another origin serves the same; what such a request came to.
        case asked
        case outcome(CircuitBreaker.Outcome)
        /// Its nodes disagree about entity tags.
        case differingEntityTags
        /// It asked to be left alone.
        case holdOff(CacheError)
    }
}

/// What an entry leaves for its shell after an input.
struct EntryOutput {
    var actions: [EntryAction] = []
    /// How many bytes more or fewer wait for the disk.
    var unwritten: Int64 = 0
    /// Which readers came, and what they were served.
    var served = ServedCounts()
}

/// What readers were served since it was told last, and how many came.
struct ServedCounts {
    var readers: Int64 = 0
    var bytes: Int64 = 0
    var hits: Int64 = 0
    var misses: Int64 = 0
    var partials: Int64 = 0

    var isNone: Bool { readers == 0 && bytes == 0 && hits == 0 && misses == 0 && partials == 0 }

    func add(to sums: inout CacheStatistics) {
        sums.readers += readers
        sums.served += bytes
        sums.hits += hits
        sums.misses += misses
        sums.partials += partials
    }
}
