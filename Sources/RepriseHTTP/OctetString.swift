/// Text that came from outside, equal where its octets are.
///
/// The standards compare tags, URLs and credentials octet by octet (RFC 9110 §8.8.3.2, RFC 3986 §6.2.1). `String` compares what
/// Unicode calls equal: U+212A is K there, and two resources, hosts or users would be one. On floors 0 to 3 no two `String`s that are
/// not ours are compared (`scripts/checks/foreign`).
package struct OctetString: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    fileprivate init(_ text: String) { self.text = text }

    package static func == (left: OctetString, right: OctetString) -> Bool {
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in
            right.withUTF8 { right in unsafe left.count == right.count && left.elementsEqual(right) }
        }
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

    /// Whether it ends with the octets of another.
    package func endsLike(_ other: String) -> Bool { utf8.suffix(other.utf8.count).elementsEqual(other.utf8) }
}

extension Substring {
    /// The same text, to be compared.
    package var octets: OctetString { OctetString(String(self)) }
}
