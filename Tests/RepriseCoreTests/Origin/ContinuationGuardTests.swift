import RepriseCore
import RepriseHTTP
import Testing

@Suite struct ContinuationGuardTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let strong = Validator(entityTag: EntityTag("\"a\""), lastModified: date)
    private static let weak = Validator(entityTag: EntityTag("W/\"a\""), lastModified: date)
    private static let dated = Validator(entityTag: nil, lastModified: date)
    private static let nothing = Validator()

    @Test func `a strong tag is sent and trusted, inv16`() {
        let guardian = ContinuationGuard(policy: .automatic, validator: Self.strong, trustsEntityTags: true)
        #expect(guardian == ContinuationGuard(ifRange: "\"a\"", comparesOverlap: false))
    }

    @Test func `a date alone is sent, as RFC 9110 allows`() {
        let guardian = ContinuationGuard(policy: .automatic, validator: Self.dated, trustsEntityTags: true)
        #expect(guardian == ContinuationGuard(ifRange: Self.date, comparesOverlap: false))
    }

    @Test func `a date that is not strong is no condition, RFC 9110 §13.1.5`() {
        let guardian = ContinuationGuard(
            policy: .automatic, validator: Self.dated, trustsEntityTags: true, isDateStrong: false)
        #expect(guardian == ContinuationGuard(ifRange: nil, comparesOverlap: true))
        let tagged = ContinuationGuard(
            policy: .automatic, validator: Self.strong, trustsEntityTags: true, isDateStrong: false)
        #expect(tagged == ContinuationGuard(ifRange: "\"a\"", comparesOverlap: false))
    }

    @Test func `a weak tag is never sent; stored bytes are compared, inv16`() {
        let guardian = ContinuationGuard(policy: .automatic, validator: Self.weak, trustsEntityTags: true)
        #expect(guardian == ContinuationGuard(ifRange: nil, comparesOverlap: true))
    }

    @Test(arguments: [true, false])
    func `without any validator stored bytes are compared, inv16`(trusts: Bool) {
        let guardian = ContinuationGuard(policy: .automatic, validator: Self.nothing, trustsEntityTags: trusts)
        #expect(guardian == ContinuationGuard(ifRange: nil, comparesOverlap: true))
    }

    @Test func `a host whose nodes disagree gets no If-Range, and stored bytes are compared, bug31`() {
        let guardian = ContinuationGuard(policy: .automatic, validator: Self.strong, trustsEntityTags: false)
        #expect(guardian == ContinuationGuard(ifRange: nil, comparesOverlap: true))
    }

    @Test func `the strict policy goes on only under a strong tag`() {
        let guardian = ContinuationGuard(policy: .strict, validator: Self.strong, trustsEntityTags: true)
        #expect(guardian?.ifRange == "\"a\"")
        for validator in [Self.weak, Self.dated, Self.nothing] {
            #expect(ContinuationGuard(policy: .strict, validator: validator, trustsEntityTags: true) == nil)
        }
    }

    @Test func `the length-only policy asks for no proof`() {
        for validator in [Self.strong, Self.weak, Self.dated, Self.nothing] {
            let guardian = ContinuationGuard(policy: .lengthOnly, validator: validator, trustsEntityTags: true)
            #expect(guardian == ContinuationGuard(ifRange: nil, comparesOverlap: false))
        }
    }
}
