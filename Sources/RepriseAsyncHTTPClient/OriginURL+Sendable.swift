#if Server
    import RepriseHTTP

    extension OriginURL {
        /// The URL as the library can take it. What RFC 3986 allows stays byte for byte; a character it does not allow
        /// is escaped here, alone: the library would escape the escapes around it once more.
        var sendable: String {
            let text = description
            let marks = Set("-._~:/?#[]@!$&'()*+,;=%".utf8)
            let targetStart = text.utf8.count - target.utf8.count
            let bytes = Array(text.utf8)
            var result: [UInt8] = []
            for (index, byte) in bytes.enumerated() {
                let isLetterOrDigit =
                    byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter || (0x30...0x39).contains(byte)
                let isBracket = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
                let isStray = byte == UInt8(ascii: "%") && !bytes[(index + 1)...].prefix(2).isTwoHexadecimalDigits
                if isLetterOrDigit || (marks.contains(byte) && !isStray && !(isBracket && index >= targetStart)) {
                    result.append(byte)
                } else {
                    result +=
                        Array((byte < 16 ? "%0" : "%").utf8) + Array(String(byte, radix: 16, uppercase: true).utf8)
                }
            }
            return String(decoding: result, as: UTF8.self)
        }
    }
#endif
