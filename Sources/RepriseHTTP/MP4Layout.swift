import RepriseRanges

/// Whether an MP4 or QuickTime file can be played before all of it is there, told from its first bytes.
///
///     ftyp  moov  mdat ...            playable once moov is there
///     ftyp  moov  moof mdat moof ...  fragmented: the same
///     ftyp  mdat .................. moov   not before the end is there
///
/// Looks at the boxes of the outermost level only (ISO/IEC 14496-12, 4.2). Total: any bytes give an answer.
public enum MP4Layout: Hashable, Sendable {
    /// Not such a file; what follows from that is for others to say.
    case other
    /// Whether it is one, or what comes first in it, needs so many bytes from the start.
    case needs(bytes: Int64)
    /// The index comes before the media; everything before this offset is needed to begin.
    case indexFirst(end: Int64)
    /// The media comes first; the index begins no sooner than this offset, or nobody knows where (`nil`).
    case indexLast(from: Int64?)

    /// Reads what `bytes`, the beginning of a file, tell.
    public init(_ bytes: some RandomAccessCollection<UInt8>) {
        var offset: Int64 = 0
        var isFirst = true
        while true {
            guard let header = BoxHeader(bytes.dropFirst(Int(clamping: offset))) else {
                // What is not a box at the very start is told apart as soon as the type could be read.
                self =
                    isFirst && bytes.count >= 8 && !BoxHeader.isKnownFirst(bytes)
                    ? .other : .needs(bytes: offset.adding(16))
                return
            }
            if isFirst, !header.isKnownFirst {
                self = .other
                return
            }
            isFirst = false
            // A size of 0 means: to the end of the file.
            let end = header.size.map { offset.addingReportingOverflow($0) }
            let next = end.flatMap { $0.overflow ? nil : $0.partialValue }
            switch header.type {
            case "moov":
                // Nothing can follow one that goes on to the end, so it is not first in any useful sense.
                self = next.map { .indexFirst(end: $0) } ?? .indexLast(from: offset)
                return
            case "mdat", "moof":
                self = .indexLast(from: next)
                return
            default:
                guard let next else {
                    self = .indexLast(from: nil)
                    return
                }
                offset = next
            }
        }
    }
}

/// The first bytes of a box.
private struct BoxHeader {
    var type: String
    /// The whole box in bytes, `nil` for "to the end of the file".
    var size: Int64?

    /// What such files begin with; older QuickTime files have no `ftyp`.
    private static let firstTypes: Set<String> = ["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot", "styp"]

    var isKnownFirst: Bool { BoxHeader.firstTypes.contains(type) }

    static func isKnownFirst(_ bytes: some Collection<UInt8>) -> Bool {
        firstTypes.contains(String(decoding: bytes.dropFirst(4).prefix(4), as: UTF8.self))
    }

    /// `nil` where there are too few bytes, or the size is none.
    init?(_ bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(16))
        guard head.count >= 8 else { return nil }
        type = String(decoding: head[4..<8], as: UTF8.self)
        let short = head[0..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        switch short {
        case 0: size = nil
        case 1:
            guard head.count == 16 else { return nil }
            let long = head[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard let known = Int64(exactly: long), known >= 16 else {
                size = nil
                return
            }
            size = known
        case 8...: size = short
        default: size = nil  // 2 to 7 cannot be; nothing is known of what follows
        }
    }
}
