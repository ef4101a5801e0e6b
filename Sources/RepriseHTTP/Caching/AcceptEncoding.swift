/// The codings a client takes of a body (RFC 9110 §12.5.3), written in one way for all that mean the same. No I/O.
public struct AcceptEncoding: Hashable, Sendable {
    /// Codings that any client may have been given; not those that are decoded with what one of them has from before.
    private static let known = ["br", "compress", "deflate", "gzip", "zstd"]

    private enum Weight {
        case refused, whole
        /// As it was written.
        case part(String)
    }

    /// The field: codings with their weights in lower case, sorted, without white space; `nil` where bodies are to be as they are.
    public let field: String?

    /// Reads every line of `Accept-Encoding`; total. Who asks for a part means one of the body as it is (Fetch standard,
    /// HTTP-network-or-cache fetch).
    public init(_ request: HTTPFields) {
        guard request.contains("Accept-Encoding"), !request.contains("Range") else {
            field = nil
            return
        }
        var weights: [String: Weight] = [:]
        for member in request.members(of: "Accept-Encoding") {
            let parts = member.lowercased().parts(between: ";").map { String($0.trimmingOptionalWhitespace) }
            guard parts.count <= 2, let weight = AcceptEncoding.weight(parts.count == 2 ? parts[1] : "q=1") else {
                continue
            }
            weights[parts[0] == "x-gzip" ? "gzip" : parts[0]] = weight
        }
        // What all clients can read, for one that says to read everything.
        if let any = weights["*"], weights["gzip"] == nil { weights["gzip"] = any }
        var codings = AcceptEncoding.known.compactMap { name -> String? in
            switch weights[name] {
            case nil, .refused: nil
            case .whole: name
            case .part(let weight): "\(name);\(weight)"
            }
        }
        guard !codings.isEmpty else {
            field = nil
            return
        }
        if case .refused = weights["identity"] { codings.append("identity;q=0") }
        field = codings.joined(separator: ",")
    }

    /// What stands behind a coding; `nil` for what is no weight (RFC 9110 §12.4.2).
    private static func weight(_ parameter: String) -> Weight? {
        guard parameter.beginsLike("q="), (3...7).contains(parameter.utf8.count) else { return nil }
        let digits = parameter.utf8.dropFirst(2)
        guard digits.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) }) else { return nil }
        if digits.allSatisfy({ $0 == 0x2E || $0 == 0x30 }) { return .refused }
        return digits.first == 0x31 ? .whole : .part(parameter)
    }
}
