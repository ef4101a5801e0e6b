import RepriseCore
import RepriseHTTP
import RepriseRanges
import Testing

/// What may be done with a stored part: the rule alone. What the engine does by it is in `PartialScenarioTests`.
@Suite("A stored part")
struct PartialContentRuleTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:50:37 GMT"
    private let stored = ByteRangeSet([ByteRange(0, 40), ByteRange(60, 100)])

    private func servable(_ field: String?, length: Int64? = 100) -> ByteRange? {
        PartialContentRule.servable(field.flatMap { RangeSpecifier.parse($0)?.first }, length: length, stored: stored)
    }

    private func combines(_ old: HTTPFields, _ new: HTTPFields, _ length: Int64? = 9, _ newLength: Int64? = 9) -> Bool {
        PartialContentRule.mayCombine(old, length: length, with: new, length: newLength)
    }

    @Test func `serves a smaller range that lies in it, RFC 9111 §3.3 and RFC 9110 §14.2`() {
        #expect(servable("bytes=10-19") == ByteRange(10, 20) && servable("bytes=0-39") == ByteRange(0, 40))
    }

    @Test func `serves a suffix that lies in it, RFC 9110 §14.1.2`() {
        #expect(servable("bytes=-40") == ByteRange(60, 100) && servable("bytes=-41") == nil)
    }

    @Test func `serves no suffix while the length is not known, RFC 9110 §14.1.2`() {
        #expect(servable("bytes=-10", length: nil) == nil)
    }

    @Test func `serves an open range where the rest is stored, RFC 9110 §14.1.2`() {
        #expect(servable("bytes=60-") == ByteRange(60, 100) && servable("bytes=30-") == nil)
        #expect(servable("bytes=60-", length: nil) == nil, "where the end is not known it cannot be stored")
    }

    @Test func `serves a range that reaches past the end, clipped, RFC 9110 §14.1.2`() {
        #expect(servable("bytes=90-999") == ByteRange(90, 100) && servable("bytes=-999") == nil)
    }

    @Test func `serves no byte it does not have, RFC 9111 §3.3`() {
        #expect(servable("bytes=39-40") == nil && servable("bytes=40-59") == nil && servable("bytes=0-99") == nil)
    }

    @Test func `serves a closed range though the length is not known, RFC 9110 §14.4`() {
        #expect(servable("bytes=10-19", length: nil) == ByteRange(10, 20))
    }

    @Test func `serves nothing past the end, RFC 9110 §15.5.17`() {
        #expect(servable("bytes=100-") == nil && servable("bytes=-0") == nil)
    }

    @Test func `is not a whole answer, RFC 9111 §3.3`() {
        #expect(servable(nil) == nil && !PartialContentRule.isComplete(length: 100, stored: stored))
        #expect(PartialContentRule.isComplete(length: 40, stored: stored))
        #expect(!PartialContentRule.isComplete(length: nil, stored: stored))
    }

    @Test func `is completed by exactly what is missing, RFC 9111 §3.4`() {
        func missing(_ field: String?) -> [ByteRange] {
            PartialContentRule.missing(
                field.flatMap { RangeSpecifier.parse($0)?.first }, length: 100, stored: stored)
        }
        #expect(missing(nil) == [ByteRange(40, 60)] && missing("bytes=-100") == [ByteRange(40, 60)])
        #expect(missing("bytes=30-49") == [ByteRange(40, 50)] && missing("bytes=0-9").isEmpty)
    }

    @Test func `combines under the same strong tag, RFC 9111 §3.4`() {
        #expect(combines(["ETag": "\"a\""], ["ETag": "\"a\""]))
        #expect(!combines(["ETag": "\"a\""], ["ETag": "\"b\""]))
    }

    @Test func `does not combine under weak tags, RFC 9110 §15.3.7.3`() {
        #expect(
            !combines(["ETag": "W/\"a\""], ["ETag": "W/\"a\""]) && !combines(["ETag": "\"a\""], ["ETag": "W/\"a\""]))
    }

    @Test func `does not combine without a validator, RFC 9110 §15.3.7.3`() {
        #expect(!combines([:], [:]) && !combines(["ETag": "\"a\""], [:]) && !combines([:], ["ETag": "\"a\""]))
    }

    @Test func `combines under a date that is strong by its distance, RFC 9110 §8.8.2.2`() {
        let strong: HTTPFields = ["Last-Modified": Self.date, "Date": Self.later]
        #expect(combines(strong, strong))
        let fresh: HTTPFields = ["Last-Modified": Self.date, "Date": Self.date]
        #expect(!combines(fresh, fresh) && !combines(strong, fresh))
        #expect(!combines(["Last-Modified": Self.date], ["Last-Modified": Self.date]), "no Date to tell by")
        #expect(!combines(strong, ["Last-Modified": "Sat, 05 Nov 1994 08:49:37 GMT", "Date": Self.later]))
    }

    @Test func `does not combine where the lengths differ, RFC 9110 §14.4`() {
        #expect(!combines(["ETag": "\"a\""], ["ETag": "\"a\""], 9, 10))
        #expect(combines(["ETag": "\"a\""], ["ETag": "\"a\""], 9, nil))
    }

    @Test func `may be completed later only under a strong validator, RFC 9111 §3.4`() {
        #expect(PartialContentRule.mayComplete(["ETag": "\"a\""]))
        #expect(PartialContentRule.mayComplete(["Last-Modified": Self.date, "Date": Self.later]))
        for fields: HTTPFields in [[:], ["ETag": "W/\"a\""], ["Last-Modified": Self.date, "Date": Self.date]] {
            #expect(!PartialContentRule.mayComplete(fields))
        }
    }
}
