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
        // A browser names the page with whatever may change something, also one of the same machine. By plain HTTP to another
        // machine it does not say whether that is another site's (Fetch Metadata Request Headers §2).
        let site = fields["Sec-Fetch-Site"]
        let isForeign = site.map { $0.equalsIgnoringCase("cross-site") } ?? isOfAnother(fields["Origin"], authority)
        if isForeign || mayChange && fields.contains("Origin") {
            return "pages of other sites may not use this proxy without a token; --allow-origin names those that may"
        }
        return nil
    }

    /// Whether a page that asks another machine is not that machine's own.
    private func isOfAnother(_ origin: String?, _ authority: String?) -> Bool {
        guard let origin, let authority, let name = name(of: authority), !isLoopback(name) else { return false }
        return OriginURL(origin)?.authority.equalsIgnoringCase(authority) != true
    }

    private func isLoopback(_ name: String) -> Bool {
        ["127.0.0.1", "localhost", "[::1]"].contains { $0.equalsIgnoringCase(name) }
    }

    private func isOurs(_ field: String) -> Bool {
        guard let name = name(of: field) else { return false }
        if isLoopback(name) { return true }
        guard let address = IPAddress(name) else { return allowedHosts.contains { $0.equalsIgnoringCase(name) } }
        return !address.isUnspecified
            && allowedHosts.contains { IPAddress($0).map { $0 == address || $0.isUnspecified } ?? false }
    }

    /// The host of an authority, without its port; `nil` where it has another form.
    private func name(of field: String) -> String? {
        // An IPv6 address has colons of its own, inside its brackets.
        let name = field.beginsLike("[") ? field.cut(at: "]").map { $0.head + "]" } : field.upTo(":")
        guard let name, let port = field.without(prefix: name) else { return nil }
        return port.isEmpty || port.beginsLike(":") ? String(name) : nil
    }
}
