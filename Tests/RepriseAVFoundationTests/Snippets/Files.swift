import AVFoundation
import Foundation
import Reprise
import RepriseCore

func doorFile(cache: MediaCache, url: URL) async throws -> AVPlayerItem {
    // snippet: door-file
    let lease = try await cache.resource(for: url).fileURL(afterBytes: 512 * 1024)
    let item = AVPlayerItem(url: lease.url)
    // end
    return item
}
