import RepriseHTTP

/// Who reads: the fields of its requests, and the URL they were given for. A reference, as readers are looked at often.
final class Caller: Sendable, Equatable {
    /// The caller's own fields.
    let fields: HTTPFields
    /// The URL they were given for.
    let url: OriginURL

    init(_ fields: HTTPFields, for url: OriginURL) {
        self.fields = fields
        self.url = url
    }

    static func == (left: Caller, right: Caller) -> Bool { left.url == right.url && left.fields == right.fields }
}
