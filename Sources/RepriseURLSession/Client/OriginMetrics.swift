public import RepriseHTTP

/// What one request to an origin took, told when it is over, whether it succeeded or not.
public struct OriginMetrics: Sendable, Hashable {
    /// What was asked, after redirects.
    public var url: OriginURL
    /// Body bytes that came, in bytes of the object.
    public var bodyBytes: Int64
    /// `http/1.1`, `h2` or `h3`, where the system tells.
    public var protocolName: String?
    /// Whether a connection was used that was there already, where the system tells.
    public var isReusedConnection: Bool?

    /// Makes a record.
    public init(url: OriginURL, bodyBytes: Int64, protocolName: String? = nil, isReusedConnection: Bool? = nil) {
        self.url = url
        self.bodyBytes = bodyBytes
        self.protocolName = protocolName
        self.isReusedConnection = isReusedConnection
    }
}
