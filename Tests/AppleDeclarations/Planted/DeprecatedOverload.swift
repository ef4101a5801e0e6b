// gives: was deprecated in macOS 10.10: set the response and the redirect, then finish
// on: macOS
import AVFoundation

func finish(_ request: AVAssetResourceLoadingRequest, _ redirect: URLRequest) {
    #if MISTAKE
        request.finishLoading(with: nil, data: nil, redirect: redirect)
    #else
        request.redirect = redirect
        request.finishLoading()
    #endif
}
