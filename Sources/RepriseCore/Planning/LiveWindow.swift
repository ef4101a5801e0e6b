package import RepriseRanges

/// The newest bytes of a transfer, in the pieces they came in: what readers get before, or instead of, the disk.
///
///     base            drained              head
///      |-- on disk too --|-- only here ------|
///
/// Pieces are shared, never copied: a reader's slice keeps its piece alive after the window has let go of it.
package struct LiveWindow: Sendable {
    private var pieces: [ArraySlice<UInt8>] = []
    private var first = 0
    /// Offset of the first byte held.
    package private(set) var base: Int64
    /// Offset just past the last byte held.
    package private(set) var head: Int64
    /// Everything before this offset is on disk, or will never be.
    package var drained: Int64

    package init(at offset: Int64) {
        base = offset
        head = offset
        drained = offset
    }

    /// Bytes held.
    package var count: Int64 { head - base }

    /// Bytes that are only here.
    package var undrained: Int64 { head - drained }

    /// The range held.
    package var range: ByteRange { ByteRange(base, head) }

    /// Adds a chunk at the head. Small ones are joined: an origin that sends single bytes must not cost an allocation each.
    package mutating func append(_ chunk: ArraySlice<UInt8>) {
        head += Int64(chunk.count)
        guard let last = pieces.last, first < pieces.count, last.count + chunk.count <= LiveWindow.joined else {
            return pieces.append(chunk)
        }
        pieces[pieces.count - 1].append(contentsOf: chunk)
    }

    /// Chunks are joined up to so many bytes. (Small against every window, and what a socket gives at once is not copied.)
    private static let joined = 512

    /// Bytes from `offset` on, at most `limit` and at most one piece; `nil` where `offset` is not held.
    package func slice(at offset: Int64, limit: Int) -> ArraySlice<UInt8>? {
        guard offset >= base, offset < head else { return nil }
        var start = base
        for index in first..<pieces.count {
            let piece = pieces[index]
            let end = start.adding(Int64(piece.count))
            if offset < end { return piece.dropFirst(Int(offset - start)).prefix(limit) }
            start = end
        }
        return nil
    }

    /// The held bytes of `range`, copied, over the borders of pieces; for small ranges.
    package func bytes(in range: ByteRange) -> [UInt8] {
        var bytes: [UInt8] = []
        var position = range.lowerBound
        while position < range.upperBound, let piece = slice(at: position, limit: Int(range.upperBound - position)) {
            bytes += piece
            position += Int64(piece.count)
        }
        return bytes
    }

    /// The pieces from `drained` on, at most about `limit` bytes and none past `end`, for the disk.
    package func undrainedPieces(limit: Int64, before end: Int64 = .max) -> [ArraySlice<UInt8>] {
        var result: [ArraySlice<UInt8>] = []
        var size: Int64 = 0
        var start = base
        for index in first..<pieces.count where size < limit && start < end {
            let piece = pieces[index]
            let pieceEnd = start.adding(Int64(piece.count))
            if pieceEnd > drained {
                let part = piece.prefix(Int(min(pieceEnd, end) - start)).dropFirst(Int(max(0, drained - start)))
                if !part.isEmpty { result.append(part) }
                size += Int64(part.count)
            }
            start = pieceEnd
        }
        return result
    }

    /// Lets go of whole pieces before `offset`.
    package mutating func trim(before offset: Int64) {
        while first < pieces.count, base.adding(Int64(pieces[first].count)) <= offset {
            base += Int64(pieces[first].count)
            pieces[first] = []
            first += 1
        }
        if first == pieces.count || first > 64 {
            pieces.removeFirst(first)
            first = 0
        }
        drained = max(drained, base)
    }
}
