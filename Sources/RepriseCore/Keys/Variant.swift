package import RepriseHTTP
import RepriseStorage

/// The secondary key of an answer that varies (RFC 9111 §4.1): a hash of the request fields it was chosen by, as these
/// may hold credentials.
package struct Variant: Hashable, Sendable {
    /// 64 hexadecimal digits.
    package let text: String

    /// A secondary key as it was stored.
    package init(text: String) { self.text = text }

    /// The secondary key of `request` under the `Vary` of `answer`; `nil` where the answer does not vary, or by
    /// everything.
    package init?(answer: HTTPFields, request: HTTPFields) {
        let vary = VaryField(answer)
        guard !vary.isEmpty, let selection = vary.selection(of: Variant.choosing(answer, request)) else { return nil }
        text = Store.entryName(key: selection)
    }

    /// The fields of a request that an answer was chosen by. What is not text and has no coding is for all who take it as it is,
    /// whatever codings they take besides: it would have none for the others either, and is not paid for twice.
    private static func choosing(_ answer: HTTPFields, _ request: HTTPFields) -> HTTPFields {
        guard answer.contentCoding == nil, request.contains("Accept-Encoding"),
            MediaType(answer["Content-Type"])?.isCompressible != true
        else { return request }
        var choosing = request
        choosing.remove(["Accept-Encoding"])
        return choosing
    }
}

extension ResourceKey {
    // A space: no URL has one.
    private static let mark = " vary:"

    /// The key under which what was chosen for `variant` is stored beside the first answer of the resource.
    package func variant(_ variant: Variant) -> ResourceKey { ResourceKey(primary.text + Self.mark + variant.text) }

    /// The resource's own key, without a variant.
    package var primary: ResourceKey {
        let parts = text.parts(between: " ")
        guard parts.count == 2, let last = parts.last, last.beginsLike("vary:"), last.utf8.count == 69 else {
            return self
        }
        return ResourceKey(String(parts[0]))
    }
}
