import AVFoundation
import Foundation
import Reprise
import RepriseAVFoundation
import RepriseCore
import RepriseURLSession

// What the README and the catalogue show, compiled; scripts/checks/docs compares the text.

func oneLine(cache: MediaCache, url: URL) -> AVPlayerItem {
    // snippet: one-line
    let item = AVPlayerItem(asset: cache.asset(for: url))
    // end
    return item
}

func quickStart(url: URL) throws {
    // snippet: quick-start
    let cache = try MediaCache(at: .caches("Music"))
    let player = AVPlayer(playerItem: AVPlayerItem(asset: cache.asset(for: url)))
    player.automaticallyWaitsToMinimizeStalling = false
    player.play()
    // end
}

func headersAndKey(cache: MediaCache, url: URL, token: String) -> AVURLAsset {
    // snippet: headers-and-key
    let asset = cache.asset(
        for: url,
        headers: ["Authorization": "Bearer \(token)"],
        key: ResourceKey("track-4711"))
    // end
    return asset
}

func routeAndStatistics(cache: MediaCache, asset: AVURLAsset) {
    // snippet: route-and-statistics
    if case .direct(_, let reason) = asset.cacheRoute {
        print("not cached:", reason)
    }
    let sums = cache.statistics
    print("\(sums.served) bytes played, \(sums.fromOrigin) from the network")
    // end
}

func sums(cache: MediaCache, url: URL) async throws {
    // snippet: store-statistics
    let all = await cache.storeStatistics().sums
    print("\(all.saved) bytes saved since the store was made, \(all.hits) of \(all.hits + all.misses) begun from it")
    let track = try cache.resource(for: url)
    if let sums = try await track.statistics() { print("\(sums.served) bytes of this one") }
    if let last = track.lastError { print("went wrong last: \(last.error)") }
    // end
}

func follow(cache: MediaCache, url: URL) async {
    // snippet: follow-events
    for await event in cache.events(for: url) {
        switch event {
        case .hit: print("plays from the store")
        case .partial, .miss: print("something has to be fetched")
        case .mismatch(_, let mismatch): print("expected \(mismatch.expected), got \(mismatch.got)")
        case .dropped(let count): print("\(count) events were not taken in time")
        default: break
        }
    }
    // end
}
