/// All addresses that begin with the same bits: `10.0.0.0/8`, `fe80::/10`, or one address alone.
package struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
    /// Its first address.
    package let base: IPAddress
    /// How many bits its addresses share: at most 32, or 128.
    package let length: Int

    /// One address.
    package init(_ address: IPAddress) {
        self.init(base: address, length: address.bytes.count * 8)
    }

    private init(base: IPAddress, length: Int) {
        self.base = base
        self.length = length
    }

    /// Reads `address/bits` or an address alone; bits behind the shared ones do not matter.
    package init?(_ text: some StringProtocol) {
        let parts = text.parts(between: "/")
        guard let first = parts.first, parts.count <= 2, let address = IPAddress(first) else { return nil }
        guard parts.count == 2 else {
            self.init(address)
            return
        }
        guard let bits = Int(parts[1]), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        // A mapped address was written with 128 bits and has become one of 32.
        let isMapped = address.isVersion4 && first.has(":")
        let length = isMapped ? bits - 96 : bits
        guard (0...address.bytes.count * 8).contains(length) else { return nil }
        let kept = address.bytes.enumerated().map { index, byte in
            let shared = min(max(length - index * 8, 0), 8)
            return shared == 0 ? 0 : byte & (0xFF << UInt8(8 - shared))
        }
        guard let base = IPAddress(bytes: kept) else { return nil }
        self.init(base: base, length: length)
    }

    /// Whether `address` is one of its addresses.
    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        let whole = length / 8
        guard address.bytes[..<whole] == base.bytes[..<whole] else { return false }
        let rest = UInt8(length % 8)
        return rest == 0 || (address.bytes[whole] ^ base.bytes[whole]) >> (8 - rest) == 0
    }

    /// The address, and the bits where they are not all.
    package var description: String { length == base.bytes.count * 8 ? "\(base)" : "\(base)/\(length)" }
}
