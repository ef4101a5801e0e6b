import AVFoundation
import Foundation
import Reprise
import RepriseAVFoundation
import RepriseCore

@MainActor
func cachingPlayer(cache: MediaCache, url: URL) {
    // snippet: caching-player
    let player = CachingPlayer(cache: cache)
    player.play(url)
    // end
}

@MainActor
func queue(items: [AVPlayerItem]) -> (AVQueuePlayer, QueueFollower) {
    // snippet: queue
    let player = AVQueuePlayer(items: items)
    let follower = QueueFollower(player)
    // end
    return (player, follower)
}

@MainActor
func migrationPlayer(cache: MediaCache, url: URL, show: (Any) -> Void) {
    // snippet: migration-player
    let player = CachingPlayer(cache: cache)
    player.play(url)
    player.pause()
    player.resume()
    show(player.state)
    // end
}

@MainActor
func migrationAudio(cache: MediaCache, url: URL, finished: (PlaybackEnd.Reason) -> Void) async {
    // snippet: migration-audio
    let player = CachingPlayer(cache: cache)
    let ends = player.ends()
    player.play(url)
    for await end in ends { finished(end.reason) }
    // end
}
