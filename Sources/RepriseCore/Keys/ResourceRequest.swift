package import RepriseHTTP

/// What a reader asks for: which resource, from where, and with which fields of the caller's own.
package struct ResourceRequest: Sendable, Hashable {
    package var key: ResourceKey
    package var url: OriginURL
    package var fields: HTTPFields
    /// Whether what is fetched for it may be stored.
    package var isKept = true
    /// Whether any answer of the origin's will do, also one that is not the resource: the reader tells a client of it.
    package var takesAnyAnswer = false

    package init(key: ResourceKey, url: OriginURL, fields: HTTPFields) {
        self.key = key
        self.url = url
        self.fields = fields
    }
}
