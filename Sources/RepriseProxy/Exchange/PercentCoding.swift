import RepriseHTTP

/// Percent-encoding of a parameter's value (RFC 3986 §2.1).
package enum PercentCoding {
    /// Everything but unreserved characters as `%XX`.
    package static func encoded(_ text: String) -> String {
        let plain = Set("-._~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte in
            plain.contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text meant; `nil` where a `%` is not followed by two digits or the bytes are not UTF-8.
    package static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, !digits.beginsLike("+"), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
