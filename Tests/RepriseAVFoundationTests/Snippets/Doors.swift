import AVFoundation
import Foundation
import Reprise
import RepriseAVFoundation
import RepriseCore
import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

func doorLoader(cache: MediaCache, url: URL) -> AVPlayerItem {
    // snippet: door-loader
    let item = AVPlayerItem(asset: cache.asset(for: url))
    // end
    return item
}

func doorProtocol(cache: MediaCache) -> URLSession {
    // snippet: door-protocol
    let configuration = URLSessionConfiguration.ephemeral
    CachingURLProtocol.register(cache, in: configuration)
    let session = URLSession(configuration: configuration)
    // end
    return session
}

func doorReader(cache: MediaCache, url: URL, position: Int64, decode: (ArraySlice<UInt8>) -> Void) async throws {
    // snippet: door-reader
    var reader = try cache.resource(for: url).reader()
    let length = try await reader.info().length
    reader.seek(to: position)
    while let chunk = try await reader.next() {
        decode(chunk.bytes)
    }
    // end
    print(length as Any)
}

func airplay(asset: AVURLAsset, player: AVPlayer) async {
    // snippet: airplay
    let position = player.currentTime()
    player.replaceCurrentItem(with: AVPlayerItem(asset: asset.originAsset))
    _ = await player.seek(to: position)
    // end
}
