import RepriseCore
package import RepriseHTTP

/// A server of its user before all origins, each of whose URLs is a path here (see `RequestTarget`). A browser takes them all
/// for one site: what one origin says must not work on another, nor have the token told. No I/O.
package struct AnyOriginRole: Sendable, Hashable {
    /// Secret first component of every path.
    package let token: String?

    package init(token: String?) { self.token = token }

    // MARK: Toward the origin

    /// The client's fields that go on to the origin: all but those of its connection, those that say where it is, a `Referer`
    /// that names this server, whatever holds the token (a server in front may say the path in fields of its own), and a
    /// browser's cookies: those are of this machine's other services, as browsers keep cookies by host and not by port (RFC
    /// 6265 §8.5), and none is the origin's, which sets none here.
    package func forwarded(_ fields: HTTPFields) -> HTTPFields {
        var kept = fields
        kept.removeHopByHop()
        // A browser says so to loopback; downloaders send others of these fields, but not this one.
        if fields.contains("Sec-Fetch-Site") { kept.remove(["Cookie"]) }
        kept.remove([
            "Host", "Expect", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
            "X-Real-IP", "Via", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User",
        ])
        if let page = kept["Referer"], isOurs(page, fields) ?? true { kept.remove(["Referer"]) }
        // What is moved, where, and under which condition (RFC 4918 §10.3, §10.4) is below this server, as all that its client
        // knows.
        if let place = kept["Destination"] { kept["Destination"] = atOrigin(place, fields) }
        if let condition = kept["If"] {
            let parts = condition.parts(between: ">").map { part -> String in
                // What a place begins behind; without one the part is a list of tags.
                guard let (tags, place) = part.cut(at: "<").map({ ($0, String($1)) }) else { return String(part) }
                return "\(tags)<\(atOrigin(place, fields) ?? place)"
            }
            kept["If"] = parts.joined(separator: ">")
        }
        if let token { kept.remove(kept.lines.filter { $0.value.has(token) }.map(\.name)) }
        return kept
    }

    /// Whether a URL names this server as its client does; `nil` where that is not to be told.
    private func isOurs(_ text: String, _ fields: HTTPFields) -> Bool? {
        guard let host = fields["Host"], let url = OriginURL(text) else { return nil }
        return url.authority.equalsIgnoringCase(host)
    }

    /// What a client's place is at its origin: the URL that a place below this server stands for, others as they are; `nil` for
    /// one of this server's that stands for none.
    private func atOrigin(_ place: String, _ fields: HTTPFields) -> String? {
        let isPath = OriginURL.isPath(place)
        guard isPath || isOurs(place, fields) ?? false else { return place }
        let target = isPath ? place : OriginURL(place)?.target ?? ""
        guard case .media(let url) = RequestTarget(target, token: token) else { return nil }
        return url.description
    }

    // MARK: Toward the client

    /// Fields that say something of all that a browser has from one site: what clears, watches or opens up what another origin
    /// has here, has a password for it sent to that, or has another site told of this URL, with the token in it.
    private static let siteWide = [
        "Accept-CH", "Access-Control-Allow-Credentials", "Clear-Site-Data", "Critical-CH", "NEL",
        "Link", "Origin-Agent-Cluster", "Service-Worker-Allowed", "Speculation-Rules", "WWW-Authenticate",
        "Report-To", "Reporting-Endpoints", "Content-Security-Policy", "Content-Security-Policy-Report-Only",
        "Cross-Origin-Embedder-Policy-Report-Only", "Cross-Origin-Opener-Policy-Report-Only",
        "Document-Policy-Report-Only", "Integrity-Policy", "Integrity-Policy-Report-Only",
        "Permissions-Policy-Report-Only", "Expect-CT", "Public-Key-Pins", "Public-Key-Pins-Report-Only",
    ]

    /// Takes away what an origin may not say of this server.
    static func withhold(_ fields: inout HTTPFields) { fields.remove(RelayedAnswer.ofTheHost + siteWide) }

    /// What is told of an answer that was passed on without being stored.
    /// - Parameter url: What it answers.
    func relayed(_ fields: HTTPFields, from url: OriginURL) -> HTTPFields {
        var head = RelayedAnswer.fields(fields, age: nil)
        head.remove(RelayedAnswer.ofTheHost)
        AnyOriginRole.guardBrowser(&head, type: head["Content-Type"])
        return located(head, from: url)
    }

    /// The same with `Location` below this server.
    func located(_ fields: HTTPFields, from url: OriginURL) -> HTTPFields {
        guard let place = fields["Location"] else { return fields }
        var fields = fields
        fields["Location"] = location(place, from: url)
        return fields
    }

    /// Where a place that an origin names is to be had. What has another scheme is left as it came; of what no URL can be made
    /// nothing is told, as it would be a place of this server's.
    private func location(_ place: String, from url: OriginURL) -> String? {
        if let whole = url.resolvingAsBrowsersDo(place) {
            // A client would take segments of dots away from here, and the host with them.
            return RequestTarget.target(for: whole, token: token) + OriginURL.fragment(of: place)
        }
        let scheme = place.upTo(":/?#")
        let isElsewhere = place[scheme.endIndex...].utf8.first == UInt8(ascii: ":")
        return isElsewhere && !["http", "https"].contains(where: scheme.equalsIgnoringCase) ? place : nil
    }

    /// Adds what has browsers let every page use what it knows the URL of, take nothing for a script or a page of this site, and
    /// tell no other site what its URL was.
    static func guardBrowser(_ head: inout HTTPFields, type: String?) {
        head.remove(siteWide)
        head["Access-Control-Allow-Origin"] = "*"
        head["Access-Control-Expose-Headers"] = "Content-Length, Content-Range, Accept-Ranges, ETag, Age, Retry-After"
        head["X-Content-Type-Options"] = "nosniff"
        head["Referrer-Policy"] = "no-referrer"
        // A page passed on from a foreign origin must not run as one of ours.
        if MediaType(type)?.isInert != true { head["Content-Security-Policy"] = "default-src 'none'; sandbox" }
    }
}
