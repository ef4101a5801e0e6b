// gives: call to main actor-isolated initializer 'init(asset:)' in a synchronous nonisolated context
import AVFoundation

#if MISTAKE
    func item(_ asset: AVAsset) -> AVPlayerItem { AVPlayerItem(asset: asset) }
#else
    func item(_ asset: AVURLAsset) -> AVPlayerItem { AVPlayerItem(asset: asset) }
#endif
