public import RepriseCore
import RepriseHTTP

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Answers requests of the app's own `URLSession` from a cache: for what an app fetches itself, such as pictures, or
/// whole files it plays by other means.
///
///     let configuration = URLSessionConfiguration.default
///     CachingURLProtocol.register(cache, in: configuration) { $0.url?.pathExtension == "mp3" }
///     let session = URLSession(configuration: configuration)
///
/// It takes GET and HEAD of http and https that the rule takes, and leaves all else to the system. Ranges are answered
/// with 206 and `Content-Range`, conditions by their result, an origin's refusal with its status; where no answer can be
/// had, with one flat error of `NSURLErrorDomain`. Bytes come in order, in chunks of at most 256 KiB; stopping a task
/// leaves the cache's reader. A redirect is followed by the cache; the response then has the URL that was asked for.
///
/// On Linux a task with a completion handler and no delegate gets its bytes in one piece, at the end.
///
/// The system asks for no pause on this way: a task that nobody reads collects its bytes in memory. AVPlayer does not
/// use it on devices; its door is the resource loader. Background sessions do not use it either. A request's `cachePolicy`
/// says nothing to the cache, which goes by its freshness: leave to the system what has to reach the server.
///
/// A class stands for the caches registered with it, asked in order. To keep two sessions apart whose rules take the
/// same requests, give the second one a subclass of its own; it needs no body.
open class CachingURLProtocol: URLProtocol {
    // Kept alive by its own task: a system that never says stop would otherwise keep both for ever.
    private weak var loading: ProtocolLoading?

    /// Has `cache` answer requests of sessions made from `configuration`.
    ///
    /// The cache is not kept alive by this; once it is gone its requests go to the network again.
    /// - Parameters:
    ///   - cache: What answers.
    ///   - configuration: The class is put first in its `protocolClasses`. Sessions copy it when they are made.
    ///   - takes: Says of a GET or HEAD whether the cache is to answer it; all of them by default. Called on any
    ///     thread; it must be quick.
    public class func register(
        _ cache: MediaCache, in configuration: URLSessionConfiguration,
        where takes: @escaping @Sendable (URLRequest) -> Bool = { _ in true }
    ) {
        ProtocolTable.shared.add(cache, to: ObjectIdentifier(self), where: takes)
        let others = (configuration.protocolClasses ?? []).filter { $0 != self }
        configuration.protocolClasses = [self] + others
    }

    /// Has `cache` answer no more requests through this class. Those under way go on.
    public class func unregister(_ cache: MediaCache) {
        ProtocolTable.shared.remove(cache, from: ObjectIdentifier(self))
    }

    private class func resource(for request: URLRequest) -> (MediaCache, MediaResource)? {
        guard let method = request.httpMethod, method == "GET" || method == "HEAD", request.httpBody == nil,
            request.httpBodyStream == nil, let url = request.url.flatMap({ OriginURL($0.absoluteString) }),
            let cache = ProtocolTable.shared.cache(of: ObjectIdentifier(self), for: request)
        else { return nil }
        return (cache, cache.resource(for: url, fields: HTTPFields(request)))
    }

    // MARK: URLProtocol

    /// Whether a cache takes the request.
    override open class func canInit(with request: URLRequest) -> Bool { resource(for: request) != nil }

    /// The request as it is.
    override open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Begins to answer.
    override open func startLoading() {
        guard let url = request.url, let (_, resource) = type(of: self).resource(for: request) else {
            // The cache went away after it had taken the request.
            client?.urlProtocol(self, didFailWithError: NSError(CacheError(.closed, "the cache was closed"), nil))
            return
        }
        let asked = ConditionalRequest(method: request.httpMethod ?? "GET", fields: HTTPFields(request))
        let loading = ProtocolLoading(resource, asked, url: url, client: ProtocolClient(self))
        self.loading = loading
        loading.start()
    }

    /// Stops answering; the cache's reader leaves.
    override open func stopLoading() {
        loading?.stop()
        loading = nil
    }
}

extension HTTPFields {
    /// The fields of a request, in a fixed order.
    init(_ request: URLRequest) {
        self.init((request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
}

extension NSError {
    /// The error as Foundation tells it: flat, as players look at the innermost one.
    convenience init(_ error: CacheError, _ url: URL?) {
        var info: [String: Any] = [NSLocalizedDescriptionKey: error.message]
        if let url { info[NSURLErrorFailingURLErrorKey] = url }
        self.init(domain: NSURLErrorDomain, code: error.urlErrorCode, userInfo: info)
    }
}
