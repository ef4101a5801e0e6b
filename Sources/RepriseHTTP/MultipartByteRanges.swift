package import RepriseRanges

/// The body of a `multipart/byteranges` answer (RFC 9110 §14.6), laid out without a byte of it: which text and which bytes
/// of the representation follow one another.
///
///     --B CRLF fields CRLF CRLF bytes    CRLF --B CRLF fields CRLF CRLF bytes    CRLF --B-- CRLF
///
/// Parts come in the order asked for. Texts are made when they are sent: a body of many parts holds no more than one.
package struct MultipartByteRanges: Sendable, Hashable {
    /// One stretch of the body.
    package enum Piece: Sendable, Hashable {
        /// Text as it is.
        case text(String)
        /// These bytes of the representation.
        case bytes(ByteRange)
    }

    package let ranges: [ByteRange]
    /// Length of the whole representation.
    package let total: Int64
    /// The representation's own type, which each part repeats.
    package let partType: String
    package let boundary: String

    /// Lays out a body.
    /// - Parameters:
    ///   - ranges: The parts, each inside of 0..<`total` and none empty.
    ///   - boundary: A text that no part holds; random, so that nobody can prepare bytes that do.
    package init(ranges: [ByteRange], total: Int64, partType: String, boundary: String) {
        self.ranges = ranges
        self.total = total
        self.partType = partType
        self.boundary = boundary
    }

    /// The answer's `Content-Type`.
    package var contentType: String { "multipart/byteranges; boundary=\(boundary)" }

    /// Bytes of the body: exactly what the pieces hold.
    package var length: Int64 {
        pieces.reduce(0) { sum, piece in
            switch piece {
            case .text(let text): sum.adding(Int64(text.utf8.count))
            case .bytes(let range): sum.adding(range.count)
            }
        }
    }

    /// The stretches in order, made one by one.
    package var pieces: some Sequence<Piece> { (0..<pieceCount).lazy.map(piece(at:)) }

    /// Number of stretches: a head and bytes a part, and the closing line.
    package var pieceCount: Int { ranges.count * 2 + 1 }

    /// The stretch at `index` below `pieceCount`.
    package func piece(at index: Int) -> Piece {
        let part = index / 2
        if part == ranges.count { return .text("\r\n--\(boundary)--\r\n") }
        if index % 2 == 1 { return .bytes(ranges[part]) }
        let range = ContentRange.satisfied(ranges[part], total: total).field
        let opening = part == 0 ? "--" : "\r\n--"
        return .text("\(opening)\(boundary)\r\nContent-Type: \(partType)\r\nContent-Range: \(range)\r\n\r\n")
    }
}
