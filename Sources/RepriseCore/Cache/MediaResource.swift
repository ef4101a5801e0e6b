package import RepriseHTTP
public import RepriseRanges
import RepriseStorage

/// One remote resource, by its key. A value: making one costs nothing and opens nothing.
public struct MediaResource: Sendable {
    let cache: MediaCache
    package let request: ResourceRequest

    init(cache: MediaCache, request: ResourceRequest) {
        self.cache = cache
        self.request = request
    }

    /// The same for a door that tells its client of any answer: also of a redirect, a refusal, an error.
    ///
    /// In a shared cache bodies have a coding that the client takes, where their origin gives them one. A cache of media asks for
    /// them as they are, since it is parts of those that it stores.
    /// - Parameter client: The client's fields.
    package func withAnyAnswer(for client: HTTPFields) -> MediaResource {
        var request = request
        request.answers = .any
        if cache.configuration.freshness == .http, let codings = AcceptEncoding(client).field {
            request.fields["Accept-Encoding"] = codings
        }
        return MediaResource(cache: cache, request: request)
    }

    /// The key it is stored under.
    public var key: ResourceKey { request.key }

    /// A reader of `range`, or of everything. Costs no I/O; the first bytes are looked for at the first call.
    public func reader(in range: ByteRange? = nil) -> CacheReader {
        CacheReader(handle: makeHandle(in: range ?? .from(0)))
    }

    /// - Parameter isHandedOn: Whether anybody looks at the bytes; `false` is for those who only have them come.
    package func makeHandle(
        in range: ByteRange, priority: TransferPlanner.Priority = .playing, isHandedOn: Bool = true
    ) -> ReaderHandle {
        cache.makeReader(
            request, position: range.lowerBound, end: range.upperBound, priority: priority, isHandedOn: isHandedOn)
    }

    /// The bytes of `range`, or of everything, as a sequence that is pulled: nothing is buffered beyond the read-ahead.
    public func bytes(in range: ByteRange? = nil) -> ByteChunks { ByteChunks(resource: self, range: range ?? .from(0)) }

    /// Length, type and validators; asks the origin where nothing is stored, with the request that also brings the
    /// first bytes.
    /// - Throws: `CacheError`.
    public func info() async throws(CacheError) -> ContentInfo {
        let reader = reader()
        return try await reader.info()
    }

    /// The bytes that are stored, as far as this open of the entry knows them.
    public func storedRanges() -> ByteRangeSet { cache.table.open(request.key)?.storedRanges ?? ByteRangeSet() }
}

extension MediaResource {
    /// What went wrong last with it since the cache was opened: at the origin, at the disk, in what is stored.
    public var lastError: LastError? { cache.environment.hub.lastError(of: key.text) }
}

extension MediaResource {
    /// The request for the variant that its fields choose, where the answer that is stored under its key was chosen by others
    /// (RFC 9111 §4.1). A request that says nothing of what the answer varies by names what its key names. I/O.
    func chosen(in store: Store) throws(StoreError) -> ResourceRequest {
        let key = request.key
        guard cache.configuration.freshness == .http, key == key.primary,
            let info = try store.describe(name: store.entryName(key: key.text))?.info,
            case .fields(let names) = VaryField(info.fields), names.contains(where: request.fields.contains),
            let variant = Variant(answer: info.fields, request: request.fields), variant.text != info.variant
        else { return request }
        var chosen = request
        chosen.key = key.variant(variant)
        return chosen
    }
}
