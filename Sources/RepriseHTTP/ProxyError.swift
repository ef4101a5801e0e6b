/// Why an intermediary has no answer of the next server's to give, as `Proxy-Status` says it (RFC 9209 §2.3).
public enum ProxyError: String, Hashable, Sendable {
    /// The name of the host could not be looked up, or there is none of that name.
    case dnsError = "dns_error"
    /// Nothing listens on that port.
    case connectionRefused = "connection_refused"
    /// The host did not take a connection in time.
    case connectionTimeout = "connection_timeout"
    /// The connection ended before the answer began.
    case connectionTerminated = "connection_terminated"
    /// No way leads to its address.
    case unroutable = "destination_ip_unroutable"
    /// It cannot be reached, and it is not known why.
    case unavailable = "destination_unavailable"
    /// No further connection to it can be made now: so many are open, or this process may open no more files.
    case connectionLimit = "connection_limit_reached"
    /// The rules do not let its address be asked.
    case prohibited = "destination_ip_prohibited"
    /// Its certificate is not to be trusted.
    case certificate = "tls_certificate_error"
    /// No secure connection could be agreed upon.
    case tls = "tls_protocol_error"
    /// It did not answer in time.
    case responseTimeout = "http_response_timeout"
    /// The answer ended before it was whole.
    case responseIncomplete = "http_response_incomplete"
    /// The answer is not HTTP as it should be.
    case protocolError = "http_protocol_error"

    /// The field's value.
    /// - Parameters:
    ///   - name: Who says so.
    ///   - details: A sentence for a person; left out where the field cannot hold it.
    public func status(named name: String, details: String) -> String {
        let details = StructuredText.string(details).map { "; details=\($0)" } ?? ""
        return "\(StructuredText.tokenOrString(name) ?? "cache"); error=\(rawValue)\(details)"
    }
}
