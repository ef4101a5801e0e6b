package import ReprisePlatform
package import RepriseRanges

/// Giving blocks back.
extension Generation {
    /// Gives the whole blocks inside `range` back: absent at once, punched when no lease covers them. I/O. Answers the bytes
    /// that must wait for a lease; call `punchPending` later. A body with another name was given away as a file, by this
    /// process or one before it: nothing of it is given back.
    @discardableResult
    package func discard(_ range: ByteRange) throws(FileError) -> ByteRangeSet {
        let slotsEnd = state.withLock { $0.slotsEnd }
        let first = layout.block(at: layout.blockEnd(of: range.lowerBound))
        let last = layout.block(at: min(range.upperBound, slotsEnd))
        guard first < last else { return ByteRangeSet() }
        let blocksRange = layout.range(from: first, upTo: last)
        if try body.status().links > 1 { return ByteRangeSet([blocksRange]) }
        try changes.withLock { _ throws(FileError) in
            state.withLock { state in
                state.verified.remove(blocksRange)
                state.claimed.remove(blocksRange)
                state.loaded.insert(blocksRange)
                for block in first..<last { state.slots[block] = nil }
            }
            let zeros = [UInt8](repeating: 0, count: Int(layout.slotsSize(last - first)))
            do throws(FileError) { try blocks.write(zeros, at: layout.slotOffset(of: first)) } catch {
                // What the slots say now is read anew; nothing was punched.
                state.withLock { $0.forgetSlots(of: blocksRange) }
                throw error
            }
            state.withLock { $0.pendingPunch.insert(blocksRange) }
        }
        return try punchPending()
    }

    /// Punches what `discard` left to wait and no lease covers any more; answers what still waits. I/O.
    @discardableResult
    package func punchPending() throws(FileError) -> ByteRangeSet {
        try changes.withLock { _ throws(FileError) in
            let free = state.withLock { state -> [ByteRange] in
                var free = state.pendingPunch
                for lease in state.leases.extents { free.remove(codec.read(for: lease, layout)) }
                for claimed in state.claimed.ranges { free.remove(claimed) }
                return free.ranges
            }
            for range in free {
                try changeBody { () throws(FileError) in
                    try body.punch(offset: range.lowerBound, count: range.count)
                }
                state.withLock { $0.noteReleased(range, layout) }
            }
        }
        return state.withLock { $0.pendingPunch }
    }
}
