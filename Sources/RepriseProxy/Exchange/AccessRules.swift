package import RepriseHTTP

/// Who may ask at all: keeps web pages of other sites, and names that were made to point here, out.
package struct AccessRules: Sendable {
    package var allowedHosts: [String]
    package var allowedOrigins: [String]

    package init(allowedHosts: [String], allowedOrigins: [String]) {
        self.allowedHosts = allowedHosts
        self.allowedOrigins = allowedOrigins
    }

    /// Why a request is refused; `nil` where it may pass.
    /// - Parameter authority: Whom the request is addressed to: what `Host` says, or its target; `nil` where a client of
    ///   HTTP/1.0 does not say, which no browser does.
    package func refusal(_ fields: HTTPFields, authority: String?) -> String? {
        if let authority, !isOurs(authority) { return "the Host field does not name this proxy" }
        if let origin = fields["Origin"], allowedOrigins.contains(origin) { return nil }
        if fields["Sec-Fetch-Site"]?.equalsIgnoringCase("cross-site") == true {
            return "pages of other sites may not use this proxy"
        }
        return nil
    }

    private func isOurs(_ field: String) -> Bool {
        // An IPv6 address has colons of its own, inside its brackets.
        let end =
            field.hasPrefix("[") ? field.firstIndex(of: "]").map { field.index(after: $0) } : field.firstIndex(of: ":")
        let name = field[..<(end ?? field.endIndex)]
        let port = field[name.endIndex...]
        guard port.isEmpty || port.first == ":" else { return false }
        return (["127.0.0.1", "localhost", "[::1]"] + allowedHosts).contains { $0.equalsIgnoringCase(name) }
    }
}
