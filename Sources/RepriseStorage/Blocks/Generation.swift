package import RepriseRanges
package import ReprisePlatform
import Synchronization

/// One generation of an entry, open: its body file, its slots, and what is known of each block.
///
/// A block is *absent*, *claimed* (its slot says so) or *verified* (its proof was checked in this open, or we
/// wrote it). Planning uses what is claimed; readers get only what is verified.
///
///     absent --write--> verified                     claimed --verify ok--> verified
///     unloaded --load--> absent | claimed            claimed --verify fails--> absent (slot cleared)
///
/// Methods marked "I/O" block and belong on the read pool, a write lane or the janitor. All others only take the
/// generation's own lock, the innermost lock of all, and never hold it across a file call.
package final class Generation: Sendable {
    /// What is known of the bytes from an offset on, and how far that goes.
    package enum Availability: Hashable, Sendable {
        /// May be handed out.
        case verified(until: Int64)
        /// A slot says it is there; to be verified first.
        case claimed(until: Int64)
        /// Not stored.
        case absent(until: Int64)
        /// The slots of this range were not read yet.
        case unloaded(ByteRange)
    }

    private struct State {
        /// Bytes whose slots have been read.
        var loaded = ByteRangeSet()
        /// Slots that were read and are not verified yet, by block.
        var slots: [Int64: Slot] = [:]
        var claimed = ByteRangeSet()
        var verified = ByteRangeSet()
        /// Written since the last good sync.
        var unsynced = ByteRangeSet()
        var leases: [UInt64: ByteRange] = [:]
        var nextLease: UInt64 = 0
        /// Blocks to punch once no lease covers them.
        var pendingPunch = ByteRangeSet()
        var writesInFlight = 0
        /// The body's change time after our own last write; another one means somebody else wrote.
        var bodyModified: Int64?
        var damaged: Int64 = 0
    }

    /// Its number in file names.
    package let number: Int
    /// Random; ties body, slots and `info.json` together.
    package let identity: UInt64
    package let layout: BlockLayout
    /// For trace and lanes.
    package let entryName: String
    private let body: any FileHandle
    private let blocks: any FileHandle
    /// Slots past this offset of the body are known to be absent: the slots file ended there when opened.
    private let slotsEnd: Int64
    private let onSlots: (@Sendable (ByteRange) -> Void)?
    private let state: Mutex<State>

    package init(
        number: Int, identity: UInt64, layout: BlockLayout, entryName: String, body: any FileHandle,
        blocks: any FileHandle, slotsFileSize: Int64, onSlots: (@Sendable (ByteRange) -> Void)? = nil
    ) {
        self.number = number
        self.identity = identity
        self.layout = layout
        self.entryName = entryName
        self.body = body
        self.blocks = blocks
        self.onSlots = onSlots
        let slots = max(0, slotsFileSize - BlockLayout.headerSize) / BlockLayout.slotSize
        slotsEnd = slots * layout.blockSize
        var state = State()
        if slotsEnd < .max { state.loaded.insert(.from(slotsEnd)) }
        self.state = Mutex(state)
    }

    // MARK: Looking

    /// What is known of the bytes from `offset` on.
    package func availability(at offset: Int64) -> Availability {
        state.withLock { state in
            if let range = state.verified.range(containing: offset) { return .verified(until: range.upperBound) }
            let loaded = state.loaded.firstMissing(from: offset)
            guard loaded > offset else {
                let page = offset - offset % layout.bytesPerPage
                let end = min(ByteRange(offset: page, count: layout.bytesPerPage * 64).upperBound, max(slotsEnd, offset + 1))
                return .unloaded(ByteRange(page, end))
            }
            if let range = state.claimed.range(containing: offset) {
                let verified = state.verified.range(endingAfter: offset)?.lowerBound ?? .max
                return .claimed(until: min(range.upperBound, verified))
            }
            let next = state.claimed.range(endingAfter: offset)?.lowerBound ?? .max
            return .absent(until: min(next, loaded))
        }
    }

    /// The bytes some slot claims, as far as slots have been read.
    package var claimed: ByteRangeSet { state.withLock { $0.claimed } }

    /// Whether every byte of `range` is claimed.
    package func claims(_ range: ByteRange) -> Bool { state.withLock { $0.claimed.contains(range) } }

    /// How many blocks failed their proof in this open.
    package var damagedBlocks: Int64 { state.withLock { $0.damaged } }

    /// Bytes the claimed blocks take on a volume that allocates pages of 4096 bytes.
    package var allocatedBytes: Int64 {
        state.withLock { state in
            state.claimed.ranges.reduce(0) { sum, range in
                sum + (range.upperBound + 4095) / 4096 * 4096 - range.lowerBound / 4096 * 4096
            }
        }
    }

    /// The first offset of `offset`'s block that is not claimed, and the block's start: where a fill must begin.
    package func fillStart(for offset: Int64) -> Int64 {
        let start = layout.blockStart(of: offset)
        return state.withLock { min($0.claimed.firstMissing(from: start), offset) }
    }

    // MARK: Reading

    /// Reads the slots of `range`. I/O.
    package func load(_ range: ByteRange) throws(FileError) {
        let first = layout.block(at: range.lowerBound)
        let last = layout.block(at: layout.blockEnd(of: min(range.upperBound, slotsEnd)))
        guard last > first else { return }
        var bytes: [UInt8] = []
        try blocks.read(
            at: layout.slotOffset(of: first), count: Int((last - first) * BlockLayout.slotSize), into: &bytes)
        var found: [(Int64, Slot)] = []
        for block in first..<last {
            let index = Int((block - first) * BlockLayout.slotSize)
            if let slot = Slot(bytes, at: index, block: block, blockSize: layout.blockSize) { found.append((block, slot)) }
        }
        state.withLock { state in
            for (block, slot) in found {
                // A block may have been written since its page was asked for: what we wrote is newer.
                let start = layout.range(of: block).lowerBound
                guard !state.loaded.contains(start), !state.claimed.contains(start) else { continue }
                state.slots[block] = slot
                state.claimed.insert(ByteRange(offset: start, count: Int64(slot.validLength)))
            }
            state.loaded.insert(ByteRange(first * layout.blockSize, last * layout.blockSize))
        }
    }

    /// Checks the proof of every claimed block that `range` touches. A block that fails becomes absent and its
    /// slot is cleared; a file call that fails throws and changes nothing. I/O.
    package func verify(_ range: ByteRange) throws(FileError) {
        var buffer: [UInt8] = []
        var block = layout.block(at: range.lowerBound)
        while block * layout.blockSize < range.upperBound {
            let number = block
            block += 1
            guard let slot = state.withLock({ $0.slots[number] }) else { continue }
            _ = try check(number, slot, &buffer)
        }
    }

    /// Checks one block; answers the running hash of its valid prefix where it matched.
    private func check(_ block: Int64, _ slot: Slot, _ buffer: inout [UInt8]) throws(FileError) -> XXH64? {
        buffer.removeAll(keepingCapacity: true)
        let range = ByteRange(offset: block * layout.blockSize, count: Int64(slot.validLength))
        try body.read(at: range.lowerBound, count: Int(slot.validLength), into: &buffer)
        var hash = Slot.hash(identity: identity, block: block)
        hash.update(buffer.span)
        let matches = buffer.count == Int(slot.validLength) && hash.finish() == slot.proof
        let stillCurrent = state.withLock { state in
            guard state.slots[block] == slot else { return false }
            if matches {
                state.verified.insert(range)
                state.slots[block] = nil
            } else {
                state.slots[block] = nil
                state.claimed.remove(range)
                state.verified.remove(range)
                state.damaged += 1
            }
            return true
        }
        if !matches, stillCurrent { try blocks.write([UInt8](repeating: 0, count: 16), at: layout.slotOffset(of: block)) }
        return matches ? hash : nil
    }

    /// Takes verification back from everything: each block is checked again before it is handed out. I/O.
    package func withdrawVerification() throws(FileError) {
        let ranges = state.withLock { state -> [ByteRange] in
            let ranges = state.verified.ranges
            state.verified = ByteRangeSet()
            return ranges
        }
        try reclaim(ranges)
    }

    // Reads the slots of blocks that lost their verification, so that they can be proved anew.
    private func reclaim(_ ranges: [ByteRange]) throws(FileError) {
        for range in ranges {
            let first = layout.block(at: range.lowerBound)
            let last = layout.block(at: layout.blockEnd(of: range.upperBound))
            state.withLock { state in
                let blocks = ByteRange(first * layout.blockSize, last * layout.blockSize)
                state.verified.remove(blocks)
                state.claimed.remove(blocks)
                state.loaded.remove(blocks)
            }
            try reloadSlots(first, last)
        }
    }

    private func reloadSlots(_ first: Int64, _ last: Int64) throws(FileError) {
        var bytes: [UInt8] = []
        try blocks.read(at: layout.slotOffset(of: first), count: Int((last - first) * BlockLayout.slotSize), into: &bytes)
        state.withLock { state in
            for block in first..<last {
                let index = Int((block - first) * BlockLayout.slotSize)
                let range = layout.range(of: block)
                guard !state.claimed.contains(range.lowerBound),
                    let slot = Slot(bytes, at: index, block: block, blockSize: layout.blockSize)
                else { continue }
                state.slots[block] = slot
                state.claimed.insert(ByteRange(offset: range.lowerBound, count: Int64(slot.validLength)))
            }
            state.loaded.insert(ByteRange(first * layout.blockSize, last * layout.blockSize))
        }
    }

    /// A lease on verified bytes from `range.lowerBound` on, as many of `range` as are verified in one run;
    /// `nil` where the first one is not.
    package func lease(_ range: ByteRange) -> ExtentLease? {
        state.withLock { state in
            guard let verified = state.verified.range(containing: range.lowerBound),
                let extent = verified.intersection(range)
            else { return nil }
            state.nextLease += 1
            state.leases[state.nextLease] = extent
            return ExtentLease(generation: self, id: state.nextLease, range: extent)
        }
    }

    /// Reads leased bytes. I/O.
    fileprivate func read(_ range: ByteRange) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        try body.read(at: range.lowerBound, count: Int(range.count), into: &bytes)
        if Int64(bytes.count) < range.count { throw FileError.truncated(entryName) }
        return bytes
    }

    /// Whether the body still is as we left it: long enough for `range`, changed by nobody else. One `fstat`.
    /// Where it is not, verification has to be withdrawn before anything more is handed out.
    package func isUndisturbed(for range: ByteRange) -> Bool {
        let writing = state.withLock { $0.writesInFlight > 0 }
        guard case .success(let status) = bodyStatus(), status.size >= range.upperBound else { return false }
        return state.withLock { state in
            if writing || state.writesInFlight > 0 { return true }
            guard let known = state.bodyModified else {
                state.bodyModified = status.modified
                return true
            }
            return known == status.modified
        }
    }

    private func bodyStatus() -> Result<FileStatus, FileError> {
        do throws(FileError) { return .success(try body.status()) } catch { return .failure(error) }
    }

    /// Notes the body's change time as ours, after verification was withdrawn.
    package func acceptDisturbance() {
        state.withLock { $0.bodyModified = nil }
    }

    fileprivate var descriptor: Int32? { body.descriptor }

    fileprivate func isResident(_ range: ByteRange) -> Bool {
        body.isResident(offset: range.lowerBound, count: range.count)
    }

    fileprivate func endLease(_ id: UInt64) {
        state.withLock { $0.leases[id] = nil }
    }

    // MARK: Writing

    /// A pen that fills from `offset`, which must be a block's first missing byte. Bytes before it in the block are
    /// read back and proved first: damage is never laundered. `nil` where they do not match; the block is absent
    /// then and the fill has to begin at its start. I/O.
    package func makePen(at offset: Int64) throws(FileError) -> BlockPen? {
        let block = layout.block(at: offset)
        let start = block * layout.blockSize
        if offset == start { return BlockPen(generation: self, position: offset, hash: nil) }
        if state.withLock({ $0.slots[block] == nil }) {
            try reloadUnlessAbsent(block)
        }
        guard let slot = state.withLock({ $0.slots[block] }), start + Int64(slot.validLength) == offset else { return nil }
        var buffer: [UInt8] = []
        guard let hash = try check(block, slot, &buffer) else { return nil }
        return BlockPen(generation: self, position: offset, hash: hash)
    }

    // A block that we wrote ourselves has no slot in memory any more; its prefix is proved from the disk all the same.
    private func reloadUnlessAbsent(_ block: Int64) throws(FileError) {
        guard state.withLock({ $0.claimed.contains(block * layout.blockSize) }) else { return }
        var bytes: [UInt8] = []
        try blocks.read(at: layout.slotOffset(of: block), count: Int(BlockLayout.slotSize), into: &bytes)
        guard let slot = Slot(bytes, at: 0, block: block, blockSize: layout.blockSize) else { return }
        state.withLock { $0.slots[block] = slot }
    }

    /// Writes body bytes, then the slots of the blocks they touch. I/O, on the generation's lane.
    fileprivate func write(_ chunks: [ArraySlice<UInt8>], range: ByteRange, slots: [UInt8], firstBlock: Int64) throws(FileError) {
        state.withLock { $0.writesInFlight += 1 }
        var failure: FileError?
        do throws(FileError) {
            var position = range.lowerBound
            for chunk in chunks {
                try body.write(chunk, at: position)
                position += Int64(chunk.count)
            }
            try blocks.write(slots, at: layout.slotOffset(of: firstBlock))
        } catch {
            failure = error
        }
        // Where the status cannot be had the next check of a region takes the file as it then is for ours.
        let modified = if case .success(let status) = bodyStatus() { Optional(status.modified) } else { Int64?.none }
        state.withLock { state in
            state.writesInFlight -= 1
            state.bodyModified = modified
            if failure == nil {
                state.claimed.insert(range)
                state.verified.insert(range)
                state.unsynced.insert(range)
            }
        }
        if let failure { throw failure }
        onSlots?(range)
    }

    /// Makes everything written durable. A failed sync withdraws verification of all written since the last good
    /// one, because the kernel may have dropped those pages. I/O, on the janitor.
    package func sync() throws(FileError) {
        let unsynced = state.withLock { state in
            defer { state.unsynced = ByteRangeSet() }
            return state.unsynced
        }
        guard !unsynced.isEmpty else { return }
        do throws(FileError) {
            try body.sync()
            try blocks.sync()
        } catch {
            try reclaim(unsynced.ranges)
            throw error
        }
    }

    /// Gives the whole blocks inside `range` back: absent at once, punched when no lease covers them. I/O.
    /// Answers the bytes that must wait for a lease; call `punchPending` later.
    @discardableResult
    package func discard(_ range: ByteRange) throws(FileError) -> ByteRangeSet {
        let first = layout.block(at: layout.blockEnd(of: range.lowerBound))
        let last = layout.block(at: range.upperBound)
        guard first < last else { return ByteRangeSet() }
        let blocksRange = ByteRange(first * layout.blockSize, last * layout.blockSize)
        state.withLock { state in
            state.verified.remove(blocksRange)
            state.claimed.remove(blocksRange)
            for block in first..<last { state.slots[block] = nil }
            state.pendingPunch.insert(blocksRange)
        }
        try blocks.write([UInt8](repeating: 0, count: Int((last - first) * 16)), at: layout.slotOffset(of: first))
        return try punchPending()
    }

    /// Punches what `discard` left to wait and no lease covers any more; answers what still waits. I/O.
    @discardableResult
    package func punchPending() throws(FileError) -> ByteRangeSet {
        let free = state.withLock { state -> [ByteRange] in
            var free = state.pendingPunch
            for lease in state.leases.values { free.remove(lease) }
            for claimed in state.claimed.ranges { free.remove(claimed) }
            for range in free.ranges { state.pendingPunch.remove(range) }
            return free.ranges
        }
        for range in free { try body.punch(offset: range.lowerBound, count: range.count) }
        return state.withLock { $0.pendingPunch }
    }

    /// Rewrites the summary in the slots file's header. I/O.
    package func write(_ summary: EntrySummary) throws(FileError) {
        try blocks.write(summary.encoded, at: BlocksHeader.summaryOffset)
    }
}

