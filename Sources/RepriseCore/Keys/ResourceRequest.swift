package import RepriseHTTP

/// What a reader asks for: which resource, from where, and with which fields of the caller's own.
package struct ResourceRequest: Sendable, Hashable {
    /// Which answers of the origin's will do.
    package enum Answers: Sendable, Hashable {
        /// The resource alone, whose bytes are read.
        case resource
        /// Any, also one that is not the resource, as the reader tells a client of it. What may pass is asked for again for a
        /// while.
        case any
        /// The next, whatever it is: it was waited for before.
        case next
    }

    package var key: ResourceKey
    package var url: OriginURL
    package var fields: HTTPFields
    /// Whether what is fetched for it may be stored.
    package var isKept = true
    package var answers = Answers.resource

    package init(key: ResourceKey, url: OriginURL, fields: HTTPFields) {
        self.key = key
        self.url = url
        self.fields = fields
    }
}
