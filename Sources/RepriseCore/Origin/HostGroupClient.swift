package import RepriseHTTP
package import ReprisePlatform

/// Sends requests for hosts of a group to the first of them that answers, beginning with the one the URL names; all
/// others straight on. Safe to use from any thread.
package final class HostGroupClient: OriginClient {
    private let client: any OriginClient
    private let groups: [HostGroup]
    private let failovers: [FailoverOriginClient]

    /// Nanoseconds one host of several may take to begin an answer.
    private static let patience: Int64 = 5_000_000_000

    /// - Parameter onFailure: Called whenever a request failed at one host of a group; it must be quick.
    package init(
        client: any OriginClient, groups: [HostGroup], queues: any WorkQueues,
        onFailure: @escaping @Sendable (OriginURL, String) -> Void
    ) {
        self.client = client
        self.groups = groups
        failovers = groups.map { group in
            let failover = FailoverOriginClient(
                client: client, mirrors: .hosts(group), patience: HostGroupClient.patience, queues: queues)
            failover.onFailure(onFailure)
            return failover
        }
    }

    package func start(
        _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) -> any OriginExchange {
        guard let index = groups.firstIndex(where: { $0.index(of: request.url) != nil }) else {
            return client.start(request, onEvent: onEvent)
        }
        return failovers[index].start(request, onEvent: onEvent)
    }
}
