package import ReprisePlatform
package import RepriseRanges

/// One generation of an entry, open: its body file, its slots, and what is known of each block.
///
/// A block is *absent*, *claimed* (its slot says so) or *verified* (its checksum was compared in this open, or we
/// wrote it). Planning uses what is claimed; readers get only what is verified.
///
///     absent --write--> verified                     claimed --verify ok--> verified
///     unloaded --load--> absent | claimed            claimed --verify fails--> absent (slot cleared)
///
/// Methods marked "I/O" block and belong on the read pool, a write lane or the janitor. All others only take the
/// generation's own lock, the innermost lock of all, and never hold it across a file call.
///
/// Lock order: `changes`, then `state`. `changes` is held across file calls by those who change the files, so that a
/// punch or a cleared slot never lands on bytes written meanwhile; readers and event loops never take it.
package final class Generation: Sendable {
    /// Lives as long as its generation.
    final class Life: Sendable {}

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

    struct State {
        /// Bytes whose slots are known: read, or written or cleared by us since.
        var loaded = ByteRangeSet()
        /// Moves when known slots are forgotten: what was read of the slots before may be from before a change.
        var forgettings: UInt64 = 0
        /// Slots that were read and are not verified yet, by block.
        var slots: [Int64: Slot] = [:]
        /// In a sealed store what opens each block, verified or not, and of those that a lease still covers.
        var seals: [Int64: BlockSeal] = [:]
        var claimed = ByteRangeSet()
        var verified = ByteRangeSet()
        /// It was changed since its summary was written.
        var isUntold = false
        /// Written since the last good sync.
        var unsynced = ByteRangeSet()
        /// How many syncs have failed, and how the last one did.
        var failedSyncs: (count: Int, last: FileError?) = (0, nil)
        var leases = LeaseTable()
        /// Blocks to punch once no lease covers them.
        var pendingPunch = ByteRangeSet()
        /// Body offsets from here on have no slot on disk.
        var slotsEnd: Int64
        var changesInFlight = 0
        /// The body's change time after our own last change; another one means somebody else wrote.
        var bodyModified: Int64?
        /// Somebody else wrote before one of our own changes, which moved the change time once more.
        var isDisturbed = false
        var damaged: Int64 = 0
        var isPunchable = false
        /// Bytes were handed to the kernel by descriptor, which may still be on their way.
        var isGivenToKernel = false
        /// Moves when what was known of the files is not any more; leases from before are worth nothing then.
        var epoch: UInt64 = 0

        init(slotsFileSize: Int64, layout: BlockLayout) {
            // A file somebody made huge must not carry the body's offsets past 64 bits.
            let slots = max(0, slotsFileSize - BlockLayout.headerSize) / layout.slotSize
            slotsEnd = layout.start(of: min(slots, BlockLayout.longestStored / layout.blockSize))
            loaded.insert(.from(slotsEnd))
        }

        /// The slots of `range` have to be read anew.
        mutating func forgetSlots(of range: ByteRange) {
            loaded.remove(range)
            forgettings += 1
        }

        /// The room of `range` was given back: what opened its blocks is of no use any more.
        mutating func noteReleased(_ range: ByteRange, _ layout: BlockLayout) {
            pendingPunch.remove(range)
            guard !seals.isEmpty else { return }
            for block in layout.numbers(covering: range)
            where !claimed.contains(layout.start(of: block)) { seals[block] = nil }
        }
    }

    /// Its number in file names.
    package let number: Int
    /// Random; ties body, slots and `info.json` together.
    package let identity: UInt64
    package let layout: BlockLayout
    /// For trace and lanes.
    package let entryName: String
    let body: any VolumeFile
    let blocks: any VolumeFile
    let canWrite: Bool
    /// The store holds this weakly, to see whether the generation is still used: a weak reference to itself would make each
    /// lease dearer (260 instructions, `make instructions`).
    let life = Life()
    /// How its blocks lie on the disk.
    let codec: BlockCodec
    private let bodyDescriptor: Int32?
    /// Most bytes handed out at a time. What the kernel cannot send is copied, and more than a processor's cache holds are slow.
    private let longestExtent: Int64
    let changes = Lock(())
    /// Held while files are synced.
    private let syncing = Lock(())
    let onSlots: (@Sendable (ByteRange) -> Void)?
    /// Told at its end where no summary tells what it takes.
    private let onUntold: (@Sendable () -> Void)?
    let state: Lock<State>

    /// - Parameter isCopied: Whether the kernel can send none of its bytes.
    init(
        number: Int, identity: UInt64, layout: BlockLayout, entryName: String, body: any VolumeFile,
        blocks: any VolumeFile, slotsFileSize: Int64, canWrite: Bool = true, isCopied: Bool = false,
        codec: BlockCodec = .plain,
        onSlots: (@Sendable (ByteRange) -> Void)? = nil, onUntold: (@Sendable () -> Void)? = nil
    ) {
        self.onUntold = onUntold
        self.number = number
        self.identity = identity
        self.layout = layout
        self.entryName = entryName
        self.body = body
        self.blocks = blocks
        self.canWrite = canWrite
        self.codec = codec
        bodyDescriptor = codec.holdsMedia ? body.descriptor : nil
        longestExtent = isCopied || codec.isSealed ? 256 * 1024 : .max
        self.onSlots = onSlots
        state = Lock(State(slotsFileSize: slotsFileSize, layout: layout))
    }

    deinit { if state.withLock(\.isUntold) { onUntold?() } }

    /// Whether its body is ciphertext.
    package var isSealed: Bool { codec.isSealed }

    // MARK: Others

    /// Whether these are the files it has open. I/O.
    func has(body other: UInt64, blocks: UInt64) throws(FileError) -> Bool {
        guard try body.status().inode == other else { return false }
        return try self.blocks.status().inode == blocks
    }

    /// Whether that is the body it has open. I/O.
    func isBody(_ inode: UInt64) throws(FileError) -> Bool { try body.status().inode == inode }

    /// Whether its files have no name any more: what is written into them is lost when they are closed. Two `fstat`.
    package func isUnlinked() throws(FileError) -> Bool {
        if try body.status().links == 0 { return true }
        return try blocks.status().links == 0
    }

    /// Forgets everything that was read of the files, as after a time in which others may have written them: slots are
    /// read and blocks verified anew, and leases handed out before are disturbed. I/O.
    package func startOver() throws(FileError) {
        try changes.withLock { _ throws(FileError) in
            let size = try blocks.status().size
            state.withLock { state in
                var fresh = State(slotsFileSize: size, layout: layout)
                fresh.leases = state.leases
                fresh.damaged = state.damaged
                fresh.isPunchable = state.isPunchable
                fresh.isGivenToKernel = state.isGivenToKernel
                fresh.epoch = state.epoch + 1
                fresh.forgettings = state.forgettings + 1
                state = fresh
            }
        }
    }

    // MARK: Looking

    /// What is known of the bytes from `offset` on.
    package func availability(at offset: Int64) -> Availability {
        state.withLock { state in
            if let range = state.verified.range(containing: offset) { return .verified(until: range.upperBound) }
            let loaded = offset < state.slotsEnd ? state.loaded.firstMissing(from: offset) : .max
            if offset < state.slotsEnd, loaded == offset { return .unloaded(window(at: offset, state)) }
            if let range = state.claimed.range(containing: offset) {
                let verified = state.verified.range(endingAfter: offset)?.lowerBound ?? .max
                return .claimed(until: min(range.upperBound, verified))
            }
            let next = state.claimed.range(endingAfter: offset)?.lowerBound ?? .max
            return .absent(until: min(next, loaded))
        }
    }

    /// The first body bytes whose slots were not read yet; `nil` where all were.
    package var firstUnloaded: ByteRange? {
        state.withLock { state in
            let offset = state.loaded.firstMissing(from: 0)
            return offset < state.slotsEnd ? window(at: offset, state) : nil
        }
    }

    private func window(at offset: Int64, _ state: State) -> ByteRange {
        let window = layout.window(at: offset)
        return ByteRange(window.lowerBound, min(window.upperBound, state.slotsEnd))
    }

    /// The bytes some slot claims, as far as slots have been read.
    package var claimed: ByteRangeSet { state.withLock { $0.claimed } }

    /// How many those are.
    package var claimedBytes: Int64 { state.withLock { $0.claimed.count } }

    /// Answers a question about the claimed bytes without a copy of them; under the generation's lock, so it must be quick.
    package func askClaimed<Answer: Sendable>(_ question: (borrowing ByteRangeSet) -> Answer) -> Answer {
        state.withLock { question($0.claimed) }
    }

    /// Whether every byte of `range` is claimed.
    package func claims(_ range: ByteRange) -> Bool { state.withLock { $0.claimed.contains(range) } }

    /// How many blocks failed their checksum in this open.
    package var damagedBlocks: Int64 { state.withLock { $0.damaged } }

    /// Bytes the claimed blocks take on a volume that allocates pages of 4096 bytes.
    package var allocatedBytes: Int64 {
        state.withLock { state in
            state.claimed.ranges.reduce(0) { sum, range in
                sum.adding(BlockLayout.pages(covering: range).count)
            }
        }
    }

    /// The first offset of `offset`'s block that is not claimed, and the block's start: where a fill must begin.
    package func fillStart(for offset: Int64) -> Int64 {
        let start = layout.blockStart(of: offset)
        return state.withLock { min($0.claimed.firstMissing(from: start), offset) }
    }

    // MARK: Reading

    /// A lease on verified bytes from `range.lowerBound` on, as many of `range` as are verified in one run;
    /// `nil` where the first one is not. Of bytes that the kernel cannot send at most 256 KiB.
    package func lease(_ range: ByteRange) -> ExtentLease? {
        state.withLock { state in
            guard let verified = state.verified.range(containing: range.lowerBound),
                let whole = verified.intersection(range)
            else { return nil }
            let extent = ByteRange(offset: whole.lowerBound, count: min(whole.count, longestExtent))
            return ExtentLease(
                generation: self, id: state.leases.begin(extent), range: extent, epoch: state.epoch)
        }
    }

    /// A lease on the whole body, for whoever reads it by its path: nothing of it is punched while the lease lives.
    package func leaseFile() -> ExtentLease {
        state.withLock { state in
            ExtentLease(
                generation: self, id: state.leases.begin(.from(0)), range: .from(0), epoch: state.epoch)
        }
    }

    /// Whether its body is leased as a file: nothing of it can be reclaimed while that lasts.
    package var isLeasedAsFile: Bool {
        state.withLock { $0.leases.extents.contains { $0.upperBound == .max } }
    }

    /// Where the bytes that are claimed in one run from `offset` on end, as far as slots have been read.
    package func claimedEnd(from offset: Int64) -> Int64 {
        state.withLock { $0.claimed.firstMissing(from: offset) }
    }

    /// Where the bytes that are verified in one run from `offset` on end.
    package func verifiedEnd(from offset: Int64) -> Int64 {
        state.withLock { $0.verified.firstMissing(from: offset) }
    }

    /// Makes the body as long as the whole will be, so that whoever opens it by its path sees its end. What is missing is
    /// a hole. I/O.
    package func extend(to length: Int64) throws(FileError) {
        try changes.withLock { _ throws(FileError) in
            guard try body.status().size < length else { return }
            try changeBody { () throws(FileError) in try body.truncate(to: length) }
        }
    }

    /// Reads leased bytes. I/O.
    func read(_ range: ByteRange) throws(FileError) -> [UInt8] {
        if case .sealed(let seal) = codec { return try read(range, seal) }
        var bytes: [UInt8] = []
        try body.read(at: range.lowerBound, count: Int(range.count), into: &bytes)
        if Int64(bytes.count) < range.count { throw FileError.truncated(entryName) }
        return bytes
    }

    /// Reads leased bytes where nobody has to wait for the disk; `nil` elsewhere.
    func readResident(_ range: ByteRange) -> [UInt8]? {
        if case .sealed(let seal) = codec { return readResident(range, seal) }
        var bytes: [UInt8] = []
        return body.readResident(at: range.lowerBound, count: Int(range.count), into: &bytes) ? bytes : nil
    }

    /// Whether the body still is as we left it: long enough for `range`, changed by nobody else. One `fstat`.
    /// Where it is not, verification has to be withdrawn before anything more is handed out.
    func isUndisturbed(for range: ByteRange, since epoch: UInt64) -> Bool {
        if codec.verifiesEachRead { return state.withLock { $0.epoch == epoch } }
        let before = state.withLock { $0.changesInFlight > 0 ? nil : $0.bodyModified }
        guard case .success(let status) = bodyStatus(), status.size >= range.upperBound else { return false }
        return state.withLock { state in
            if state.isDisturbed || state.epoch != epoch { return false }
            // One of our own changes runs or ran meanwhile: the time it leaves is looked at next time.
            if state.changesInFlight > 0 || state.bodyModified != before { return true }
            return before == nil || before == status.modified
        }
    }

    func bodyStatus() -> Result<VolumeFileStatus, FileError> {
        do throws(FileError) { return .success(try body.status()) } catch { return .failure(error) }
    }

    /// Notes the body's change time as ours, after verification was withdrawn.
    package func acceptDisturbance() {
        state.withLock { state in
            state.bodyModified = nil
            state.isDisturbed = false
            // Others may still hold leases on what was disturbed.
            state.epoch += 1
        }
    }

    /// The body's descriptor, for handing bytes to the kernel; `nil` where there is none, where the body's bytes are no
    /// media, and for what may be punched while it is read.
    var descriptor: Int32? {
        guard let bodyDescriptor else { return nil }
        return state.withLock { state in
            guard !state.isPunchable else { return nil }
            state.isGivenToKernel = true
            return bodyDescriptor
        }
    }

    /// Lets its blocks be punched although it is read: from here on its bytes are copied on their way out.
    ///
    /// A lease on bytes that went to a socket by descriptor ends when the kernel has them, but they lie in the page cache
    /// until the other end has read them, and punching part of a large folio writes zeros into it in place (measured on
    /// Linux 6.18 with ext4: a slow client of this machine got zeros for bytes that were sent megabytes before).
    /// Where bytes were given to the kernel already in this open nothing may be punched.
    package func makePunchable() { state.withLock { if !$0.isGivenToKernel { $0.isPunchable = true } } }

    /// Whether its blocks may be punched although it is read.
    package var isPunchable: Bool { state.withLock { $0.isPunchable } }

    func isResident(_ range: ByteRange) -> Bool {
        codec.holdsMedia && body.isResident(offset: range.lowerBound, count: range.count)
    }

    func endLease(_ id: UInt64) {
        state.withLock { $0.leases.end(id) }
    }

    // MARK: Writing

    /// Makes everything written durable. A failed sync withdraws verification of all written since the last good
    /// one, because the kernel may have dropped those pages. One at a time: who comes while another syncs waits for that, and
    /// fails with it. I/O, on the janitor.
    package func sync() throws(FileError) {
        let failures = state.withLock { $0.failedSyncs.count }
        try syncing.withLock { _ throws(FileError) in try syncAlone(failures: failures) }
    }

    /// Whether a sync of it has failed.
    package var hasFailedToSync: Bool { state.withLock { $0.failedSyncs.count > 0 } }

    /// - Parameter failures: How many syncs had failed when it was asked for.
    private func syncAlone(failures: Int) throws(FileError) {
        let (unsynced, failed) = state.withLock { state in
            defer { if state.failedSyncs.count == failures { state.unsynced = ByteRangeSet() } }
            return (state.unsynced, state.failedSyncs)
        }
        if failed.count != failures, let error = failed.last { throw error }
        guard !unsynced.isEmpty else { return }
        do throws(FileError) {
            try body.sync()
            try blocks.sync()
        } catch {
            state.withLock { $0.failedSyncs = ($0.failedSyncs.count + 1, error) }
            // The kernel calls the pages clean by now: the next sync would succeed without them.
            body.forgetCached()
            blocks.forgetCached()
            try changes.withLock { _ throws(FileError) in try reclaim(unsynced.ranges) }
            throw error
        }
    }
}

extension FileError {
    static func truncated(_ name: String) -> FileError {
        FileError(kind: .unavailable, code: FileError.inputOutput, operation: "read (file too short)", path: name)
    }
}
