import RepriseRanges

/// MP4 and QuickTime: boxes; the index (`moov`) before the media or after it. (ISO/IEC 14496-12 §4.2, §8.)
struct MP4Head {
    let head: ContainerHead
    let known: KnownBytes

    init(_ head: ContainerHead, _ known: KnownBytes) {
        self.head = head
        self.known = known
    }

    private static let firstTypes: Set<String> = ["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot", "styp"]

    static func isOne(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 8 && firstTypes.contains(String(decoding: bytes[4..<8], as: UTF8.self))
    }

    /// A box of the outermost level.
    private struct Box {
        var type: String
        var range: ByteRange
    }

    func step() -> HeadStep {
        var offset: Int64 = 0
        var media: ByteRange?
        for _ in 0..<ContainerHead.mostLooks {
            if let length = known.length, offset >= length { break }
            let look = ByteRange(offset: offset, count: ContainerHead.firstLook)
            guard let bytes = known.bytes(ByteRange(offset: offset, count: 16)) else { return .look(look) }
            guard let box = box(bytes, offset) else { break }
            switch box.type {
            case "moov":
                guard box.range.upperBound < .max, box.range.count <= ContainerHead.largestLook else {
                    return .keep([ByteRange(0, box.range.lowerBound.adding(head.fallback(known)))])
                }
                guard let index = known.bytes(box.range) else { return .look(box.range) }
                return keep(box.range, index, media)
            case "mdat": media = media ?? box.range
            case "moof":
                return .keep([ByteRange(0, offset.adding(head.fallback(known)))])
            default: break
            }
            guard box.range.upperBound < .max else { break }
            offset = box.range.upperBound
        }
        return .keep([ByteRange(0, head.fallback(known))])
    }

    private func keep(_ place: ByteRange, _ index: [UInt8], _ media: ByteRange?) -> HeadStep {
        var ranges = [place, ByteRange(0, ContainerHead.firstLook)]
        let movie = MP4Index(index)
        if let end = movie.end(after: head.seconds) {
            let start = min(movie.start ?? 0, end)
            ranges.append(ByteRange(start, end.adding(ContainerHead.slack)))
        } else {
            // Fragments, or a table that is not understood: by the average, from the index or the media on.
            let rate = known.length.flatMap { length in movie.duration.map { Double(length) / $0 } }
            let start = media?.lowerBound ?? place.upperBound
            let bytes = Int64.bytes(head.seconds, at: rate ?? ContainerHead.unknownRate * 4)
            ranges.append(ByteRange(start, start.adding(bytes).adding(ContainerHead.slack)))
        }
        // Players that find the media first read into it before they jump to the index.
        if let media, media.lowerBound < place.lowerBound {
            ranges.append(ByteRange(0, media.lowerBound.adding(ContainerHead.slack)))
        }
        return .keep(ranges)
    }

    private func box(_ bytes: [UInt8], _ offset: Int64) -> Box? {
        guard bytes.count >= 8, let short = bytes.number(0, 4) else { return nil }
        let type = String(decoding: bytes[4..<8], as: UTF8.self)
        switch short {
        case 0: return Box(type: type, range: .from(offset))
        case 1:
            guard let long = bytes.number(8, 8), long >= 16 else { return nil }
            return Box(type: type, range: ByteRange(offset, offset.adding(long)))
        case 8...: return Box(type: type, range: ByteRange(offset, offset.adding(short)))
        default: return nil
        }
    }
}
