import RepriseCore
import RepriseHTTP
import Testing

/// The secondary key of answers that vary.
@Suite("A secondary key")
struct VariantTests {
    private let key = ResourceKey("http://a.example/one")

    @Test func `is the same for requests that match, RFC 9111 §4.1`() {
        let answer: HTTPFields = ["Vary": "Accept-Language"]
        let german = Variant(answer: answer, request: ["Accept-Language": "de", "User-Agent": "a"])
        #expect(german == Variant(answer: answer, request: ["accept-language": "de", "User-Agent": "b"]))
        #expect(german != Variant(answer: answer, request: ["Accept-Language": "en"]))
        #expect(german != Variant(answer: answer, request: [:]))
    }

    @Test func `is none where the answer does not vary, or by everything, RFC 9111 §4.1`() {
        #expect(Variant(answer: [:], request: ["Accept": "x"]) == nil)
        #expect(Variant(answer: ["Vary": "*"], request: [:]) == nil)
    }

    @Test func `does not show the fields it is made of, inv29`() throws {
        let secret = try #require(Variant(answer: ["Vary": "Authorization"], request: ["Authorization": "Bearer abc"]))
        #expect(secret.text.utf8.count == 64 && !secret.text.contains("abc"))
    }

    @Test func `stands behind the resource's own key`() throws {
        let variant = try #require(Variant(answer: ["Vary": "Accept"], request: [:]))
        let other = try #require(Variant(answer: ["Vary": "Accept"], request: ["Accept": "x"]))
        #expect(key.variant(variant) != key && key.variant(variant).primary == key && key.primary == key)
        #expect(key.variant(variant).variant(other) == key.variant(other), "a variant of a variant is the resource's")
        #expect(ResourceKey("my track").primary == ResourceKey("my track"), "an app's own key may have spaces")
    }
}
