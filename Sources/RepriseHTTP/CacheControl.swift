/// The directives of `Cache-Control` (RFC 9111 §5.2) that a shared cache acts on.
public struct CacheControl: Hashable, Sendable {
    /// `no-store`
    public var noStore = false
    /// `no-cache`, with or without field names (the stricter reading is taken).
    public var noCache = false
    /// `private`, with or without field names (the stricter reading is taken).
    public var isPrivate = false
    /// `public`
    public var isPublic = false
    /// `must-revalidate`
    public var mustRevalidate = false
    /// `proxy-revalidate`
    public var proxyRevalidate = false
    /// `max-age` in seconds; the smallest where it is given more than once; 0 where it cannot be read.
    public var maxAge: Int64?
    /// `s-maxage` in seconds, read like `max-age`.
    public var sharedMaxAge: Int64?

    /// Reads the field; total: what it does not know it passes over.
    public init(_ field: String?) {
        for (name, value) in CacheControl.directives(field ?? "") {
            switch name {
            case "no-store": noStore = true
            case "no-cache": noCache = true
            case "private": isPrivate = true
            case "public": isPublic = true
            case "must-revalidate": mustRevalidate = true
            case "proxy-revalidate": proxyRevalidate = true
            case "max-age": maxAge = min(maxAge ?? .max, CacheControl.seconds(value))
            case "s-maxage": sharedMaxAge = min(sharedMaxAge ?? .max, CacheControl.seconds(value))
            default: break
            }
        }
    }

    // A delta too large to hold is "very long" (RFC 9111 §1.2.2); anything unreadable is stale at once (§4.2.1).
    private static func seconds(_ value: String?) -> Int64 {
        guard let value, !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return 0 }
        return min(Int64(value) ?? .max, 2_147_483_648)
    }

    private static func directives(_ field: String) -> [(String, String?)] {
        var result: [(String, String?)] = []
        var part = String.UnicodeScalarView()
        var inQuotes = false
        func finish() {
            let text = String(part).trimmingOptionalWhitespace
            guard !text.isEmpty else { return }
            if let equals = text.firstIndex(of: "=") {
                let value = text[text.index(after: equals)...].filter { $0 != "\"" }
                result.append((text[..<equals].lowercased(), String(value)))
            } else {
                result.append((text.lowercased(), nil))
            }
        }
        for scalar in field.unicodeScalars {
            if scalar == "\"" { inQuotes.toggle() }
            if scalar == ",", !inQuotes {
                finish()
                part.removeAll()
            } else {
                part.append(scalar)
            }
        }
        finish()
        return result
    }
}

/// `Retry-After` (RFC 9110 §10.2.3).
public enum RetryAfter {
    /// Seconds to wait from `now` (seconds since 1970), never negative; `nil` for an unreadable field.
    public static func seconds(_ field: String?, now: Int64) -> Int64? {
        guard let field else { return nil }
        if let delay = field.trimmingOptionalWhitespace.decimal { return delay }
        return HTTPDate.parse(field).map { max(0, $0 - now) }
    }
}
