import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// Everything that can happen to an entry besides what its readers ask and are answered at once (`attach`, `read`, `info`).
enum EntryInput {
    // Readers
    case detach(ReaderID)
    case seek(ReaderID, to: Int64, end: Int64?)
    case pause(ReaderID, Bool)
    case putBack(ReaderID, ByteRange)
    case watchStorage(@Sendable () -> Void)

    // The origin
    case slotGranted(SlotTicket, HostTable.Slot)
    /// Another request waits for a connection slot of a host that holds one of this entry's.
    case hostContended
    case started(RequestID, any OriginExchange)
    case received(RequestID, OriginEvent)
    case urlRenewed(RequestID, Result<OriginURL?, any Error>)
    case networkPathReturned

    // Files
    case opened(StoredEntry?, StoreError?)
    /// Slots or checksums of `range` were read.
    case indexRead(RepresentationID, ByteRange, damaged: Int64, error: String?)
    case overlapRead(TransferID, RepresentationID, [UInt8]?)
    /// A read of leased bytes takes too long; the same has ended.
    case leaseLate(Generation)
    case leaseAnswered(Generation)
    case admitted(RepresentationID, Bool)
    case staged(RepresentationID, StoredEntry?, isCommitted: Bool, StoreError?)
    /// The files of a representation were not made again: the description names another one.
    case placeTaken(RepresentationID)
    case committed(RepresentationID, StoreError?)
    case wrote(WriteTicket, damaged: Int64, error: String?)
    /// The store was not there for a write: its bytes are still in their buffer.
    case notWritten(WriteTicket)
    /// The description that named a representation is not there any more.
    case descriptionDeleted(of: RepresentationID, number: Int)
    /// The files of a representation are not there any more.
    case filesDeleted(RepresentationID, Generation)
    /// The store was not there for this work.
    case deferred(EntryAction)

    /// All entries together have fewer bytes waiting for the disk.
    case memoryFreed

    // Its owner and the store
    case pinned(Bool)
    case invalidated
    /// The origin has answered a client's HEAD, which was sent with those fields and at that time in nanoseconds.
    case answeredHead(OriginResponseHead, HTTPFields, sentAt: Int64)
    case removed
    case spaceLookedFor
    case trimmed
    case suspend
    case resume
    case resumeWithoutStore
    /// The files of a representation are another's; what is open can be read on, or not.
    case filesLeft(RepresentationID, isReadable: Bool, reason: String)
    case sync
    case announceStorage

    // Its end
    case closeIfUnopened
    case closeIfIdle
    case shutDown
    case abandonUnwritten

    case timer(at: Int64)
}
