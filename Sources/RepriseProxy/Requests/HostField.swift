import RepriseHTTP

/// Whom a request is addressed to: the value of `Host`, or the authority of an absolute target.
enum HostField {
    /// Whether it has the form `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2); the host may be empty.
    static func isValid(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")),
                IPAddress(String(decoding: bytes[...end], as: UTF8.self)) != nil
            else { return false }
            bytes = bytes[(end + 1)...]
        } else {
            let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            guard isName(bytes[..<end]) else { return false }
            bytes = bytes[end...]
        }
        return bytes.isEmpty || bytes.first == UInt8(ascii: ":") && bytes.dropFirst().allSatisfy(\.isDigit)
    }

    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        var rest = name
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.popFirst()?.hexDigit != nil, rest.popFirst()?.hexDigit != nil else { return false }
            } else if !nameBytes.contains(byte) {
                return false
            }
        }
        return true
    }

    /// What a registered name is made of, besides percent-encoded bytes.
    private static let nameBytes = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=".utf8)
}
