import RepriseRanges

/// MP3: an ID3v2 tag, frames of which the first may be a Xing or VBRI header, an ID3v1 tag at the end.
/// (ISO/IEC 11172-3 §2.4.1.3; id3.org: "ID3 tag version 2.4.0 - Main Structure" §3.1.)
struct MP3Head {
    let head: ContainerHead
    let known: KnownBytes

    init(_ head: ContainerHead, _ known: KnownBytes) {
        self.head = head
        self.known = known
    }

    /// Players look for tags here: ID3v1 has 128 bytes, a footer of APE 32 before it.
    private static let tail: Int64 = 160

    static func isOne(_ bytes: [UInt8]) -> Bool { bytes.begins("ID3") || Frame(bytes) != nil }

    /// Where the tag ends that a file may begin with; 0 without one.
    static func tagEnd(_ bytes: [UInt8]) -> Int64 {
        guard bytes.begins("ID3"), bytes.count >= 10, bytes[6..<10].allSatisfy({ $0 < 0x80 }) else { return 0 }
        let size = bytes[6..<10].reduce(Int64(0)) { $0 << 7 | Int64($1) }
        return size.adding(bytes[5] & 0x10 != 0 ? 20 : 10)
    }

    func step() -> HeadStep {
        let start = known.bytes(ByteRange(0, 10)).map { MP3Head.tagEnd($0) } ?? 0
        let look = ByteRange(offset: start, count: 4096)
        guard let bytes = known.bytes(look) else { return .look(look) }
        let rate = Frame(bytes)?.rate(bytes) ?? ContainerHead.unknownRate
        var ranges = [head.opening(from: start, rate: rate)]
        if let length = known.length { ranges.append(ByteRange(max(0, length - MP3Head.tail), length)) }
        return .keep(ranges)
    }

    /// A frame's four bytes.
    struct Frame {
        /// Bits a second.
        let bitRate: Int
        let sampleRate: Int
        let samples: Int
        private let sideInfo: Int

        // Layer III, MPEG 1, then 2 and 2.5; thousands of bits a second.
        private static let rates = [
            [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
            [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
        ]

        init?(_ bytes: [UInt8]) {
            guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] & 0xE6 == 0xE2 else { return nil }
            let version = bytes[1] >> 3 & 3
            let rate = Int(bytes[2] >> 4)
            let frequency = Int(bytes[2] >> 2 & 3)
            guard version != 1, rate > 0, rate < 15, frequency < 3 else { return nil }
            let isFirst = version == 3
            bitRate = Frame.rates[isFirst ? 0 : 1][rate] * 1000
            sampleRate = [44_100, 48_000, 32_000][frequency] / (isFirst ? 1 : version == 2 ? 2 : 4)
            samples = isFirst ? 1152 : 576
            let isMono = bytes[3] >> 6 == 3
            sideInfo = isFirst ? (isMono ? 17 : 32) : (isMono ? 9 : 17)
        }

        /// Bytes a second: the average where a Xing, Info or VBRI header tells it, else this frame's.
        func rate(_ bytes: [UInt8]) -> Double {
            let own = Double(bitRate) / 8
            var sums: (frames: Int64, bytes: Int64)?
            let place = 4 + sideInfo
            if bytes.begins("Xing", at: place) || bytes.begins("Info", at: place) {
                if let flags = bytes.number(place + 4, 4), flags & 3 == 3, let frames = bytes.number(place + 8, 4),
                    let size = bytes.number(place + 12, 4)
                {
                    sums = (frames, size)
                }
            } else if bytes.begins("VBRI", at: 36), let size = bytes.number(46, 4), let frames = bytes.number(50, 4) {
                sums = (frames, size)
            }
            guard let sums, sums.frames > 0 else { return own }
            return Double(sums.bytes) * Double(sampleRate) / (Double(sums.frames) * Double(samples))
        }
    }
}
