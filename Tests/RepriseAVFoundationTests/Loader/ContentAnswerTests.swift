import RepriseCore
import RepriseHTTP
import Testing

@testable import RepriseAVFoundation

/// What a player is told of the content.
@Suite struct ContentAnswerTests {
    private func type(
        _ mime: String?, _ pathExtension: String = "", _ signature: ContainerSignature = .unknown,
        allowed: [String]? = nil
    ) -> String? {
        ContentAnswer(
            ContentInfo(length: 10, contentType: mime), pathExtension: pathExtension, signature: signature,
            allowed: allowed)?.contentType
    }

    @Test(arguments: [
        ("audio/mpeg", "public.mp3"), ("audio/mp4; codecs=\"mp4a.40.2\"", "public.mpeg-4-audio"),
        ("video/mp4", "public.mpeg-4"), ("VIDEO/QuickTime", "com.apple.quicktime-movie"),
        ("audio/x-wav", "com.microsoft.waveform-audio"), ("audio/flac", "org.xiph.flac"),
    ])
    func `a type is a uniform type identifier, never a MIME type, bug25 mistake08`(mime: String, identifier: String) {
        #expect(type(mime) == identifier)
    }

    @Test(arguments: ["application/octet-stream", "binary/octet-stream", nil, "nonsense"])
    func `a server that does not know is helped by the extension, else by the first bytes, bug25`(mime: String?) {
        #expect(type(mime, "M4A") == "com.apple.m4a-audio")
        #expect(type(mime, "", .mp3) == "public.mp3")
        #expect(type(mime, "", .isoMedia) == "public.mpeg-4")
        #expect(type(mime, "mov", .isoMedia) == "com.apple.quicktime-movie")
        #expect(type(mime) == nil)
    }

    @Test func `first bytes win over a wrong word of the server's`() {
        #expect(type("audio/mpeg", "m4a", .isoMedia) == "com.apple.m4a-audio")
        #expect(type("video/mp4", "mp4", .mp3) == "public.mp3")
        #expect(type("audio/mp4", "", .isoMedia) == "public.mpeg-4-audio")
    }

    @Test func `a list of allowed types is respected: ours, one it conforms to, or none`() {
        #expect(type("audio/mpeg", allowed: ["public.mp3"]) == "public.mp3")
        #expect(type("audio/x-m4a", allowed: ["public.mpeg-4-audio", "public.audio"]) == "public.mpeg-4-audio")
        #expect(type("audio/mpeg", allowed: ["com.apple.m4v-video"]) == nil)
    }

    @Test func `the length is the whole one, and without it there is no answer, bug07 mistake07`() {
        let info = ContentInfo(length: 4_093_201, contentType: "audio/mpeg")
        #expect(ContentAnswer(info, pathExtension: "", signature: .unknown, allowed: nil)?.length == 4_093_201)
        let unknown = ContentInfo(length: nil, contentType: "audio/mpeg")
        #expect(ContentAnswer(unknown, pathExtension: "", signature: .unknown, allowed: nil) == nil)
    }

    @Test func `reading on demand is offered once everything is stored`() {
        for isComplete in [true, false] {
            let info = ContentInfo(length: 10, contentType: "audio/mpeg", isComplete: isComplete)
            let answer = ContentAnswer(info, pathExtension: "mp3", signature: .mp3, allowed: nil)
            #expect(answer?.isEntireLengthAvailableOnDemand == isComplete)
        }
    }
}
