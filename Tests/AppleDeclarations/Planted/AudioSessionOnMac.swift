// gives: 'AVAudioSession' is unavailable in macOS
// on: macOS
import AVFoundation

func listen() {
    #if MISTAKE || os(iOS) || os(tvOS)
        _ = AVAudioSession.sharedInstance()
    #endif
}
