import RepriseHTTP

/// A head and the bytes it was read from, for the next one on its connection: where only the value of `Range` is another,
/// the rest needs no reading. No I/O.
struct ReadHead: Sendable {
    private let head: RequestHead
    private let bytes: [UInt8]
    /// Where the value of `Range` stands, and its line among the fields; `nil` where there is none.
    private let range: (bytes: Range<Int>, line: Int)?

    /// `nil` for a head that has a body behind it, or is not to be repeated in this way.
    /// - Parameter bytes: What `head` was read from, the empty line included.
    init?(_ head: RequestHead, _ bytes: [UInt8]) {
        guard head.body == .none else { return nil }
        let lines = head.fields.lines.indices.filter { head.fields.lines[$0].name.equalsIgnoringCase("Range") }
        guard lines.count <= 1 else { return nil }
        self.head = head
        self.bytes = bytes
        guard let line = lines.first else {
            range = nil
            return
        }
        guard let value = ReadHead.valueOfRange(in: bytes) else { return nil }
        range = (value, line)
    }

    /// The head that `bytes` are, where they are those of this one but for the value of `Range`.
    /// - Parameter bytes: A whole head, the empty line included, whose lines end with CR LF and in which no other control
    ///   characters are.
    func repeated(_ bytes: [UInt8]) -> RequestHead? {
        guard let range else { return bytes == self.bytes ? head : nil }
        let behind = self.bytes.count - range.bytes.upperBound
        let end = bytes.count - behind
        guard end > range.bytes.lowerBound,
            bytes[..<range.bytes.lowerBound] == self.bytes[..<range.bytes.lowerBound],
            bytes[end...] == self.bytes[range.bytes.upperBound...]
        else { return nil }
        let value = bytes[range.bytes.lowerBound..<end]
        // A CR would be another line: then it is not the value alone that is another.
        guard !value.contains(UInt8(ascii: "\r")) else { return nil }
        var head = head
        head.fields.setValue(String(decoding: value, as: UTF8.self), at: range.line)
        return head
    }

    /// Where the value of the first `Range` line stands: behind its colon, up to its CR.
    private static func valueOfRange(in bytes: [UInt8]) -> Range<Int>? {
        let name = Array("range:".utf8)
        var start = 0
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\r")) {
            let line = bytes[start..<end]
            if line.count > name.count, zip(line, name).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 }) {
                return start + name.count..<end
            }
            start = min(end + 2, bytes.count)
        }
        return nil
    }
}
