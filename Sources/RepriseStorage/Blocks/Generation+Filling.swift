package import ReprisePlatform
import RepriseRanges

/// Writing body bytes and their slots.
extension Generation {
    /// A block writer that fills from `offset`, which must be a block's first missing byte. Bytes before it in the block are
    /// read back and verified first: damage is never laundered. `nil` where they do not match; the block is absent
    /// then and the fill has to begin at its start. I/O.
    package func makeWriter(at offset: Int64) throws(FileError) -> (any BlockWriter)? {
        let block = layout.block(at: offset)
        let start = layout.start(of: block)
        if offset == start { return codec.makeWriter(of: self, at: offset, behind: nil) }
        if state.withLock({ $0.slots[block] == nil }) {
            try reloadUnlessAbsent(block)
        }
        guard let slot = state.withLock({ $0.slots[block] }), start.adding(Int64(slot.validLength)) == offset else {
            return nil
        }
        var buffer: [UInt8] = []
        guard case .verified(let prefix) = try check(block, slot, &buffer) else { return nil }
        return codec.makeWriter(of: self, at: offset, behind: prefix)
    }

    // A block that we wrote ourselves has no slot in memory any more; its prefix is verified from the disk all the same.
    // Read while nothing changes: a block that is given back meanwhile must not become a verified one again.
    func reloadUnlessAbsent(_ block: Int64) throws(FileError) {
        try changes.withLock { _ throws(FileError) in
            guard state.withLock({ $0.claimed.contains(layout.start(of: block)) }) else { return }
            let (found, bytes) = try slotOnDisk(block)
            state.withLock { state in
                guard let slot = found else {
                    if !state.verified.contains(layout.start(of: block)) { makeAbsent(&state, block) }
                    return
                }
                state.slots[block] = slot
                state.seals[block] = codec.seal(in: bytes, at: 0, layout)
            }
        }
    }

    /// What a block's slot says on the disk, `nil` where it says nothing, and its bytes. I/O.
    func slotOnDisk(_ block: Int64) throws(FileError) -> (slot: Slot?, bytes: [UInt8]) {
        var bytes: [UInt8] = []
        try blocks.read(at: layout.slotOffset(of: block), count: Int(layout.slotSize), into: &bytes)
        return (codec.slot(in: bytes, at: 0, of: block, layout), bytes)
    }

    /// Writes body bytes, then the slots of the blocks they touch; `false`, and nothing written, where the first
    /// block's prefix is not stored any more. I/O, on the generation's lane.
    func write(
        _ chunks: [ArraySlice<UInt8>], range: ByteRange, slots: [UInt8], firstBlock: Int64
    ) throws(FileError) -> Bool {
        let prefix = ByteRange(layout.blockStart(of: range.lowerBound), range.lowerBound)
        let isStored = try changes.withLock { _ throws(FileError) in
            guard state.withLock({ $0.claimed.contains(prefix) }) else { return false }
            try changeBody { () throws(FileError) in
                var position = range.lowerBound
                for chunk in chunks {
                    try body.write(chunk, at: position)
                    position += Int64(chunk.count)
                }
                try blocks.write(slots, at: layout.slotOffset(of: firstBlock))
            }
            state.withLock { state in
                // What another writer read of these slots is from before.
                if !state.slots.isEmpty {
                    for block in layout.numbers(covering: range) { state.slots[block] = nil }
                }
                state.claimed.insert(range)
                state.verified.insert(range)
                state.unsynced.insert(range)
                state.slotsEnd = max(state.slotsEnd, layout.blockEnd(of: range.upperBound))
            }
            return true
        }
        if isStored { onSlots?(range) }
        return isStored
    }

    // Runs a change of our own under `changes`, and tells it from changes by others.
    func changeBody(_ change: () throws(FileError) -> Void) throws(FileError) {
        if case .success(let status) = bodyStatus() {
            state.withLock { state in
                if let known = state.bodyModified, known != status.modified { state.isDisturbed = true }
            }
        }
        state.withLock { $0.changesInFlight += 1 }
        var failure: FileError?
        do throws(FileError) { try change() } catch { failure = error }
        // Where the status cannot be had the next verification takes the file as it then is for ours.
        let modified = if case .success(let status) = bodyStatus() { Optional(status.modified) } else { Int64?.none }
        state.withLock { state in
            state.changesInFlight -= 1
            state.bodyModified = modified
            state.isUntold = true
        }
        if let failure { throw failure }
    }
}
