import RepriseCore
import RepriseHTTP
import ReprisePlatform

/// An origin that has an object of its own for each user: the target `/x` of a request with `Authorization: A`, or
/// `Cookie: user=A`, is `/x-A`.
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
        let cookie = request.fields["Cookie"].map { String($0.dropFirst("user=".count)) }
        if paths?.contains(request.url.path) ?? true, let user = request.fields["Authorization"] ?? cookie,
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

/// A second host with the same objects: the target `/x` at it is `/mirror/x` at the origin. The first can be down alone.
final class MirrorClient: OriginClient {
    static let host = "mirror.test"
    private let inner: any OriginClient
    private let queues: any WorkQueues
    private let isFirstDown: Shared<Bool>

    init(_ inner: any OriginClient, queues: any WorkQueues, isFirstDown: Shared<Bool>) {
        self.inner = inner
        self.queues = queues
        self.isFirstDown = isFirstDown
    }

    func start(_ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void) -> any OriginExchange {
        var request = request
        if request.url.host == MirrorClient.host {
            request.url = OriginURL("http://origin.test/mirror\(request.url.target)") ?? request.url
        } else if isFirstDown.value {
            queues.soon { onEvent(.failed(OriginFailure(.unreachable, "the first host is down"))) }
            return DeadExchange()
        }
        return inner.start(request, onEvent: onEvent)
    }

    private final class DeadExchange: OriginExchange {
        func demand() {}
        func cancel() {}
    }
}
