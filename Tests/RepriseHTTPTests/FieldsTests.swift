import RepriseHTTP
import Testing

@Suite("Header fields")
struct HTTPFieldsTests {
    @Test func `are found in any case and joined in order`() {
        var fields: HTTPFields = ["Accept": "a", "accept": " b ", "X": "\t1"]
        #expect(fields["ACCEPT"] == "a, b" && fields["x"] == "1" && fields["y"] == nil)
        #expect(fields.values(of: "aCCept") == ["a", "b"] && fields.contains("x") && !fields.contains("accep"))
        fields["accept"] = "c"
        #expect(fields.lines.map(\.name) == ["accept", "X"] && fields["Accept"] == "c")
        fields["X"] = nil
        fields["X"] = nil
        fields["Z"] = "z"
        fields.add("Z", "")
        #expect(fields.lines.count == 3 && fields["z"] == "z, ")
        fields.remove(["z", "ACCEPT"])
        #expect(fields == HTTPFields())
    }

    @Test func `keep the place of the first line that is replaced`() {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3", "C": "4"]
        fields["A"] = "5"
        #expect(fields.lines.map(\.value) == ["5", "2", "4"])
        var last: HTTPFields = ["B": "2", "A": "1", "a": "3"]
        last["a"] = "5"
        #expect(last.lines.map(\.value) == ["2", "5"])
    }

    @Test func `lose what belongs to one connection`() {
        var fields: HTTPFields = [
            "Connection": "close, X-Hop", "connection": "keep-alive", "Keep-Alive": "5", "x-hop": "1", "TE": "trailers",
            "Transfer-Encoding": "chunked", "Upgrade": "h2c", "Trailer": "T", "Proxy-Authorization": "s",
            "Proxy-Connection": "x", "Content-Type": "audio/mpeg",
        ]
        fields.removeHopByHop()
        #expect(fields == ["Content-Type": "audio/mpeg"])
    }

    @Test func `have tokens, not parts of tokens`() {
        let fields: HTTPFields = ["Vary": "Accept-Encoding, *", "Vary": "Cookie"]
        #expect(fields.has(token: "*", in: "vary") && fields.has(token: "COOKIE", in: "Vary"))
        #expect(!fields.has(token: "Accept", in: "Vary") && !fields.has(token: "*", in: "Very"))
    }
}

@Suite("Retry-After")
struct RetryAfterTests {
    @Test(
        arguments: [
            ("120", 120), (" 0 ", 0), ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
            ("soon", nil), ("-5", nil), ("", nil), ("1.5", nil),
        ] as [(String, Int64?)])
    func `is seconds or a date`(field: String, seconds: Int64?) {
        #expect(RetryAfter.seconds(field, now: 784_111_777) == seconds)
    }

    @Test func `may be missing`() { #expect(RetryAfter.seconds(nil, now: 0) == nil) }
}

@Suite("A media type")
struct MediaTypeTests {
    @Test func `bug25 is told to Apple's frameworks as a type identifier, never as MIME`() {
        #expect(MediaType("Audio/MPEG; charset=x")?.uniformTypeIdentifier == "public.mp3")
        #expect(MediaType("video/mp4")?.uniformTypeIdentifier == "public.mpeg-4")
        #expect(MediaType("audio/webm")?.uniformTypeIdentifier == nil)
        #expect(MediaType("application/octet-stream")?.uniformTypeIdentifier == nil)
        #expect(MediaType("audio/x-m4a")?.fileExtension == "m4a" && MediaType("a/b")?.fileExtension == "bin")
    }

    @Test(arguments: [
        "", "audio", "/", "audio/", "/mpeg", "a/b/c", "au dio/mpeg", "audio/mp\u{E9}g", ";", "audio/mpeg,audio/mpeg",
    ])
    func `is nothing where it is not one`(field: String) {
        #expect(MediaType(field) == nil)
    }

    @Test func `inv20 tells pages and manifests from media`() throws {
        for field in [
            "text/html", "application/json", "application/problem+json", "application/xml", "image/x", "text/plain",
        ] {
            #expect(try #require(MediaType(field)).isMarkup == !field.hasPrefix("image"), "\(field)")
        }
        #expect(try #require(MediaType("application/vnd.apple.mpegurl")).isManifest)
        #expect(try #require(MediaType("application/dash+xml")).isManifest)
        #expect(try !#require(MediaType("audio/mpeg")).isMarkup && !#require(MediaType("audio/mpeg")).isManifest)
        for inert in ["audio/mpeg", "video/mp4", "image/png", "application/octet-stream", "application/x-mpegURL"] {
            #expect(try #require(MediaType(inert)).isInert)
        }
        for active in [
            "text/html", "text/plain", "image/svg+xml", "application/dash+xml", "application/json",
            "application/x-unknown", "audio/x+xml",
        ] {
            #expect(try !#require(MediaType(active)).isInert)
        }
        #expect(MediaType(nil) == nil && MediaType("audio/mpeg ;x")?.essence == "audio/mpeg")
    }
}

@Suite("A container's signature")
struct ContainerSignatureTests {
    static let cases: [([UInt8], ContainerSignature)] = [
        (Array("ID3\u{4}".utf8), .mp3), ([0xFF, 0xFB, 0x90], .mp3), ([0xFF, 0xF3], .mp3), (Array("fLaC".utf8), .flac),
        (Array("OggS".utf8), .ogg), (Array("RIFFxxxxWAVE".utf8), .riff), (Array("FORMxxxxAIFC".utf8), .aiff),
        ([0, 0, 0, 24] + Array("ftypisom".utf8), .isoMedia), ([0x1A, 0x45, 0xDF, 0xA3], .matroska),
        ([0x47] + [UInt8](repeating: 0, count: 187) + [0x47], .mpegTransport), ([0x47], .unknown), ([], .unknown),
        (Array(" \r\n<!DOCTYPE html>".utf8), .markup), ([0xEF, 0xBB, 0xBF] + Array("<?XML".utf8), .markup),
        (Array("<Error><Code>AccessDenied".utf8), .markup), (Array("{\"error\":1}".utf8), .markup),
        (Array("[ {\"a\":1}]".utf8), .markup), (Array("{}".utf8), .markup), (Array("{".utf8), .unknown),
        ([0x7B, 0x22, 0, 1], .unknown), (Array("<".utf8), .unknown), (Array("FORM".utf8), .unknown),
        ([0xFF, 0xF1], .unknown), ([0xFF], .unknown), (Array("#EXTM3U\n#EXT-X-VERSION:3".utf8), .manifest),
        ([0xEF, 0xBB, 0xBF] + Array("#EXTM3U".utf8), .manifest), (Array("#EXTINF".utf8), .unknown),
        (Array("\n<MPD xmlns=".utf8), .manifest), (Array("<?xml version='1.0'?>\n<MPD ".utf8), .manifest),
        (Array("<?xml version='1.0'?><svg>".utf8), .markup), (Array("<?xml version='1.0'".utf8), .markup),
        (Array("<svg onload=".utf8), .markup),
    ]

    @Test(arguments: cases)
    func `inv20 is told from the first bytes`(bytes: [UInt8], signature: ContainerSignature) {
        #expect(ContainerSignature.of(bytes) == signature)
    }
}
