/// Text that came from outside, equal where its octets are.
///
/// The standards compare tags, URLs and credentials octet by octet (RFC 9110 §8.8.3.2, RFC 3986 §6.2.1). `String` compares what
/// Unicode calls equal: U+212A is K there, and two resources, hosts or users would be one. On floors 0 to 3 no two `String`s
/// that are not ours are compared (`scripts/checks/foreign`).
package struct OctetString: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    fileprivate init(_ text: String) { self.text = text }

    package static func == (left: OctetString, right: OctetString) -> Bool {
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                unsafe areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
    }

    /// Eight octets at a time: every reader's entry is found by its key's.
    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        var offset = 0
        while offset + 8 <= left.count {
            let one = unsafe left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let other = unsafe right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if one != other { return false }
            offset += 8
        }
        while offset < left.count {
            guard unsafe left[offset] == right[offset] else { return false }
            offset += 1
        }
        return true
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }

    package var description: String { text }
}

extension String {
    /// The same text, to be compared.
    package var octets: OctetString { OctetString(self) }
}

extension Substring {
    /// The same text, to be compared.
    package var octets: OctetString { OctetString(String(self)) }
}
