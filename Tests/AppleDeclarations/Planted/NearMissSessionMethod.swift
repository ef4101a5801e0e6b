// gives: nearly matches optional requirement 'urlSession(_:dataTask:didReceive:completionHandler:)'
import Foundation

final class Delegate: NSObject, URLSessionDataDelegate {
    #if MISTAKE
        func urlSession(
            _ session: URLSession, dataTask: URLSessionTask, didReceive response: HTTPURLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) { completionHandler(.allow) }
    #else
        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) { completionHandler(.allow) }
    #endif
}
