import RepriseHTTP

/// Makes of the bytes an origin delivers those a player is given, for media that the origin itself delivers encrypted.
///
/// The store holds what the origin sent. So checksums, continuing after a break, sharing, `verify` and the comparison with the
/// origin are about the origin's bytes, and the disk has no more than the network had. Whatever hands bytes out gives
/// transformed ones: readers, the resource loader, `URLProtocol`, the local server, `export` and `fileURL(decryptedIn:)`.
/// Lengths, offsets and ranges are the same on both sides. `MediaCache.Configuration.contentTransform` says which
/// resource has one; `CounterMode` is one.
public protocol ContentTransform: Sendable {
    /// Transforms in place `bytes`, the first of which is byte `offset` of the resource, counted from 0.
    ///
    /// A pure function of the two: it is called for pieces of any size, at least 1 byte and at most a few MiB, from any
    /// offset, in any order and for the same bytes again. It must leave as many bytes as it was given; another number stops
    /// the program, as whatever followed would be wrong. It cannot fail: what a wrong key gives is the player's to notice.
    ///
    /// Called by several threads at once, by those that read files and by those of the doors, which serve others
    /// meanwhile: it should take no longer than a cipher does, and must not wait nor call the cache.
    func apply(to bytes: inout [UInt8], at offset: Int64)
}

extension ContentInfo {
    /// The same without digests: they are of the bytes the origin sent.
    func withoutDigests() -> ContentInfo {
        var info = self
        info.fields.remove(["Content-MD5", "Digest", "Content-Digest", "Repr-Digest"])
        return info
    }
}
