extension SeededGenerator {
    private static let texts = [
        " ", "\t", ",", ";", "=", "-", "/", "*", "\"", "\\", "@", ":", "?", "#", "[", "%", ".", "+",
    ]
    private static let inserted =
        texts.map { Array($0.utf8) }
        + ["\r\n", "\0", "\u{301}", "\u{E9}", "\u{1F3B5}", "\u{660}", "9"].map { Array($0.utf8) }
        + [[0xFF], [0x80], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0]]

    /// Makes another input for a parser of `bytes`: what separates, escapes or is no text is put in, something is taken out or
    /// changed, the whole is turned, or ends as one of `seeds` does.
    package mutating func mutate(_ bytes: inout [UInt8], seeds: [[UInt8]]) {
        let index = Int.random(in: 0...bytes.count, using: &self)
        switch Int.random(in: 0..<6, using: &self) {
        case 0: bytes.insert(contentsOf: SeededGenerator.inserted.randomElement(using: &self) ?? [], at: index)
        case 1: bytes.removeSubrange(index..<min(bytes.count, index + .random(in: 1...8, using: &self)))
        case 2: if index < bytes.count { bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self) }
        case 3: if index < bytes.count { bytes[index] = .random(in: 0...255, using: &self) }
        case 4: bytes = Array(bytes[index...] + bytes[..<index])
        default: bytes.replaceSubrange(index..., with: (seeds.randomElement(using: &self) ?? []).dropFirst(index))
        }
    }
}
