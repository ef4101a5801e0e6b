import RepriseRanges
import RepriseStorage

/// All fill buffers of an entry, in the order they were made. Few: those of its transfers, and those on their way to the disk.
struct FillBufferTable {
    private var buffers: [FillBuffer] = []
    /// Buffers that were dropped while a write of theirs was in flight: whose bytes those are, and since when, in nanoseconds.
    private var writingStill: [BufferID: (representation: RepresentationID, since: Int64)] = [:]
    private var last = 0

    // MARK: Looking things up

    var isEmpty: Bool { buffers.isEmpty }

    /// Bytes in memory.
    var bytesInMemory: Int64 { buffers.reduce(0) { $0.adding($1.bytesInMemory) } }

    /// Bytes the disk has not taken yet, and what it is given now.
    var unwritten: Int64 { buffers.reduce(0) { $0.adding($1.awaitsDisk ? $1.bytesInMemory : 0) } }

    var isWriting: Bool { buffers.contains(where: \.isWriting) }

    func isWriting(_ representation: RepresentationID) -> Bool {
        buffers.contains { $0.representation == representation && $0.isWriting }
    }

    private func writesStill(_ representation: RepresentationID) -> Bool {
        writingStill.values.contains { $0.representation == representation }
    }

    /// Since when the oldest write in flight goes on that may still store bytes of a representation, in nanoseconds.
    func mayStillStoreSince(_ representation: RepresentationID) -> Int64? {
        var since = writingSince(representation)
        for write in writingStill.values where write.representation == representation {
            since = min(since ?? write.since, write.since)
        }
        return since
    }

    /// Whether bytes of a representation may still reach the disk by a write in flight, also of a buffer that was dropped.
    func mayStillStore(_ representation: RepresentationID) -> Bool {
        mayStillStoreSince(representation) != nil
    }

    /// Whether bytes of a representation are on their way to the disk, or may be.
    func willStore(_ representation: RepresentationID) -> Bool {
        mayStillStore(representation)
            || buffers.contains { $0.representation == representation && $0.awaitsDisk && !$0.isUndecided }
    }

    /// Whether bytes are in memory that the disk will have.
    var awaitsDisk: Bool { buffers.contains(where: \.awaitsDisk) }

    func awaitsDisk(_ representation: RepresentationID) -> Bool {
        buffers.contains { $0.representation == representation && $0.awaitsDisk }
    }

    subscript(id: BufferID) -> FillBuffer? { buffers.first { $0.id == id } }

    func has(_ representation: RepresentationID) -> Bool { buffers.contains { $0.representation == representation } }

    /// Whether bytes of a representation are held that go to readers only.
    func passesThrough(_ representation: RepresentationID) -> Bool {
        buffers.contains { $0.representation == representation && $0.passesThrough }
    }

    /// All of them.
    var all: [FillBuffer] { buffers }

    /// Buffers of a representation.
    func of(_ representation: RepresentationID) -> [FillBuffer] {
        buffers.filter { $0.representation == representation }
    }

    /// Held bytes of a representation from `offset` on, at most `limit` and at most one chunk.
    func slice(_ representation: RepresentationID, at offset: Int64, limit: Int) -> ArraySlice<UInt8>? {
        for buffer in buffers where buffer.representation == representation {
            if let slice = buffer.slice(at: offset, limit: limit) { return slice }
        }
        return nil
    }

    /// Where the held bytes of a representation that begin at or before `offset` end; `nil` where it is not held.
    func heldEnd(_ representation: RepresentationID, from offset: Int64) -> Int64? {
        var end: Int64?
        for buffer in buffers where buffer.representation == representation && buffer.range.contains(offset) {
            end = max(end ?? 0, buffer.head)
        }
        return end
    }

