import RepriseHTTP
import RepriseRanges
import Testing

@Suite("A multipart body")
struct MultipartByteRangesTests {
    private static let two = MultipartByteRanges(
        ranges: [ByteRange(7, 9), ByteRange(0, 3)], total: 10, partType: "audio/mpeg", boundary: "b")

    @Test func `inv09 is laid out byte for byte as RFC 9110 §14.6 says, in the order asked for`() {
        let content = Array("0123456789".utf8)
        let body = MultipartByteRangesTests.two.pieces.reduce(into: [UInt8]()) { body, piece in
            switch piece {
            case .text(let text): body += Array(text.utf8)
            case .bytes(let range): body += content[Int(range.lowerBound)..<Int(range.upperBound)]
            }
        }
        let expected = [
            "--b", "Content-Type: audio/mpeg", "Content-Range: bytes 7-8/10", "", "78",
            "--b", "Content-Type: audio/mpeg", "Content-Range: bytes 0-2/10", "", "012", "--b--", "",
        ]
        #expect(String(decoding: body, as: UTF8.self) == expected.joined(separator: "\r\n"))
        #expect(MultipartByteRangesTests.two.length == Int64(body.count))
        #expect(MultipartByteRangesTests.two.contentType == "multipart/byteranges; boundary=b")
    }

    @Test func `has bytes only in pieces of their own`() {
        let isBytes = MultipartByteRangesTests.two.pieces.map { if case .bytes = $0 { true } else { false } }
        #expect(isBytes == [false, true, false, true, false])
    }
}
