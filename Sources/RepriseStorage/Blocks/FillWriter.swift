package import ReprisePlatform
import RepriseRanges

/// Stores what one transfer brings, wherever it may be stored: skips what is stored already, writes anew what is damaged, takes
/// up a block's verified prefix, and leaves out bytes that have none to stand on. Confined to its generation's write lane.
package final class FillWriter: @unchecked Sendable {
    // @unchecked: the block writer is only touched by work on one write lane, which runs one piece at a time.
    package let generation: Generation
    private var writer: (any BlockWriter)?
    private var damagedBlocks: Int64 = 0

    package init(generation: Generation) { self.generation = generation }

    /// Whether the files it writes have no name any more. I/O.
    package func isUnlinked() throws(FileError) -> Bool { try generation.isUnlinked() }

    /// How many damaged blocks it has found since this was asked last, also by writes that failed.
    package func takeDamagedBlocks() -> Int64 {
        defer { damagedBlocks = 0 }
        return damagedBlocks
    }

    /// Writes `chunks`, which follow each other from `offset`. I/O.
    package func write(_ chunks: [ArraySlice<UInt8>], at offset: Int64) throws(FileError) {
        var position = offset
        var pending: [ArraySlice<UInt8>] = []
        var pendingBytes: Int64 = 0
        for chunk in chunks {
            var rest = chunk
            while !rest.isEmpty {
                let space = writer?.position == position - pendingBytes ? try space(at: position, upTo: rest.count) : 0
                if space > 0 {
                    pending.append(rest.prefix(space))
                    pendingBytes += Int64(space)
                    position += Int64(space)
                    rest = rest.dropFirst(space)
                    continue
                }
                try flush(&pending)
                pendingBytes = 0
                let skip = min(try takePosition(position), Int64(rest.count))
                position += skip
                rest = rest.dropFirst(Int(skip))
            }
        }
        try flush(&pending)
    }

    private func flush(_ pending: inout [ArraySlice<UInt8>]) throws(FileError) {
        guard !pending.isEmpty else { return }
        defer { pending.removeAll() }
        try writer?.write(pending)
    }

    // How many of `count` bytes from `position` on lie before the next claimed byte.
    private func space(at position: Int64, upTo count: Int) throws(FileError) -> Int {
        switch generation.availability(at: position) {
        case .absent(let end): return Int(min(min(end, BlockLayout.longestStored) - position, Int64(count)))
        case .verified, .claimed: return 0
        case .unloaded(let range):
            try generation.load(range)
            return try space(at: position, upTo: count)
        }
    }

    // Puts the block writer at `position` if bytes can be stored there; answers how many bytes to pass over if not.
    private func takePosition(_ position: Int64) throws(FileError) -> Int64 {
        writer = nil
        if position >= BlockLayout.longestStored { return .max - position }
        switch generation.availability(at: position) {
        case .verified(let end): return end - position
        case .claimed(let end):
            // What is damaged would have to come again, and from an origin without ranges all of it.
            let block = generation.layout.range(of: generation.layout.block(at: position))
            do throws(FileError) { damagedBlocks += try generation.verify(block) } catch {
                // What cannot be read now is left as it is.
            }
            // A reader's look ahead may have dropped it first.
            guard case .claimed = generation.availability(at: position) else { return 0 }
            return min(end, block.upperBound) - position
        case .unloaded(let range):
            try generation.load(range)
            return 0
        case .absent: break
        }
        writer = try generation.makeWriter(at: position)
        if writer != nil { return 0 }
        return generation.layout.blockEnd(of: position) - position
    }
}
