package import RepriseHTTP

/// What a cache changes in an answer's head on its way to the client (RFC 9111 §4, RFC 9110 §7.6). No I/O.
package enum RelayedAnswer {
    /// The fields to send: without those of one connection, with `Age` where the answer was not made for this request,
    /// and with this cache in `Via`.
    /// - Parameters:
    ///   - age: Seconds since the origin made or confirmed it; `nil` where it came for this very request.
    ///   - pseudonym: This cache's name in `Via`; `nil` adds none.
    package static func fields(_ stored: HTTPFields, age: Int64?, pseudonym: String? = nil) -> HTTPFields {
        var fields = stored
        fields.removeConnectionFields()
        if let age { fields["Age"] = "\(min(max(0, age), CacheDirectives.longest))" }
        if let pseudonym { fields = adding(pseudonym, to: fields) }
        return fields
    }

    /// Fields that a client believes of the host it asked, which behind a cache of many hosts is the cache.
    package static let ofTheHost = ["Set-Cookie", "Set-Cookie2", "Alt-Svc", "Strict-Transport-Security"]

    /// What came without a date is told with that of its receipt, in seconds since 1970 (RFC 9110 §6.6.1).
    package static func dated(_ fields: HTTPFields, received: Int64) -> HTTPFields {
        var fields = fields
        if fields["Date"] == nil { fields["Date"] = HTTPDate.format(received) }
        return fields
    }

    /// `Via` with this cache at its end (RFC 9110 §7.6.3), for a message received by HTTP/1.1 unless told otherwise.
    package static func adding(_ pseudonym: String, to fields: HTTPFields, version: String = "1.1") -> HTTPFields {
        var fields = fields
        let own = "\(version) \(pseudonym)"
        fields["Via"] = fields["Via"].map { $0 + ", " + own } ?? own
        return fields
    }

    /// Whether a message has come through this cache before: to forward it again would be a loop (RFC 9110 §7.6.3).
    package static func hasPassed(_ pseudonym: String, _ fields: HTTPFields) -> Bool {
        fields.members(of: "Via").contains { hop in
            let words = hop.utf8.split { $0 == 0x20 || $0 == 0x09 }
            return words.count >= 2 && Substring(words[1]).equalsIgnoringCase(pseudonym)
        }
    }
}
