import RepriseRanges

/// Ogg: pages; the last one's position tells how long it is, so everybody reads the end. (RFC 3533 §6; Vorbis I §4.2.2;
/// RFC 7845 §5.1.)
struct OggHead {
    let head: ContainerHead
    let known: KnownBytes

    init(_ head: ContainerHead, _ known: KnownBytes) {
        self.head = head
        self.known = known
    }

    /// No page is longer: 27 + 255 + 255 × 255.
    private static let largestPage: Int64 = 65_307

    func step(_ first: [UInt8]) -> HeadStep {
        guard let length = known.length else { return .keep([head.opening(from: 0, rate: ContainerHead.unknownRate)]) }
        let tail = ByteRange(max(0, length - OggHead.largestPage), length)
        guard let end = known.bytes(tail) else { return .look(tail) }
        let duration = lastPosition(end).flatMap { position in clock(first).map { Double(position) / $0 } }
        let rate = duration.map { $0 > 0 ? Double(length) / $0 : ContainerHead.unknownRate }
        return .keep([head.opening(from: 0, rate: rate ?? ContainerHead.unknownRate), tail])
    }

    /// Positions a second, told by the first packet of the stream.
    private func clock(_ bytes: [UInt8]) -> Double? {
        guard bytes.count > 27 else { return nil }
        let packet = 27 + Int(bytes[26])
        if bytes.begins("\u{1}vorbis", at: packet) { return bytes.littleNumber(packet + 12, 4).map { Double($0) } }
        if bytes.begins("OpusHead", at: packet) { return 48_000 }
        if bytes.begins("\u{7F}FLAC", at: packet) { return bytes.number(packet + 27, 3).map { Double($0 >> 4) } }
        if bytes.begins("Speex   ", at: packet) { return bytes.littleNumber(packet + 36, 4).map { Double($0) } }
        return nil
    }

    private func lastPosition(_ bytes: [UInt8]) -> Int64? {
        var offset = bytes.count - 27
        while offset >= 0 {
            // All ones: no packet ends on that page.
            if bytes[offset] == 0x4F, bytes.begins("OggS", at: offset),
                let position = bytes.littleNumber(offset + 6, 8),
                position < .max
            {
                return position
            }
            offset -= 1
        }
        return nil
    }
}
