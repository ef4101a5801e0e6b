import RepriseCore
import RepriseHTTP

/// An origin that has an object of its own for each user: the target `/x` of a request with `Authorization: A` is `/x-A`.
final class PerUserClient: OriginClient {
    private let inner: any OriginClient

    /// The paths for which that holds; `nil` for all.
    private let paths: Set<String>?

    init(_ inner: any OriginClient, paths: Set<String>? = nil) {
        self.inner = inner
        self.paths = paths
    }

    func start(_ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void) -> any OriginExchange {
        var request = request
        if paths?.contains(request.url.path) ?? true, let user = request.fields["Authorization"],
            let url = OriginURL("\(request.url.description)-\(user)")
        {
            request.url = url
        }
        return inner.start(request, onEvent: onEvent)
    }
}

/// Notes every request on its way to the origin.
final class RecordingClient: OriginClient {
    private let inner: any OriginClient
    private let requests: Recorder<OriginRequest>

    init(_ inner: any OriginClient, _ requests: Recorder<OriginRequest>) {
        self.inner = inner
        self.requests = requests
    }

    func start(_ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void) -> any OriginExchange {
        requests.add(request)
        return inner.start(request, onEvent: onEvent)
    }
}