    /// Where the first held byte of a representation after `offset` is that begins a buffer's range; `nil` where there is none.
    func nextHeld(of representation: RepresentationID, after offset: Int64) -> Int64? {
        var next: Int64?
        for buffer in buffers where buffer.representation == representation {
            let range = buffer.range
            if !range.isEmpty, range.lowerBound > offset { next = min(next ?? .max, range.lowerBound) }
        }
        return next
    }

    /// Whether any byte of a representation is held at or after `offset`.
    func hasBytes(of representation: RepresentationID, from offset: Int64 = 0) -> Bool {
        buffers.contains {
            $0.representation == representation && !$0.range.isEmpty && $0.range.upperBound > offset
        }
    }

    /// Whether no byte of a representation outside `range` is held or on its way to the disk.
    func holdsNothing(of representation: RepresentationID, outside range: ByteRange) -> Bool {
        !writesStill(representation)
            && buffers.allSatisfy { buffer in
                let held = buffer.heldOrWritten
                return buffer.representation != representation || held.isEmpty || range.contains(held)
            }
    }

    /// Whether every byte of `range` is held.
    func holds(_ range: ByteRange, of representation: RepresentationID) -> Bool {
        var position = range.lowerBound
        while position < range.upperBound {
            guard let end = heldEnd(representation, from: position) else { return false }
            position = end
        }
        return true
    }

