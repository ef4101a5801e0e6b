import RepriseRanges

/// FLAC: metadata blocks, then frames; an ID3v2 tag may stand before. (RFC 9639 §6 and §8.)
struct FLACHead {
    let head: ContainerHead
    let known: KnownBytes

    init(_ head: ContainerHead, _ known: KnownBytes) {
        self.head = head
        self.known = known
    }

    /// Whether the mark follows a tag, as far as that is known.
    static func follows(_ bytes: [UInt8], _ known: KnownBytes) -> Bool {
        let end = MP3Head.tagEnd(bytes)
        return end > 0 && known.bytes(ByteRange(offset: end, count: 4))?.begins("fLaC") == true
    }

    func step() -> HeadStep {
        var offset = (known.bytes(ByteRange(0, 10)).map { MP3Head.tagEnd($0) } ?? 0).adding(4)
        var rate = ContainerHead.unknownRate * 2
        for block in 0..<ContainerHead.mostLooks {
            let header = ByteRange(offset: offset, count: 4)
            guard let bytes = known.bytes(header) else { return .look(header) }
            guard bytes.count == 4, let size = bytes.number(1, 3) else { break }
            // What tells of the stream is the first block and no other (§8.1).
            if block == 0, bytes[0] & 0x7F == 0 {
                let info = ByteRange(offset: offset.adding(4), count: 34)
                guard let bytes = known.bytes(info) else { return .look(info) }
                rate = self.rate(bytes) ?? rate
            }
            offset = header.upperBound.adding(size)
            if bytes[0] & 0x80 != 0 { break }
        }
        return .keep([head.opening(from: offset, rate: rate)])
    }

    /// Bytes a second: of the whole where its length is known, else what plain samples would need.
    private func rate(_ info: [UInt8]) -> Double? {
        guard let packed = info.number(10, 8) else { return nil }
        let bits = UInt64(bitPattern: packed)
        let sampleRate = Double(bits >> 44)
        let samples = Double(bits & 0xF_FFFF_FFFF)
        guard sampleRate > 0 else { return nil }
        if let length = known.length, samples > 0 { return Double(length) * sampleRate / samples }
        let channels = Double((bits >> 41 & 7) + 1)
        return sampleRate * channels * Double((bits >> 36 & 31) + 1) / 8
    }
}
