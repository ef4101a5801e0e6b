// gives: 'AVAssetResourceLoader' is unavailable in watchOS
// on: watchOS
import AVFoundation

#if MISTAKE || !os(watchOS)
    func queue(of loader: AVAssetResourceLoader) -> DispatchQueue? { loader.delegateQueue }
#endif
