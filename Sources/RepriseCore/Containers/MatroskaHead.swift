import RepriseRanges

/// Matroska and WebM: a segment of elements; its seek head tells where the index (cues) is. (RFC 8794 §4 to 6; RFC 9559
/// §5.1 and §6.)
struct MatroskaHead {
    let head: ContainerHead
    let known: KnownBytes

    init(_ head: ContainerHead, _ known: KnownBytes) {
        self.head = head
        self.known = known
    }

    private enum Kind {
        static let segment: Int64 = 0x1853_8067
        static let seekHead: Int64 = 0x114D_9B74
        static let seek: Int64 = 0x4DBB
        static let seekID: Int64 = 0x53AB
        static let seekPosition: Int64 = 0x53AC
        static let info: Int64 = 0x1549_A966
        static let timestampScale: Int64 = 0x2A_D7B1
        static let duration: Int64 = 0x4489
        static let cluster: Int64 = 0x1F43_B675
        static let cues: Int64 = 0x1C53_BB6B
        static let cuePoint: Int64 = 0xBB
        static let cueTime: Int64 = 0xB3
        static let cueTrackPositions: Int64 = 0xB7
        static let cueClusterPosition: Int64 = 0xF1
    }

    /// An element's head: what it is, where its content begins and ends.
    private struct Element {
        var kind: Int64
        var content: Int64
        /// `Int64.max` for one of unknown size.
        var end: Int64

        /// Reads the head at `offset` of `bytes`, which lie at `base` in the file.
        init?(_ bytes: [UInt8], _ offset: Int, base: Int64) {
            guard let (kind, idLength) = MatroskaHead.vint(bytes, offset, keepsMark: true),
                let (size, sizeLength) = MatroskaHead.vint(bytes, offset + idLength, keepsMark: false)
            else { return nil }
            self.kind = kind
            content = base.adding(Int64(offset + idLength + sizeLength))
            end = size == .max ? .max : content.adding(size)
        }
    }

    // An element's id keeps its length mark, a size does not; all ones of a size mean that it is not known.
    private static func vint(_ bytes: [UInt8], _ offset: Int, keepsMark: Bool) -> (value: Int64, length: Int)? {
        guard offset < bytes.count, bytes[offset] != 0 else { return nil }
        let length = bytes[offset].leadingZeroBitCount + 1
        guard let number = bytes.number(offset, length) else { return nil }
        if keepsMark { return (number, length) }
        let bits = 7 * length
        let value = number & ((Int64(1) << Int64(bits)) - 1)
        return (value == (Int64(1) << Int64(bits)) - 1 ? .max : value, length)
    }

    private struct Facts {
        var cues: Int64?
        var scale: Int64 = 1_000_000
        var duration: Double?
        var firstCluster: Int64?
    }

    func step() -> HeadStep {
        var facts = Facts()
        guard let ebml = element(at: 0), ebml.end < .max else { return .look(headRange(0)) }
        guard let segment = element(at: ebml.end) else { return .look(headRange(ebml.end)) }
        guard segment.kind == Kind.segment else { return .keep([ByteRange(0, head.fallback(known))]) }
        var offset = segment.content
        for _ in 0..<ContainerHead.mostLooks {
            guard let found = element(at: offset) else {
                if known.length.map({ offset >= $0 }) ?? false { break }
                if known.covers(headRange(offset)) { break }
                return .look(headRange(offset))
            }
            if found.kind == Kind.cluster {
                facts.firstCluster = offset
                break
            }
            if found.kind == Kind.cues { facts.cues = offset }
            guard found.end < .max, found.end - offset <= ContainerHead.largestLook else { break }
            if found.kind == Kind.seekHead || found.kind == Kind.info {
                let range = ByteRange(found.content, found.end)
                guard let bytes = known.bytes(range) else { return .look(range) }
                note(bytes, of: found.kind, segment.content, &facts)
            }
            offset = found.end
        }
        return keeping(facts, segment.content)
    }

    private func keeping(_ facts: Facts, _ base: Int64) -> HeadStep {
        let start = facts.firstCluster ?? base
        var rate = ContainerHead.unknownRate * 4
        if let length = known.length, let duration = facts.duration, duration > 0 {
            rate = Double(length) / (duration * Double(facts.scale) / 1e9)
        }
        var ranges = [head.opening(from: start, rate: rate)]
        if let place = facts.cues, known.length.map({ place < $0 }) ?? true {
            guard let cues = element(at: place) else {
                return known.covers(headRange(place)) ? .keep(ranges) : .look(headRange(place))
            }
            if cues.kind == Kind.cues, cues.end < .max, cues.end - place <= ContainerHead.largestLook {
                let content = ByteRange(cues.content, cues.end)
                guard let bytes = known.bytes(content) else { return .look(ByteRange(place, cues.end)) }
                ranges.append(ByteRange(place, cues.end))
                let time = Int64(head.seconds * 1e9 / Double(max(1, facts.scale)))
                if let cluster = cluster(after: time, bytes) {
                    ranges[0] = ByteRange(0, base.adding(cluster).adding(ContainerHead.slack))
                }
            }
        }
        return .keep(ranges)
    }

    private func headRange(_ offset: Int64) -> ByteRange { ByteRange(offset: offset, count: ContainerHead.firstLook) }

    /// The element at `offset`, as far as 12 bytes tell; `nil` where they are not known, or tell nothing.
    private func element(at offset: Int64) -> Element? {
        guard let bytes = known.bytes(ByteRange(offset: offset, count: 12)) else { return nil }
        return Element(bytes, 0, base: offset)
    }

    /// Calls `body` for each element in `bytes`.
    private func children(_ bytes: [UInt8], _ body: (Int64, [UInt8]) -> Void) {
        var offset = 0
        while let element = Element(bytes, offset, base: 0), element.end <= Int64(bytes.count) {
            body(element.kind, Array(bytes[Int(element.content)..<Int(element.end)]))
            offset = Int(element.end)
        }
    }

    private func note(_ bytes: [UInt8], of kind: Int64, _ base: Int64, _ facts: inout Facts) {
        var found = facts
        children(bytes) { kind, content in
            switch kind {
            case Kind.timestampScale: found.scale = content.number(0, min(8, content.count)) ?? found.scale
            case Kind.duration: found.duration = float(content)
            case Kind.seek:
                var id: Int64?
                var position: Int64?
                children(content) { kind, content in
                    if kind == Kind.seekID { id = content.number(0, min(8, content.count)) }
                    if kind == Kind.seekPosition { position = content.number(0, min(8, content.count)) }
                }
                if id == Kind.cues, let position { found.cues = base.adding(position) }
            default: break
            }
        }
        facts = found
    }

    private func float(_ bytes: [UInt8]) -> Double? {
        switch bytes.count {
        case 4: bytes.number(0, 4).map { Double(Float(bitPattern: UInt32($0))) }
        case 8: Double(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        default: nil
        }
    }

    /// Where the first cluster begins that the index names for a time after `time`, from the segment's start.
    private func cluster(after time: Int64, _ cues: [UInt8]) -> Int64? {
        var best: Int64?
        children(cues) { kind, content in
            guard kind == Kind.cuePoint, best == nil else { return }
            var at: Int64 = 0
            var place: Int64?
            children(content) { kind, content in
                if kind == Kind.cueTime { at = content.number(0, min(8, content.count)) ?? 0 }
                guard kind == Kind.cueTrackPositions else { return }
                children(content) { kind, content in
                    if kind == Kind.cueClusterPosition { place = content.number(0, min(8, content.count)) }
                }
            }
            if at > time { best = place }
        }
        return best
    }
}
