import AVFoundation
import Foundation
import Reprise
import RepriseAVFoundation
import RepriseCore
import RepriseHTTP
import RepriseRanges

func migrationItem(cache: MediaCache, url: URL) {
    // snippet: migration-item
    let asset = cache.asset(for: url)
    let item = AVPlayerItem(asset: asset)
    let player = AVPlayer(playerItem: item)
    player.automaticallyWaitsToMinimizeStalling = false
    player.play()
    // end
}

func migrationItemShort(cache: MediaCache, url: URL) -> AVPlayer {
    // snippet: migration-item-short
    let item = AVPlayerItem(asset: cache.asset(for: url))
    let player = AVPlayer(playerItem: item)
    // end
    return player
}

func migrationAsset(cache: MediaCache, url: URL) -> AVPlayerItem {
    // snippet: migration-asset
    let asset = cache.asset(for: url)
    let item = AVPlayerItem(asset: asset)
    // end
    return item
}

func migrationPreload(cache: MediaCache, url: URL) async throws {
    // snippet: migration-preload
    try await cache.prefetch(url, .bytes(1 << 20)).value
    // end
}

func migrationProgress(cache: MediaCache, url: URL, show: (Double) -> Void) async throws {
    // snippet: migration-progress
    let resource = try cache.resource(for: url)
    let stored = resource.storedRanges().count
    let length = try await resource.info().length ?? 0
    show(length == 0 ? 0 : Double(stored) / Double(length))
    // end
}

func migrationKeys() -> MediaCache.Configuration {
    // snippet: migration-keys
    var configuration = MediaCache.Configuration()
    configuration.keys = KeyPolicy { url in
        ResourceKey(url.origin + url.path)
    }
    // end
    return configuration
}

func migrationFeed(cache: MediaCache, next: [URL]) throws -> [Prefetch] {
    // snippet: migration-feed
    let preloads = try next.map { url in try cache.prefetch(url, .bytes(1 << 20)) }
    // end
    return preloads
}
