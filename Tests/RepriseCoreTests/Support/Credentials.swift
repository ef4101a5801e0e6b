import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseTesting

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
            let url = OriginURL("\(request.url.redacted)-\(user)")
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

/// Notes where a host is asked that had asked all to leave it alone (429 with `Retry-After`) for longer.
final class RestingClient: OriginClient {
    private let inner: any OriginClient
    private let queues: ManualQueues
    private let onBreach: @Sendable (String) -> Void
    private let restsUntil = Shared<[String: Int64]>([:])

    init(_ inner: any OriginClient, queues: ManualQueues, onBreach: @escaping @Sendable (String) -> Void) {
        self.inner = inner
        self.queues = queues
        self.onBreach = onBreach
    }

    func start(_ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void) -> any OriginExchange {
        let (host, queues, restsUntil) = (request.url.authority, queues, restsUntil)
        if let until = restsUntil.value[host], queues.time < until {
            onBreach("\(request.url) was asked \((until - queues.time) / 1_000_000) ms too early")
        }
        return inner.start(request) { event in
            if case .head(let head) = event, head.status == 429,
                let seconds = head.fields["Retry-After"].flatMap({ Int64($0) })
            {
                restsUntil.change { $0[host] = max($0[host] ?? 0, queues.time + seconds * 1_000_000_000) }
            }
            onEvent(event)
        }
    }
}

/// Changes the head of every answer.
final class HeadChangingClient: OriginClient {
    private let inner: any OriginClient
    private let change: @Sendable (OriginRequest, inout OriginResponseHead) -> Void

    init(_ inner: any OriginClient, change: @escaping @Sendable (OriginRequest, inout OriginResponseHead) -> Void) {
        (self.inner, self.change) = (inner, change)
    }

    /// Tells when to ask again by a date instead of seconds.
    static func dated(_ inner: any OriginClient, queues: any WorkQueues) -> HeadChangingClient {
        HeadChangingClient(inner) { _, head in
            guard let seconds = head.fields["Retry-After"].flatMap({ Int64($0) }) else { return }
            head.fields["Retry-After"] = HTTPDate.format(queues.wallClock() + seconds)
        }
    }

    func start(_ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void) -> any OriginExchange {
        inner.start(request) { [change] event in
            guard case .head(var head) = event else { return onEvent(event) }
            change(request, &head)
            onEvent(.head(head))
        }
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
