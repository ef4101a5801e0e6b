package import RepriseHTTP

/// The head of one request, checked: every rule of its form held.
package struct RequestHead: Sendable, Hashable {
    /// How the bytes behind the head are framed (RFC 9112 §6.3).
    package enum Body: Sendable, Hashable {
        case none
        /// As many bytes; more than 0.
        case length(Int64)
        case chunked
    }

    /// As written; methods are case-sensitive.
    package var method: String
    /// As written: one of RFC 9112 §3.2's forms, told apart by `TargetForm`.
    package var target: String
    /// 0 or 1: what a 1.2 says is understood as 1.1 (RFC 9110 §2.5).
    package var minorVersion: Int
    package var fields: HTTPFields
    package var body: Body
}

/// Why a request is not served, and with which status. Its connection ends: where the next request begins is not known.
package struct RequestRefusal: Error, Sendable, Hashable {
    package var status: Int
    package var reason: String

    /// It, or a part of its body, did not come in the time for it.
    package static let tooSlow = RequestRefusal(408, "the request took too long to come")

    package init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}

extension RequestHead {
    /// Reads a head from its bytes, the empty line included; every line ends with CR LF, and no byte is a control
    /// character but those and tabs.
    package init(_ bytes: ArraySlice<UInt8>) throws(RequestRefusal) {
        var lines = HeadLines(bytes)
        let first = lines.next() ?? []
        let words = first.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty }), !first.contains(UInt8(ascii: "\t")) else {
            throw RequestRefusal(400, "the first line is not a method, a target and a version")
        }
        guard words[0].allSatisfy(\.isTokenByte) else { throw RequestRefusal(400, "the method is not a token") }
        guard let target = String(validating: words[1], as: UTF8.self) else {
            throw RequestRefusal(400, "the target is not a text")
        }
        method = String(decoding: words[0], as: UTF8.self)
        self.target = target
        minorVersion = try RequestHead.minorVersion(words[2])
        fields = try HTTPFields(&lines)
        body = try RequestHead.body(fields, minorVersion: minorVersion)
        let hosts = fields.values(of: "Host")
        // RFC 9112 §3.2; 1.0 knew no Host.
        guard hosts.count == 1 || hosts.isEmpty && minorVersion == 0 else {
            throw RequestRefusal(400, hosts.isEmpty ? "no Host field" : "more than one Host field")
        }
        guard hosts.allSatisfy(HostField.isValid) else { throw RequestRefusal(400, "the Host field is no host") }
    }

    private static func minorVersion(_ word: ArraySlice<UInt8>) throws(RequestRefusal) -> Int {
        let form = Array("HTTP/0.0".utf8)
        let isVersion =
            word.count == form.count
            && zip(word, form).allSatisfy { given, expected in
                expected == UInt8(ascii: "0") ? given.isDigit : given == expected
            }
        guard isVersion, let minor = word.last else { throw RequestRefusal(400, "the first line names no version") }
        guard word[word.startIndex + 5] == UInt8(ascii: "1") else {
            throw RequestRefusal(505, "only HTTP/1.0 and HTTP/1.1 are spoken here")
        }
        return minor == UInt8(ascii: "0") ? 0 : 1
    }

    // Whatever leaves room for two opinions on where the next request begins is refused (RFC 9112 §6.1, §6.3, §11.2).
    private static func body(_ fields: HTTPFields, minorVersion: Int) throws(RequestRefusal) -> Body {
        let lengths = fields.values(of: "Content-Length")
        let codings = fields.values(of: "Transfer-Encoding")
        if !codings.isEmpty {
            guard lengths.isEmpty else {
                throw RequestRefusal(400, "both Content-Length and Transfer-Encoding")
            }
            guard minorVersion == 1 else { throw RequestRefusal(400, "HTTP/1.0 knows no Transfer-Encoding") }
            let names = codings.flatMap { $0.parts(between: ",") }
                .map(\.trimmingOptionalWhitespace)
            if names.count == 1, names[0].equalsIgnoringCase("chunked") { return .chunked }
            let isChunked = names.last?.equalsIgnoringCase("chunked") == true
            let count = names.count { $0.equalsIgnoringCase("chunked") }
            guard isChunked, count == 1, !names.contains("") else {
                throw RequestRefusal(400, "chunked is not the last transfer coding, once")
            }
            throw RequestRefusal(501, "no transfer coding but chunked is known here")
        }
        guard let field = lengths.first else { return .none }
        guard lengths.count == 1, let length = field.decimal else {
            throw RequestRefusal(400, "Content-Length is not one number")
        }
        return length == 0 ? .none : .length(length)
    }
}

/// The lines of a head or of trailers, without their ends; the empty one is the last and not among them.
struct HeadLines: IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\r")), end > rest.startIndex else { return nil }
        defer { rest = rest[(end + 2)...] }
        return rest[..<end]
    }
}

extension HTTPFields {
    /// Reads field lines up to the empty one.
    init(_ lines: inout HeadLines) throws(RequestRefusal) {
        self.init()
        while let line = lines.next() {
            guard line.first?.isBlank == false else {
                throw RequestRefusal(400, "a field goes on in a second line")  // obs-fold, RFC 9112 §5.2
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(\.isTokenByte)
            else { throw RequestRefusal(400, "a field line is not a name, a colon and a value") }
            add(
                String(decoding: line[..<colon], as: UTF8.self),
                String(decoding: line[(colon + 1)...], as: UTF8.self))
        }
    }
}

extension UInt8 {
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// RFC 9110 §5.6.2
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
