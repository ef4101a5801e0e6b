// gives: capture of 'asset' with non-Sendable type 'AVAsset' in a '@Sendable' closure
import AVFoundation

#if MISTAKE
    func stop(_ asset: AVAsset, on queue: DispatchQueue) {
        queue.async { asset.cancelLoading() }
    }
#else
    func stop(_ asset: AVURLAsset, on queue: DispatchQueue) {
        queue.async { asset.cancelLoading() }
    }
#endif
