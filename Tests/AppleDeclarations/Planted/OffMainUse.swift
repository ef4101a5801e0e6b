// gives: main actor-isolated property 'asset' can not be referenced from a nonisolated context
import AVFoundation

#if !MISTAKE
    @MainActor
#endif
func asset(of item: AVPlayerItem) -> AVAsset {
    item.asset
}
