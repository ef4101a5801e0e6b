/// The name of an entry's folder, 64 hexadecimal digits, as the 32 bytes they stand for.
struct EntryName: Hashable, Comparable, Sendable {
    static let size = 32
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// - Parameter folder: A folder's name; `nil` for one that no store makes.
    init?(_ folder: String) {
        guard let bytes = [UInt8](hexadecimal: folder), bytes.count == EntryName.size else { return nil }
        self.init(bytes, at: 0)
    }

    init(_ bytes: [UInt8], at index: Int) {
        func word(_ offset: Int) -> UInt64 { UInt64(bigEndian: bytes.littleEndian(at: index + offset)) }
        words = (word(0), word(8), word(16), word(24))
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for word in [words.0, words.1, words.2, words.3] { bytes.append(littleEndian: word.bigEndian) }
        return bytes
    }

    /// The folder's name.
    var folder: String { bytes.hexadecimal }

    /// The folder above, 0 to 255: the first two digits.
    var prefix: Int { Int(words.0 >> 56) }

    static func == (one: EntryName, other: EntryName) -> Bool { one.words == other.words }

    static func < (one: EntryName, other: EntryName) -> Bool { one.words < other.words }

    /// It is a hash itself.
    func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
