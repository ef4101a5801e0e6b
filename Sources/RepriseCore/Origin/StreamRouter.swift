#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Gives streams (HLS, DASH) an address under which a player reaches them through the cache. Players fetch their media
/// segments by HTTP only, so the loopback server is one; a resource loader cannot be.
public protocol StreamRouter: AnyObject, Sendable {
    /// The address of `url` on the router, sending `headers` to the origin; `nil` where it cannot serve it.
    func route(for url: URL, headers: [String: String]) -> URL?
}
