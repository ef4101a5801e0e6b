// gives: main actor-isolated conformance of 'Delegate' to 'AVAssetResourceLoaderDelegate' cannot be used in
import AVFoundation

#if MISTAKE
    @MainActor
#endif
final class Delegate: NSObject, AVAssetResourceLoaderDelegate {
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool { true }
}

func attach(_ delegate: Delegate, to asset: AVURLAsset, on queue: DispatchQueue) {
    asset.resourceLoader.setDelegate(delegate, queue: queue)
}
