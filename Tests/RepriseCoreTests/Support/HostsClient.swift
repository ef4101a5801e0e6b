import RepriseCore
import RepriseHTTP

/// Sends each request to the client of its host.
struct HostsClient: OriginClient {
    private let clients: [String: any OriginClient]

    init(_ clients: [String: any OriginClient]) { self.clients = clients }

    func start(
        _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) -> any OriginExchange {
        clients[request.url.host]!.start(request, onEvent: onEvent)
    }
}