extension FileError {
    fileprivate static func truncated(_ name: String) -> FileError {
        FileError(kind: .unavailable, code: FileError.inputOutput, operation: "read (file too short)", path: name)
    }
}

/// Verified bytes handed out: as long as the lease lives they are not punched, truncated or overwritten.
/// It ends with its last reference, or at once by `end()`.
package final class ExtentLease: Sendable {
    /// The bytes, offsets in the representation and in the body file alike.
    package let range: ByteRange
    private let generation: Generation
    private let id: UInt64

    fileprivate init(generation: Generation, id: UInt64, range: ByteRange) {
        self.generation = generation
        self.id = id
        self.range = range
    }

    deinit { generation.endLease(id) }

    /// The body's descriptor, for handing the region to a socket; `nil` where bytes have to be read.
    package var descriptor: Int32? { generation.descriptor }

    /// Whether the kernel can send the bytes without waiting for the disk, as far as can be told.
    package var isResident: Bool { generation.isResident(range) }

    /// Whether the body file still is as we left it; one `fstat`.
    package var isUndisturbed: Bool { generation.isUndisturbed(for: range) }

    /// Reads the bytes. I/O.
    package func read() throws(FileError) -> [UInt8] { try generation.read(range) }
}

/// Writes the bytes of one fill, in order, with their slots. Confined to its generation's write lane.
package final class BlockPen {
    private let generation: Generation
    /// Where the next byte goes.
    package private(set) var position: Int64
    /// Running hash of the current block's valid prefix; `nil` at a block's start.
    private var hash: XXH64?

    fileprivate init(generation: Generation, position: Int64, hash: XXH64?) {
        self.generation = generation
        self.position = position
        self.hash = hash
    }

    /// Writes `chunks`, which follow each other from `position`. I/O.
    package func write(_ chunks: [ArraySlice<UInt8>]) throws(FileError) {
        let layout = generation.layout
        let start = position
        let firstBlock = layout.block(at: start)
        var slots: [UInt8] = []
        var running = hash
        var offset = start
        for chunk in chunks {
            var rest = chunk
            while !rest.isEmpty {
                let block = layout.block(at: offset)
                let room = (block + 1) * layout.blockSize - offset
                let part = rest.prefix(Int(min(room, Int64(rest.count))))
                rest = rest.dropFirst(part.count)
                var current = running ?? Slot.hash(identity: generation.identity, block: block)
                current.update(part.span)
                offset += Int64(part.count)
                running = current
                if offset % layout.blockSize == 0 {
                    Slot(validLength: Int32(layout.blockSize), proof: current.finish()).encode(block: block, into: &slots)
                    running = nil
                }
            }
        }
        if let running {
            let block = layout.block(at: offset)
            Slot(validLength: Int32(offset - block * layout.blockSize), proof: running.finish())
                .encode(block: block, into: &slots)
        }
        guard offset > start else { return }
        try generation.write(chunks, range: ByteRange(start, offset), slots: slots, firstBlock: firstBlock)
        position = offset
        hash = running
    }
}
