import RepriseHTTP

/// Whom a request is addressed to: the value of `Host`, or the authority of an absolute target.
enum HostField {
    /// Whether it has the form `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2); the host may be empty.
    static func isValid(_ text: String) -> Bool {
        var bytes = text.utf8[...]
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")),
                IPAddress(String(decoding: bytes[...end], as: UTF8.self)) != nil
            else { return false }
            bytes = bytes[bytes.index(after: end)...]
        } else {
            let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            guard isName(bytes[..<end]) else { return false }
            bytes = bytes[end...]
        }
        return bytes.isEmpty || bytes.first == UInt8(ascii: ":") && bytes.dropFirst().allSatisfy(\.isDigit)
    }

    private static func isName(_ name: Substring.UTF8View) -> Bool {
        var rest = name
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                break
            // sub-delims: ! $ & ' ( ) * + , and ; =
            case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","), UInt8(ascii: ";"),
                UInt8(ascii: "="):
                break
            case UInt8(ascii: "%"):
                guard rest.popFirst()?.hexDigit != nil, rest.popFirst()?.hexDigit != nil else { return false }
            default: return false
            }
        }
        return true
    }
}
