/// A parser of foreign bytes, and what holds for every input. `make fuzz` looks for inputs by coverage; the tests run the
/// seeds, the corpora and what is made of them by chance.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    package let name: String
    /// Inputs that reach far, and those that once broke something.
    package let seeds: [[UInt8]]
    /// Gives the parser an input. Throws where what has to hold does not.
    package let run: @Sendable ([UInt8]) throws -> Void

    package var description: String { name }

    init(_ name: String, seeds: [[UInt8]], _ run: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.seeds = seeds
        self.run = run
    }

    /// One whose inputs are texts.
    init(_ name: String, texts: [String], _ run: @escaping @Sendable (String) throws -> Void) {
        self.init(name, seeds: texts.map { Array($0.utf8) }) { try run(String(decoding: $0, as: UTF8.self)) }
    }

    /// All of them, by what their bytes are.
    package static let all: [FuzzTarget] =
        fieldTargets + addressTargets + messageTargets + requestTargets + containerTargets + storeTargets
}

/// Something that has to hold for every input, and does not.
package struct BrokenRule: Error, CustomStringConvertible {
    package var description: String
}

/// Throws unless `condition` holds.
func require(_ condition: Bool, _ rule: @autoclosure () -> String) throws {
    if !condition { throw BrokenRule(description: rule()) }
}

/// Throws unless a text is read by its octets: with an accent that joins the letter before it as with a letter that stands alone.
///
/// `String` takes a comma with an accent behind it for one character. On the wire it is a comma.
func requireOctets(_ text: String, _ read: (String) -> String?) throws {
    // One joins what stands before it, the other what comes behind.
    for mark in ["\u{301}", "\u{600}"] as [Unicode.Scalar] { try requireOctets(text, mark, read) }
}

private func requireOctets(_ text: String, _ accent: Unicode.Scalar, _ read: (String) -> String?) throws {
    let letters: [Unicode.Scalar] = ["\u{E9}", "\u{EE}", "\u{FC}"]
    guard let letter = letters.first(where: { !text.unicodeScalars.contains($0) }) else { return }
    func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == accent ? letter : $0 }))
    }
    let (found, expected) = (read(text).map(plain), read(plain(text)))
    try require(
        found.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
        "read as \(found?.debugDescription ?? "none") instead of \(expected?.debugDescription ?? "none")")
}

/// An input that says first how it is to be used.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The next byte; 0 where there is none.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// The next two bytes as a number.
    mutating func number() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// A time, small or large, before or after 1970.
    mutating func time() -> Int64 {
        let mantissa = Int64(number()) - 1 << 15
        let shift = byte() % 64
        // Past the ends, too: what a damaged file says is any number.
        return shift < 48 ? mantissa << Int64(shift) : mantissa < 0 ? .min : .max
    }
}
