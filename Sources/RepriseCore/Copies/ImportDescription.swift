import RepriseHTTP
package import RepriseStorage

/// What is known of a file that is imported, as the origin would say it. What is not said is found out from names, or
/// stays unknown.
public struct ImportDescription: Sendable, Hashable {
    /// `Content-Type`; by default what files with the URL's, else the file's extension usually have.
    public var contentType: String?
    /// The entity tag the origin gives it, for example the one it answered an upload with.
    public var entityTag: String?
    /// `Last-Modified`, as the origin writes it (an HTTP date).
    public var lastModified: String?

    /// Says what is known.
    public init(contentType: String? = nil, entityTag: String? = nil, lastModified: String? = nil) {
        self.contentType = contentType
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// The description of an entry with the bytes of the file at `path`; its length is filled in by the import. No I/O.
    /// - Throws: `CacheError` with `.unsupported` for fields that are none.
    package func info(
        _ request: ResourceRequest, path: String, identity: UInt64, now: Int64
    ) throws(CacheError) -> EntryInfo {
        let fileExtension = path.pathComponents.last?.cut(atLast: ".").map { String($0.tail) }
        let known = [request.url.pathExtension, fileExtension].compactMap(\.self)
        let type = contentType ?? known.lazy.compactMap { MediaType.contentType(forExtension: $0) }.first
        var fields = HTTPFields()
        if let type {
            guard let media = MediaType(type) else {
                throw CacheError(.unsupported, "\"\(type)\" is no content type; it is of the form audio/mpeg")
            }
            if media.isManifest {
                throw CacheError(.unsupported, "a playlist (\(media.essence)) is not stored as media")
            }
            fields["Content-Type"] = type
        }
        if let entityTag {
            guard let tag = EntityTag(entityTag) else {
                throw CacheError(.unsupported, "\"\(entityTag)\" is no entity tag")
            }
            fields["ETag"] = tag.field
        }
        if let lastModified {
            guard HTTPDate.parse(lastModified) != nil else {
                throw CacheError(
                    .unsupported, "\"\(lastModified)\" is no HTTP date like Sun, 06 Nov 1994 08:49:37 GMT")
            }
            fields["Last-Modified"] = lastModified
        }
        return EntryInfo(
            key: request.key.text, url: request.url.description, generation: 0, identity: identity,
            fileExtension: request.url.pathExtension ?? MediaType(type)?.fileExtension ?? "bin",
            validator: Validator(fields: fields), length: nil, servesRanges: true, fields: fields, checked: now)
    }
}
