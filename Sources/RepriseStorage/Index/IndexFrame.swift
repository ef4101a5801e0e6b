import ReprisePlatform

/// Some records of the index, whole by a checksum or not there.
///
///     | length of the content, 4 | XXH64 of the content, 8 | content: records, in a sealed store sealed |
enum IndexFrame {
    static let headSize = 12
    /// Content of one frame, about: what is lost with one that is torn, and what is decrypted at once.
    static let contentSize = 64 << 10
    /// A longer one is none of ours.
    static let limit = 4 << 20

    /// The frames of records, one after the other.
    static func encoded(_ records: some Sequence<IndexRecord>, _ seal: RootSeal?) -> [UInt8] {
        var frames: [UInt8] = []
        var content: [UInt8] = []
        for record in records {
            record.append(to: &content)
            if content.count >= contentSize { frames.append(frame: &content, seal) }
        }
        if !content.isEmpty { frames.append(frame: &content, seal) }
        return frames
    }

    /// What a frame says of the length of its content; `nil` for none.
    static func contentCount(_ bytes: [UInt8], at index: Int) -> Int? {
        guard bytes.count - index >= headSize else { return nil }
        let count = Int(bytes.littleEndian(at: index) as UInt32)
        return count <= limit ? count : nil
    }

    /// The content of the frame at `index`; `nil` where it is not whole.
    static func content(_ bytes: [UInt8], at index: Int, _ seal: RootSeal?) -> [UInt8]? {
        guard let count = contentCount(bytes, at: index), count <= bytes.count - index - headSize else { return nil }
        let content = Array(bytes[index + headSize..<index + headSize + count])
        guard bytes.littleEndian(at: index + 4) as UInt64 == XXH64.hash(content) else { return nil }
        return seal.map { $0.open(index: content) } ?? content
    }
}

extension [UInt8] {
    fileprivate mutating func append(frame content: inout [UInt8], _ seal: RootSeal?) {
        let sealed = seal?.seal(index: content) ?? content
        append(littleEndian: UInt32(clamping: sealed.count))
        append(littleEndian: XXH64.hash(sealed))
        self += sealed
        content.removeAll(keepingCapacity: true)
    }
}
