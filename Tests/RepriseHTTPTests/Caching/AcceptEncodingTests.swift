import RepriseHTTP
import Testing

@Suite("Accept-Encoding")
struct AcceptEncodingTests {
    private func field(_ lines: String..., more: HTTPFields = [:]) -> String? {
        AcceptEncoding(HTTPFields(more.lines.map { ($0.name, $0.value) } + lines.map { ("Accept-Encoding", $0) })).field
    }

    @Test func `all ways to say the same are one, RFC 9110 §12.5.3`() {
        let said = field("gzip, deflate, br, zstd")
        #expect(said == "br,deflate,gzip,zstd")
        #expect(field("ZSTD ,Br\t,deflate,gzip") == said)
        #expect(field("zstd;q=1.0, br", "x-gzip;q=1, deflate ; q=1.000") == said)
        #expect(field("zstd, gzip, br, deflate, identity;q=0.3, unknown, dcb, dcz") == said)
    }

    @Test func `weights that say more stay, RFC 9110 §12.4.2`() {
        #expect(field("gzip;q=1.0,deflate;q=0.6,identity;q=0.3") == "deflate;q=0.6,gzip")
        #expect(field("br;q=0, gzip;q=0.000") == nil)
        #expect(field("gzip, identity;q=0") == "gzip,identity;q=0")
    }

    @Test(arguments: [
        "", " ", "identity", "identity;q=1, *;q=0", "identity;q=0", "unknown", "gzip;q=x", "gzip;q=", "gzip;a=1;q=1",
        "gz\u{69}\u{301}p", "gzip;q=0.5\u{301}",
    ])
    func `who takes no coding is given none`(said: String) { #expect(field(said) == nil) }

    @Test func `who says nothing is given none`() { #expect(AcceptEncoding([:]).field == nil) }

    @Test func `a star is what all can read`() {
        #expect(field("*") == "gzip" && field("*;q=0.5, br") == "br,gzip;q=0.5")
        #expect(field("*, gzip;q=0") == nil && field("*;q=0, br") == "br")
    }

    @Test func `a part is of the body as it is`() { #expect(field("gzip", more: ["Range": "bytes=0-1"]) == nil) }
}
