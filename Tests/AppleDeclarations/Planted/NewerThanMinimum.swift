// gives: 'isObservationEnabled' is only available in iOS 26.0 or newer
import AVFoundation

@MainActor
func watch(_ player: AVPlayer) {
    #if MISTAKE
        AVPlayer.isObservationEnabled = true
    #else
        if #available(iOS 26.0, *) { AVPlayer.isObservationEnabled = true }
    #endif
}
