package import RepriseCore
package import RepriseHTTP

extension OriginRequest {
    /// A request to pass on as it is.
    /// - Parameter fields: Its fields that go on.
    package init(relaying method: String, to url: OriginURL, _ fields: HTTPFields, body: Body?) {
        var fields = fields
        if method == "OPTIONS", let hops = OriginRequest.hopsLeft(fields) {
            fields["Max-Forwards"] = "\(max(0, hops - 1))"
        }
        // The body is framed anew.
        fields.remove(["Content-Length"])
        if method == "HEAD" {
            // It is about what GET would be answered with, of which it is the whole (RFC 9110 §14.2).
            fields["Accept-Encoding"] = AcceptEncoding(fields).field ?? "identity"
            fields.remove(["Range", "If-Range"])
        }
        self.init(url: url, fields: fields, method: method, body: body)
        isRelayed = true
    }

    /// How often a request may still be passed on (RFC 9110 §7.6.2); `nil` where it does not say.
    package static func hopsLeft(_ fields: HTTPFields) -> Int? {
        fields["Max-Forwards"].flatMap { $0.utf8.allSatisfy(\.isDigit) ? Int($0) : nil }
    }
}
