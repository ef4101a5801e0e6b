import ReprisePlatform
import RepriseRanges

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reading and writing encrypted blocks.
extension Generation {
    // MARK: Reading

    private enum Opened {
        case bytes([UInt8])
        /// Discarded since, or stored anew and not so far.
        case gone
        /// Not what was sealed.
        case damaged(block: Int64)
    }

    /// Reads and opens leased bytes: they are verified by every read. A block that does not open becomes absent. I/O.
    func read(_ range: ByteRange, _ seal: GenerationSeal) throws(FileError) -> [UInt8] {
        if case .bytes(let bytes) = try open(range, seal) { return bytes }
        // What was read may be from the middle of a change: damaged is what still is while nothing changes.
        return try changes.withLock { _ throws(FileError) in
            switch try open(range, seal) {
            case .bytes(let bytes): return bytes
            case .gone: throw FileError.truncated(entryName)
            case .damaged(let block):
                let isClaimed = state.withLock { state in
                    guard state.claimed.contains(layout.start(of: block)) else { return false }
                    state.slots[block] = nil
                    makeAbsent(&state, block)
                    return true
                }
                if isClaimed { try clearSlot(of: block) }
                throw FileError.truncated(entryName)
            }
        }
    }

    /// As `read`, where nobody has to wait for the disk; `nil` where `read` has to find out what there is.
    func readResident(_ range: ByteRange, _ seal: GenerationSeal) -> [UInt8]? {
        do throws(FileError) {
            guard case .bytes(let bytes) = try open(range, seal, mayWait: false) else { return nil }
            return bytes
        } catch {
            return nil  // no call was made that throws
        }
    }

    private func open(
        _ range: ByteRange, _ seal: GenerationSeal, mayWait: Bool = true
    ) throws(FileError) -> Opened {
        let first = layout.block(at: range.lowerBound)
        let last = layout.block(at: range.upperBound - 1)
        let seals = state.withLock { state in (first...last).map { state.seals[$0] } }
        var box: [UInt8] = []
        box.reserveCapacity(Int(layout.blockSize) + SealedBox.overhead)
        var plain: [UInt8] = []
        plain.reserveCapacity(Int(range.count))
        // Block by block, so that what is opened still is in the processor's cache.
        for (block, found) in zip(first...last, seals) {
            guard let found else { return .gone }
            box.replaceSubrange(0..., with: found.nonce)
            let (start, count) = (layout.start(of: block), Int(found.validLength))
            if mayWait {
                try body.read(at: start, count: count, into: &box)
            } else if !body.readResident(at: start, count: count, into: &box) {
                return .gone
            }
            box += found.tag
            guard let bytes = seal.open(box, validLength: found.validLength, block: block) else {
                return .damaged(block: block)
            }
            let wanted = ByteRange(offset: layout.start(of: block), count: Int64(bytes.count)).intersection(range)
            guard let wanted, wanted.upperBound == min(range.upperBound, layout.range(of: block).upperBound) else {
                return .gone
            }
            plain += bytes.dropFirst(Int(wanted.lowerBound - layout.start(of: block))).prefix(Int(wanted.count))
        }
        return .bytes(plain)
    }

    // MARK: Writing

    /// Whether so many blocks may be sealed; notes it in the header beforehand. I/O.
    func mayStore(blocks number: Int64, _ seal: GenerationSeal) throws(FileError) -> Bool {
        while true {
            switch seal.permission(toSeal: number) {
            case .granted: return true
            case .wornOut: return false
            case .note(let used):
                try blocks.write(seal.encoded(used: used), at: GenerationSeal.headerOffset)
                seal.noted(used)
            }
        }
    }

    /// Writes sealed blocks from `firstBlock` on, then their slots, which add `range` to what is stored; `false`, and
    /// nothing written, where the first block's prefix is not stored any more.
    ///
    /// The first block's old ciphertext is overwritten: where that breaks off, what is left is found out by its slot. I/O,
    /// on the generation's lane.
    func write(
        sealed bytes: [UInt8], _ seals: [BlockSeal], firstBlock: Int64, adding range: ByteRange
    ) throws(FileError) -> Bool {
        let start = layout.start(of: firstBlock)
        var slots: [UInt8] = []
        for seal in seals { seal.encode(into: &slots) }
        let isStored = try changes.withLock { _ throws(FileError) in
            guard state.withLock({ $0.claimed.contains(ByteRange(start, range.lowerBound)) }) else { return false }
            do throws(FileError) {
                try changeBody { () throws(FileError) in
                    try body.write(bytes, at: start)
                    try blocks.write(slots, at: layout.slotOffset(of: firstBlock))
                }
            } catch {
                do throws(FileError) { try reclaim([ByteRange(start, range.upperBound)]) } catch {
                    // The slots are read when they are asked for.
                }
                throw error
            }
            state.withLock { state in
                for (index, seal) in seals.enumerated() {
                    state.seals[firstBlock.adding(Int64(index))] = seal
                    state.slots[firstBlock.adding(Int64(index))] = nil
                }
                state.claimed.insert(range)
                state.verified.insert(ByteRange(start, range.upperBound))
                state.unsynced.insert(ByteRange(start, range.upperBound))
                state.slotsEnd = max(state.slotsEnd, layout.blockEnd(of: range.upperBound))
            }
            return true
        }
        if isStored { onSlots?(range) }
        return isStored
    }
}
