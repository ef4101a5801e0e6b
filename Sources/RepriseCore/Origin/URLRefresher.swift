public import RepriseHTTP

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Gives fresh URLs for those that ran out while they were played.
///
/// It is asked where the origin answers 403 or 410, once for each refusal, however many readers wait: what is stored
/// goes on playing meanwhile, and the fresh URL is asked for the first byte that is missing. A fresh URL that is refused
/// as well is the error the readers see. From then on the fresh one stands for the old one, also for readers that come
/// with the old one.
public struct URLRefresher: Sendable {
    let ask: @Sendable (RefusedURL, @escaping @Sendable (Result<OriginURL?, any Error>) -> Void) -> Void

    /// Makes one.
    /// - Parameter refresh: Answers a fresh URL of the same resource, which may be at another host; `nil`, or an error,
    ///   where there is none. Called on any thread; what takes longer than 20 seconds counts as no answer.
    public init(_ refresh: @escaping @Sendable (RefusedURL) async throws -> URL?) {
        self.init { refused, answer in
            Task {
                do {
                    let fresh = try await refresh(refused)
                    answer(.success(try fresh.map { try URLRefresher.checked($0) }))
                } catch {
                    answer(.failure(error))
                }
            }
        }
    }

    /// The same without tasks, for tests on a clock that stands still.
    package init(
        asking ask:
            @escaping @Sendable (RefusedURL, @escaping @Sendable (Result<OriginURL?, any Error>) -> Void) -> Void
    ) {
        self.ask = ask
    }

    private static func checked(_ url: URL) throws(CacheError) -> OriginURL {
        guard let origin = OriginURL(url.absoluteString) else {
            throw CacheError(.badURL, "\(url.absoluteString) is not an absolute http or https URL")
        }
        return origin
    }
}

/// A URL that its origin refused.
public struct RefusedURL: Sendable, Hashable {
    /// The URL that was asked: the newest one of its resource.
    public let url: OriginURL
    /// What the resource is stored under.
    public let key: ResourceKey
    /// What the origin answered: 403 or 410.
    public let status: Int

    /// Makes one, for tests of a refresher.
    public init(url: OriginURL, key: ResourceKey, status: Int) {
        self.url = url
        self.key = key
        self.status = status
    }
}
