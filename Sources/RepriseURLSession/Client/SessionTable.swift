import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The sessions of one client, one for each network rule that was used. Tasks are only made under its lock: a session
/// that is invalidated at the same time would end the process.
final class SessionTable: Sendable {
    private struct Session {
        var session: URLSession
        var delegate: SessionDelegate
    }

    private struct State {
        var sessions: [NetworkRule: Session] = [:]
        var rule: NetworkRule
        var isClosed = false
    }

    let configuration: URLSessionOriginClient.Configuration
    let template: URLSessionConfiguration
    private let state: Lock<State>

    init(_ configuration: URLSessionOriginClient.Configuration, cookies: HTTPCookieStorage?) {
        self.configuration = configuration
        template = SessionTable.template(cookies)
        state = Lock(State(rule: configuration.networkRule))
    }

    var rule: NetworkRule {
        get { state.withLock { $0.rule } }
        set { state.withLock { $0.rule = newValue } }
    }

    /// Sessions that have not been invalidated.
    var count: Int { state.withLock { $0.sessions.count } }

    private static func template(_ cookies: HTTPCookieStorage?) -> URLSessionConfiguration {
        let template = URLSessionConfiguration.ephemeral
        // A cache below ours would answer one range with another's bytes, and keep all of them twice.
        template.urlCache = nil
        template.requestCachePolicy = .reloadIgnoringLocalCacheData
        template.httpCookieStorage = cookies
        template.httpShouldSetCookies = cookies != nil
        // The engine allows 6 a host; the session must never be what waits.
        template.httpMaximumConnectionsPerHost = 16
        // Our own protocol must not take the requests it causes.
        template.protocolClasses = template.protocolClasses?.filter { !($0 is CachingURLProtocol.Type) }
        #if canImport(ObjectiveC)
            // Waiting and trying again is the engine's business: it knows who waits and for how long.
            template.waitsForConnectivity = false
        #endif
        return template
    }

    private func makeSession(_ rule: NetworkRule) -> Session {
        let configuration = SessionTable.copy(template)
        configuration.allowsCellularAccess = rule.allowsCellular
        #if canImport(ObjectiveC)
            configuration.allowsExpensiveNetworkAccess = rule.allowsExpensive
            configuration.allowsConstrainedNetworkAccess = rule.allowsConstrained
        #endif
        let delegate = SessionDelegate(clientCertificate: self.configuration.clientCertificate)
        return Session(
            session: URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil),
            delegate: delegate)
    }

    private static func copy(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        guard let copy = configuration.copy() as? URLSessionConfiguration else {
            preconditionFailure("a session configuration copies to another kind of object")
        }
        return copy
    }

    /// A task that has not been resumed; `nil` once the client was closed.
    func makeTask(_ request: URLRequest, for exchange: SessionExchange) -> URLSessionTask? {
        state.withLock { state -> URLSessionTask? in
            guard !state.isClosed else { return nil }
            let rule = state.rule
            let session = state.sessions[rule] ?? makeSession(rule)
            state.sessions[rule] = session
            let task = session.session.dataTask(with: request)
            session.delegate.add(task, exchange)
            return task
        }
    }

    /// A request as the system takes it; `nil` where it does not take the URL.
    func urlRequest(_ url: OriginURL, _ fields: HTTPFields) -> URLRequest? {
        guard let system = URL(string: url.description) else { return nil }
        var request = URLRequest(
            url: system, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: configuration.idleLimit)
        request.httpMethod = "GET"
        request.httpShouldHandleCookies = template.httpCookieStorage != nil
        for line in fields.lines { request.addValue(line.value, forHTTPHeaderField: line.name) }
        return request
    }

    /// Ends all tasks, and lets the sessions and their delegates go.
    func close() {
        let sessions = state.withLock { state in
            state.isClosed = true
            defer { state.sessions = [:] }
            return Array(state.sessions.values)
        }
        for session in sessions {
            for exchange in session.delegate.exchanges {
                exchange.abandon(OriginFailure(.interrupted, "the client was closed"))
            }
        }
        // On Linux this waits for the session's queue, and traps on it: the last reference to a client may go there.
        DispatchQueue.global().async { for session in sessions { session.session.invalidateAndCancel() } }
    }
}
