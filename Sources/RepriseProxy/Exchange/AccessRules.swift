package import RepriseHTTP

/// Who may ask at all: keeps names that were made to point here out, and, where no token is asked for, web pages of other sites.
package struct AccessRules: Sendable {
    /// Names and addresses by which this server may be asked. The address of a listener that hears on every interface
    /// (`0.0.0.0`, `::`) stands for every address: what leads here by a name of its own has to send that name.
    package var allowedHosts: [String]
    package var allowedOrigins: [String]

    package init(allowedHosts: [String], allowedOrigins: [String]) {
        self.allowedHosts = allowedHosts
        self.allowedOrigins = allowedOrigins
    }

    /// Why a request is refused; `nil` where it may pass.
    /// - Parameters:
    ///   - authority: Whom the request is addressed to: what `Host` says, or its target; `nil` where a client of HTTP/1.0
    ///     does not say, which no browser does.
    ///   - hasToken: Whether a token is asked for as well: who has it may use it, on whatever page.
    ///   - mayChange: Whether the request may change something at its origin.
    package func refusal(
        _ fields: HTTPFields, authority: String?, hasToken: Bool, mayChange: Bool = false
    ) -> String? {
        if let authority, !isOurs(authority) { return "the Host field does not name this proxy" }
        if hasToken { return nil }
        if let origin = fields["Origin"], allowedOrigins.contains(where: { $0.octets == origin.octets }) { return nil }
        // A browser names the page with whatever may change something, also one of the same machine.
        let isForeign = fields["Sec-Fetch-Site"]?.equalsIgnoringCase("cross-site") == true
        if isForeign || mayChange && fields.contains("Origin") {
            return "pages of other sites may not use this proxy without a token; --allow-origin names those that may"
        }
        return nil
    }

    private func isOurs(_ field: String) -> Bool {
        // An IPv6 address has colons of its own, inside its brackets.
        let name = field.beginsLike("[") ? field.cut(at: "]").map { $0.head + "]" } : field.upTo(":")
        guard let name, let port = field.without(prefix: name) else { return false }
        guard port.isEmpty || port.beginsLike(":") else { return false }
        if (["127.0.0.1", "localhost", "[::1]"] + allowedHosts).contains(where: { $0.equalsIgnoringCase(name) }) {
            return true
        }
        guard let address = IPAddress(name) else { return false }
        return allowedHosts.contains { IPAddress($0).map { $0 == address || $0.isUnspecified } ?? false }
    }
}
