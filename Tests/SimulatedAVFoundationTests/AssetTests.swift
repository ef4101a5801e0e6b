import AVFoundation
import Foundation
import Testing

/// What an asset says of itself, and what lives as long as it does.
@Suite("The simulated asset")
struct AssetTests {
    static let filling: @Sendable (AVAssetResourceLoadingRequest) -> Bool = { loading in
        loading.fill(length: 1_280_000)
        loading.dataRequest?.respond(with: Data(count: 2))
        loading.finishLoading()
        return true
    }

    @Test func `properties are loaded with one probe, shared by the copies`() async throws {
        let stage = Stage(Answerer(Self.filling))
        let (isPlayable, duration) = try await stage.asset.load(.isPlayable, .duration)
        #expect(isPlayable)
        #expect(duration.seconds == 10)
        let copy = stage.asset.copy() as! AVURLAsset
        #expect(try await copy.load(.isPlayable))
        #expect(try await !stage.asset.load(.isCompatibleWithAirPlayVideo))
        let requests = stage.record.requests
        #expect(requests.map(\.offset) == [0])
        #expect(requests.map(\.length) == [2])
        #expect(requests.map(\.isToEnd) == [false])
    }

    @Test(arguments: [
        ("text/html", 100, true, AVError.Code.fileFormatNotRecognized),
        ("public.mpeg-4", 0, true, .serverIncorrectlyConfigured),
        ("public.mpeg-4", 100, false, .serverIncorrectlyConfigured),
    ])
    func `an answer that is not media fails the asset`(
        type: String, length: Int64, ranges: Bool, code: AVError.Code
    ) async throws {
        let stage = Stage(
            Answerer { loading in
                loading.fill(length: length, type: type)
                loading.contentInformationRequest?.isByteRangeAccessSupported = ranges
                loading.finishLoading()
                return true
            })
        let error = await #expect(throws: NSError.self) { _ = try await stage.asset.load(.duration) }
        #expect(error?.code == code.rawValue)
    }

    @Test func `an error of the probe is the asset's error, and without a type the extension decides`() async throws {
        let failing = Stage(
            Answerer { loading in
                loading.finishLoading(with: URLError(.notConnectedToInternet))
                return true
            })
        let error = await #expect(throws: NSError.self) { _ = try await failing.asset.load(.duration) }
        #expect(error?.code == NSURLErrorNotConnectedToInternet)
        let nameless = Stage(
            Answerer { loading in
                loading.fill(length: 100, type: nil)
                loading.finishLoading()
                return true
            })
        #expect(try await nameless.asset.load(.isPlayable))
    }

    @Test func `an associated object lives as long as its owner, and copies do not take it along`() {
        final class Tied {}
        weak var watched: Tied?
        let key = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
        defer { unsafe key.deallocate() }
        do {
            let asset = AVURLAsset(url: URL(string: "own://host/a.mp3")!)
            do {
                let tied = Tied()
                watched = tied
                unsafe objc_setAssociatedObject(asset, key, tied, .OBJC_ASSOCIATION_RETAIN)
            }
            #expect(watched != nil)
            #expect(unsafe objc_getAssociatedObject(asset, key) as? Tied === watched)
            #expect(unsafe objc_getAssociatedObject(asset.copy(), key) == nil)
            withExtendedLifetime(asset) {}
        }
        #expect(watched == nil)
    }
}
