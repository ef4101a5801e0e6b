package import ReprisePlatform
package import RepriseRanges

/// Reading slots, and verifying blocks by them.
extension Generation {
    /// Reads the slots of `range`, so many at a time: one block far out makes the file long. I/O.
    package func load(_ range: ByteRange) throws(FileError) {
        let end = min(range.upperBound, state.withLock { $0.slotsEnd })
        var position = range.lowerBound
        while position < end {
            let next = min(layout.window(at: position).upperBound, end)
            try loadAtOnce(ByteRange(position, next))
            position = next
        }
    }

    private func loadAtOnce(_ range: ByteRange) throws(FileError) {
        let first = layout.block(at: range.lowerBound)
        let last = layout.block(at: layout.blockEnd(of: range.upperBound))
        let forgettings = state.withLock { $0.forgettings }
        let bytes = try slotBytes(first, last)
        let isTaken = state.withLock { state in
            guard state.forgettings == forgettings else { return false }
            take(bytes, first, last, &state)
            return true
        }
        // Slots were forgotten meanwhile, and may have been cleared before that and after they were read here.
        if !isTaken { try changes.withLock { _ throws(FileError) in try reloadSlots(first, last) } }
    }

    private func slotBytes(_ first: Int64, _ last: Int64) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        try blocks.read(at: layout.slotOffset(of: first), count: Int(layout.slotsSize(last - first)), into: &bytes)
        return bytes
    }

    /// Takes over what was read of slots, but for those that are known: what we wrote or cleared meanwhile is newer.
    private func take(_ bytes: [UInt8], _ first: Int64, _ last: Int64, _ state: inout State) {
        for block in first..<last {
            let index = Int(layout.slotsSize(block - first))
            let start = layout.range(of: block).lowerBound
            guard !state.loaded.contains(start), !state.claimed.contains(start),
                let slot = codec.slot(in: bytes, at: index, of: block, layout)
            else { continue }
            state.slots[block] = slot
            state.seals[block] = codec.seal(in: bytes, at: index, layout)
            state.claimed.insert(ByteRange(offset: start, count: Int64(slot.validLength)))
        }
        state.loaded.insert(layout.range(from: first, upTo: last))
    }

    /// Verifies the checksum of every claimed block that `range` touches. A block that fails becomes absent and its
    /// slot is cleared; a file call that fails throws and changes nothing. Answers how many became absent by this call. Where it
    /// returns, nothing of `range` is claimed and unverified, but for what was written or withdrawn meanwhile. I/O.
    @discardableResult
    package func verify(_ range: ByteRange) throws(FileError) -> Int64 {
        var buffer: [UInt8] = []
        var damaged: Int64 = 0
        var block = layout.block(at: range.lowerBound)
        let end = min(range.upperBound, state.withLock { $0.slotsEnd })
        while layout.start(of: block) < end {
            let number = block
            block += 1
            guard let slot = try slotToVerify(number) else { continue }
            if case .damaged = try check(number, slot, &buffer) { damaged += 1 }
        }
        return damaged
    }

    /// A block's slot, where it is still to be verified.
    private func slotToVerify(_ block: Int64) throws(FileError) -> Slot? {
        let start = layout.range(of: block).lowerBound
        let (slot, isUnverified) = state.withLock {
            ($0.slots[block], $0.claimed.contains(start) && !$0.verified.contains(start))
        }
        if slot != nil || !isUnverified { return slot }
        // Its verification was withdrawn, and its slot is still to be read anew.
        try reloadUnlessAbsent(block)
        return state.withLock { $0.slots[block] }
    }

    /// What a look at one block showed.
    enum Checked {
        /// Its valid prefix, as a writer goes on from it.
        case verified(BlockCodec.Prefix)
        /// It does not fit its checksum, and is absent from here on.
        case damaged
        /// Its slot changed meanwhile.
        case changed
    }

    /// Checks one block. I/O.
    func check(_ block: Int64, _ slot: Slot, _ buffer: inout [UInt8]) throws(FileError) -> Checked {
        if let prefix = try verify(block, slot, &buffer) { return .verified(prefix) }
        // What was read may be from before a change or from its middle, and the slot the same again by now: damaged is
        // what still is while nothing changes.
        return try changes.withLock { _ throws(FileError) in
            guard state.withLock({ $0.slots[block] == slot }) else { return .changed }
            // Another object that has these files open, as a repair has, may have written it anew.
            let bytes = try slotBytes(block, block.adding(1))
            let isAsRead =
                codec.slot(in: bytes, at: 0, of: block, layout) == slot
                && codec.seal(in: bytes, at: 0, layout) == state.withLock { $0.seals[block] }
            guard isAsRead else {
                try reclaim([layout.range(of: block)])
                return .changed
            }
            if let prefix = try verify(block, slot, &buffer) { return .verified(prefix) }
            return try drop(block, slot) ? .damaged : .changed
        }
    }

    private func verify(_ block: Int64, _ slot: Slot, _ buffer: inout [UInt8]) throws(FileError) -> BlockCodec.Prefix? {
        buffer.removeAll(keepingCapacity: true)
        let range = ByteRange(offset: layout.start(of: block), count: Int64(slot.validLength))
        try noteChangeTime()
        try body.read(at: range.lowerBound, count: Int(slot.validLength), into: &buffer)
        guard let prefix = prefix(buffer, slot, block: block) else { return nil }
        state.withLock { state in
            guard state.slots[block] == slot else { return }
            state.verified.insert(range)
            state.slots[block] = nil
        }
        return prefix
    }

    /// The block's prefix where `bytes` are what `slot` says.
    func prefix(_ bytes: [UInt8], _ slot: Slot, block: Int64) -> BlockCodec.Prefix? {
        codec.prefix(bytes, slot, state.withLock { $0.seals[block] }, block: block, identity: identity)
    }

    // Makes a damaged block absent; `false` where it was written anew since.
    private func drop(_ block: Int64, _ slot: Slot) throws(FileError) -> Bool {
        let isCurrent = state.withLock { state in
            guard state.slots[block] == slot else { return false }
            state.slots[block] = nil
            makeAbsent(&state, block)
            return true
        }
        if isCurrent { try clearSlot(of: block) }
        return isCurrent
    }

    /// A block turned out to be damaged. Under the state's lock.
    func makeAbsent(_ state: inout State, _ block: Int64) {
        state.claimed.remove(layout.range(of: block))
        state.verified.remove(layout.range(of: block))
        state.seals[block] = nil
        state.damaged += 1
    }

    func clearSlot(of block: Int64) throws(FileError) {
        guard canWrite else { return }
        try blocks.write([UInt8](repeating: 0, count: Int(layout.slotSize)), at: layout.slotOffset(of: block))
    }

    // What is verified from here on is verified of the file as it now is.
    private func noteChangeTime() throws(FileError) {
        guard state.withLock({ $0.bodyModified == nil && $0.changesInFlight == 0 }) else { return }
        let modified = try body.status().modified
        state.withLock { state in
            if state.bodyModified == nil, state.changesInFlight == 0 { state.bodyModified = modified }
        }
    }

    /// Takes verification back from everything: each block is checked again before it is handed out. I/O.
    package func withdrawVerification() throws(FileError) {
        let ranges = state.withLock { state -> [ByteRange] in
            let ranges = state.verified.ranges
            state.verified = ByteRangeSet()
            return ranges
        }
        try changes.withLock { _ throws(FileError) in try reclaim(ranges) }
    }

    // Reads the slots of blocks that lost their verification, so that they can be verified anew.
    func reclaim(_ ranges: [ByteRange]) throws(FileError) {
        // Of all before the first is read: where that fails the others are read when they are wanted.
        state.withLock { state in
            for range in ranges {
                let blocks = layout.blocks(covering: range)
                state.verified.remove(blocks)
                state.claimed.remove(blocks)
                state.forgetSlots(of: blocks)
                for block in layout.numbers(covering: range) {
                    state.slots[block] = nil
                    state.seals[block] = nil
                }
            }
        }
        for range in ranges {
            let blocks = layout.numbers(covering: range)
            try reloadSlots(blocks.lowerBound, blocks.upperBound)
        }
    }

    // Reads slots while nothing changes.
    private func reloadSlots(_ first: Int64, _ last: Int64) throws(FileError) {
        let bytes = try slotBytes(first, last)
        state.withLock { take(bytes, first, last, &$0) }
    }
}
