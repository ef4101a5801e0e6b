import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of one session: finds each task's exchange and hands its callbacks on.
///
/// The session keeps it until it is invalidated, and it keeps each exchange until its task is over.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let tasks = Lock<[Int: TaskRecord]>([:])
    private let clientCertificate: (@Sendable (URLProtectionSpace) -> URLCredential?)?

    init(clientCertificate: (@Sendable (URLProtectionSpace) -> URLCredential?)?) {
        self.clientCertificate = clientCertificate
    }

    func add(_ task: URLSessionTask, _ exchange: SessionExchange) {
        let identifier = task.taskIdentifier
        tasks.withLock { $0[identifier] = TaskRecord(exchange) }
    }

    private func exchange(_ task: URLSessionTask) -> SessionExchange? {
        let identifier = task.taskIdentifier
        return tasks.withLock { $0[identifier]?.exchange }
    }

    /// The exchanges whose tasks are not over.
    var exchanges: [SessionExchange] { tasks.withLock { $0.values.map(\.exchange) } }

    private func finish(_ task: URLSessionTask, _ error: (any Error)?) {
        let identifier = task.taskIdentifier
        guard let record = tasks.withLock({ $0.removeValue(forKey: identifier) }) else { return }
        record.exchange.completed(error, record)
    }

    // MARK: URLSessionTaskDelegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        exchange(task)?.redirected(by: response.value(forHTTPHeaderField: "Location"), completionHandler)
    }

    // The system alone decides whom to trust; the app may only say who it is itself.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        #if canImport(ObjectiveC)
            if space.authenticationMethod == NSURLAuthenticationMethodClientCertificate,
                challenge.previousFailureCount == 0, let credential = clientCertificate?(space)
            {
                return completionHandler(.useCredential, credential)
            }
            completionHandler(.performDefaultHandling, nil)
        #else
            // There a challenge comes when the whole answer has, and one that is not met is never told to be over.
            finish(task, nil)
            completionHandler(.cancelAuthenticationChallenge, nil)
        #endif
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        let identifier = task.taskIdentifier
        guard let last = metrics.transactionMetrics.last else { return }
        let name = last.networkProtocolName
        let isReused = last.isReusedConnection
        tasks.withLock { tasks in
            tasks[identifier]?.protocolName = name
            tasks[identifier]?.isReusedConnection = isReused
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish(task, error)
    }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            exchange(dataTask)?.received(OriginResponseHead(response))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let identifier = dataTask.taskIdentifier
        let exchange = tasks.withLock { tasks in
            tasks[identifier]?.bodyBytes += Int64(data.count)
            return tasks[identifier]?.exchange
        }
        exchange?.received([UInt8](data))
    }
}

extension OriginResponseHead {
    /// The head of an answer; the order in which its fields came is not known here.
    init(_ response: HTTPURLResponse) {
        let pairs = response.allHeaderFields.compactMap { name, value -> (String, String)? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        self.init(status: response.statusCode, fields: HTTPFields(pairs.sorted { $0.0 < $1.0 }))
    }
}
