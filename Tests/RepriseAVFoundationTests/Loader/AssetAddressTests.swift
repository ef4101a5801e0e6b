import Foundation
import Testing

@testable import RepriseAVFoundation

/// Which way a URL goes, and under which address.
@Suite struct AssetAddressTests {
    @Test(arguments: [
        ("https://cdn.example/a/song.m4a?id=1&x=%2B", "reprise-https://cdn.example/a/song.m4a?id=1&x=%2B"),
        ("HTTP://cdn.example:8080/film.MP4#t=10", "reprise-http://cdn.example:8080/film.MP4"),
        ("https://user:secret@cdn.example/a.mp3", "reprise-https://cdn.example/a.mp3"),
        ("https://[2001:db8::1]/a%20b.mp3", "reprise-https://[2001:db8::1]/a%20b.mp3"),
    ])
    func `host, path, extension and query are kept under a scheme that parsers accept, bug22`(
        url: String, address: String
    ) throws {
        let url = try #require(URL(string: url))
        let mediated = try #require(AssetAddress.mediated(url))
        #expect(mediated.absoluteString == address)
        #expect(mediated.pathExtension == url.pathExtension)
        #expect(URLComponents(url: mediated, resolvingAgainstBaseURL: true)?.scheme?.hasPrefix("reprise-") == true)
    }

    @Test(arguments: [
        ("file:///tmp/a.mp3", DirectReason.file), ("https://e.example/live.m3u8", .stream),
        ("https://e.example/film.MPD?x=1", .stream), ("skd://key", .protectedContent),
        ("https://e.example/a.m4p", .protectedContent), ("ftp://e.example/a.mp3", .unsupportedScheme),
        ("rtsp://e.example/a", .unsupportedScheme), ("data:audio/mpeg;base64,AA", .unsupportedScheme),
    ])
    func `what a resource loader cannot serve has its reason`(url: String, reason: DirectReason) throws {
        #expect(AssetAddress.reasonAgainstLoader(try #require(URL(string: url))) == reason)
    }

    @Test func `media by http and https is served`() throws {
        for text in ["http://e.example/a.mp3", "HTTPS://e.example/film", "https://e.example/a.m3u8.mp4"] {
            #expect(AssetAddress.reasonAgainstLoader(try #require(URL(string: text))) == nil)
        }
    }
}
