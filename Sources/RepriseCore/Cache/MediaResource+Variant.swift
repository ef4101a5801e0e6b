import RepriseHTTP
import RepriseStorage

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
