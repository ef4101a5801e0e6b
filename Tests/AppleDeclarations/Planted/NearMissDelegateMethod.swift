// gives: nearly matches optional requirement 'resourceLoader(_:shouldWaitForLoadingOfRequestedResource:)'
import AVFoundation

final class Delegate: NSObject, AVAssetResourceLoaderDelegate {
    #if MISTAKE
        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForLoadingOfRequestedResources loadingRequest: AVAssetResourceLoadingRequest
        ) -> Bool { true }
    #else
        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
        ) -> Bool { true }
    #endif
}
