import AVFoundation
import Foundation
import Reprise
import RepriseAVFoundation
import RepriseCore
import RepriseURLSession

func diagnose(cache: MediaCache, asset: AVURLAsset, item: AVPlayerItem) -> EventSubscription {
    // snippet: diagnose
    print("route:", asset.cacheRoute as Any)
    print("error:", item.error as Any)
    let watching = cache.onEvent { event in print(event) }
    // end
    return watching
}

#if !os(macOS) && !os(Linux)
    func finishInBackground(cancel: @escaping @Sendable () -> Void, finish: @escaping @Sendable () -> Void) {
        // snippet: finish-in-background
        ProcessInfo.processInfo.performExpiringActivity(withReason: "finish the download") { expired in
            if expired { return cancel() }
            finish()
        }
        // end
    }
#endif

func readToTheEnd(cache: MediaCache, url: URL) async throws {
    // snippet: read-to-the-end
    for try await _ in try cache.resource(for: url).bytes() {}
    // end
}

struct SceneFollower {
    let cache: MediaCache

    // snippet: suspend-and-resume
    func scenePhaseChanged(isActive: Bool, isPlaying: Bool) async {
        if isActive {
            await cache.resume()
        } else if !isPlaying {
            await cache.suspend()
        }
    }
    // end
}

func locations() throws -> [MediaCache] {
    // snippet: locations
    let songs = try MediaCache(at: .caches("Music"))
    let keepers = try MediaCache(at: .offline("Keepers"))
    // end
    return [songs, keepers]
}