    /// The held bytes of a representation just before `offset`, in one run through its buffers and at most `limit` of them;
    /// `nil` where the last one is not held. Copied.
    func bytes(of representation: RepresentationID, before offset: Int64, limit: Int64) -> [UInt8]? {
        var bytes: [UInt8] = []
        var position = offset
        while position > max(0, offset - limit),
            let holder = buffers.first(where: {
                $0.representation == representation && $0.range.contains(position - 1)
            })
        {
            let part = ByteRange(max(holder.range.lowerBound, offset - limit), position)
            bytes = holder.bytes(in: part) + bytes
            position = part.lowerBound
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// The held bytes of a representation from its beginning, in one run and at most `limit` of them; copied.
    func prefix(of representation: RepresentationID, limit: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        while Int64(bytes.count) < limit,
            let slice = slice(representation, at: Int64(bytes.count), limit: Int(limit) - bytes.count)
        {
            bytes += slice
        }
        return bytes
    }

    /// Since when the oldest write of a representation is in flight, in nanoseconds; `nil` where none is.
    func writingSince(_ representation: RepresentationID) -> Int64? {
        buffers.lazy.filter { $0.representation == representation }.compactMap(\.writingSince).min()
    }

    // MARK: Inputs

    /// Makes a buffer for bytes from `offset` on.
    mutating func make(
        for representation: RepresentationID, at offset: Int64, _ destination: FillBuffer.Destination
    ) -> BufferID {
        last += 1
        var buffer = FillBuffer(id: BufferID(number: last), representation: representation, at: offset)
        buffer.setDestination(destination)
        buffers.append(buffer)
        return buffer.id
    }

    private func index(of id: BufferID) -> Int? { buffers.firstIndex { $0.id == id } }

    mutating func append(_ chunk: ArraySlice<UInt8>, to id: BufferID) {
        if let index = index(of: id) { buffers[index].append(chunk) }
    }

    mutating func setAtRest(_ id: BufferID, _ isAtRest: Bool) {
        if let index = index(of: id) { buffers[index].setAtRest(isAtRest) }
    }

    /// A transfer goes on from the middle of a block: buffers of the representation are written to their ends.
    mutating func follow(_ representation: RepresentationID) {
        for index in buffers.indices where buffers[index].representation == representation { buffers[index].follow() }
    }

    /// Its transfer is done with a buffer; what is only in it is still written, and read.
    mutating func release(_ id: BufferID) {
        if let index = index(of: id) { buffers[index].release() }
        // Of an origin that breaks off and has no ranges the same first bytes come again and again.
        if let covered = buffers.first(where: { buffer in buffers.contains { buffer.isCovered(by: $0) } }) {
            drop(covered.id)
        }
        dropSpent()
    }

    /// Drops all buffers of a representation, with what is in them. A write in flight ends for itself.
    mutating func drop(_ representation: RepresentationID) { drop { $0.representation == representation } }

    /// Drops a buffer with what is in it.
    mutating func drop(_ id: BufferID) { drop { $0.id == id } }

    private mutating func drop(where isDropped: (FillBuffer) -> Bool) {
        for buffer in buffers where isDropped(buffer) {
            if let since = buffer.writingSince { writingStill[buffer.id] = (buffer.representation, since) }
        }
        buffers.removeAll(where: isDropped)
    }

    /// A representation's storage changed: where its bytes go from now on.
    mutating func setDestination(of representation: RepresentationID, _ destination: () -> FillBuffer.Destination) {
        for index in buffers.indices where buffers[index].representation == representation {
            buffers[index].setDestination(destination())
        }
        dropSpent()
    }

    /// All writes of a representation that can begin now; they are in flight from now on.
    mutating func beginWrites(
        of representation: RepresentationID, layout: BlockLayout, isSealed: Bool, now: Int64
    ) -> [WriteOrder] {
        var orders: [WriteOrder] = []
        for index in buffers.indices where buffers[index].representation == representation {
            guard !followsUnwritten(buffers[index], layout) else { continue }
            if let order = buffers[index].beginWrite(layout: layout, isSealed: isSealed, now: now) {
                orders.append(order)
            }
        }
        return orders
    }

    /// Whether the block a buffer starts in has its beginning in another buffer still: bytes without it cannot be stored.
    private func followsUnwritten(_ buffer: FillBuffer, _ layout: BlockLayout) -> Bool {
        guard buffer.drained == buffer.start else { return false }
        let beginning = ByteRange(layout.blockStart(of: buffer.start), buffer.start)
        guard !beginning.isEmpty else { return false }
        return buffers.contains { other in
            other.id != buffer.id && other.representation == buffer.representation
                && ByteRange(other.drained, other.head).intersection(beginning) != nil
        }
    }

    /// What a write was for that ended.
    enum EndedWrite: Hashable {
        /// The representation it was for.
        case current(RepresentationID)
        /// Its buffer has another destination by now: it says nothing, and the bytes are still to be written there.
        case outdated(RepresentationID)
        /// Its buffer is gone.
        case unknown

        /// The representation that may go on writing.
        var representation: RepresentationID? {
            switch self {
            case .current(let representation), .outdated(let representation): representation
            case .unknown: nil
            }
        }
    }

    mutating func endWrite(_ ticket: WriteTicket, _ result: FillBuffer.WriteResult) -> EndedWrite {
        guard let index = index(of: ticket.buffer) else {
            writingStill[ticket.buffer] = nil
            return .unknown
        }
        let representation = buffers[index].representation
        let isCurrent = buffers[index].endWrite(ticket, result)
        dropSpent()
        return isCurrent ? .current(representation) : .outdated(representation)
    }

    /// Lets go of what no reader of a representation needs, where nothing is stored.
    /// - Parameters:
    ///   - readers: Positions of the readers a buffer has to wait for.
    ///   - reach: A reader no farther before a buffer than this comes to it by reading on.
    ///   - tail: Bytes before a buffer's end that stay for comparing a continuation with.
    mutating func trimUnstored(of representation: RepresentationID, readers: [Int64], reach: Int64, tail: Int64) {
        for index in buffers.indices where buffers[index].representation == representation {
            let range = buffers[index].range
            let near = readers.filter { $0 <= range.upperBound && range.lowerBound - $0 < reach }
            buffers[index].trimUnstored(
                before: near.filter { $0 < range.upperBound }.min(), tail: tail, isJoined: !near.isEmpty)
        }
        dropSpent()
    }

    private mutating func dropSpent() { buffers.removeAll(where: \.isSpent) }
}
