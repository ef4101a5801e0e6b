// gives: incorrect argument label in call (have 'error:', expected 'with:')
import AVFoundation

func fail(_ request: AVAssetResourceLoadingRequest, _ error: any Error) {
    #if MISTAKE
        request.finishLoading(error: error)
    #else
        request.finishLoading(with: error)
    #endif
}
