import RepriseHTTP
import RepriseStorage

extension ResourceRequest {
    /// The same for the variant that its fields choose, where the answer that is stored under its key was chosen by others
    /// (RFC 9111 §4.1). A request that says nothing of what the answer varies by names what its key names. I/O.
    func chosen(in store: Store, _ freshness: FreshnessPolicy) throws(StoreError) -> ResourceRequest {
        guard freshness == .http, key == key.primary,
            let info = try store.describe(name: store.entryName(key: key.text))?.info,
            case .fields(let names) = VaryField(info.fields), names.contains(where: fields.contains),
            let variant = Variant(answer: info.fields, request: fields), variant.text != info.variant
        else { return self }
        var chosen = self
        chosen.key = key.variant(variant)
        return chosen
    }
}
