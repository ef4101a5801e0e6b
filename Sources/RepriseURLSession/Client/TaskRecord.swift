import RepriseHTTP

/// What is noted of a task while it runs.
struct TaskRecord: Sendable {
    let exchange: SessionExchange
    var bodyBytes: Int64 = 0
    var protocolName: String?
    var isReusedConnection: Bool?

    init(_ exchange: SessionExchange) { self.exchange = exchange }

    /// Whether the protocol marks the end of a body by itself: then an end without a length is an end all the same.
    var isFramed: Bool { protocolName == "h2" || protocolName == "h3" }

    func metrics(_ url: OriginURL) -> OriginMetrics {
        OriginMetrics(
            url: url, bodyBytes: bodyBytes, protocolName: protocolName, isReusedConnection: isReusedConnection)
    }
}
