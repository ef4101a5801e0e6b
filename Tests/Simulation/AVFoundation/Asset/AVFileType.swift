internal import Foundation

/// The uniform type identifier of a container format.
public struct AVFileType: RawRepresentable, Hashable, Sendable {
    /// The identifier.
    public let rawValue: String
    /// The type of this identifier.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The type of this identifier.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// MPEG-4 film.
    public static let mp4 = AVFileType("public.mpeg-4")
    /// Apple's MPEG-4 audio.
    public static let m4a = AVFileType("com.apple.m4a-audio")
    /// Apple's MPEG-4 video.
    public static let m4v = AVFileType("com.apple.m4v-video")
    /// QuickTime film.
    public static let mov = AVFileType("com.apple.quicktime-movie")
    /// MPEG layer 3 audio.
    public static let mp3 = AVFileType("public.mp3")
    /// Waveform audio.
    public static let wav = AVFileType("com.microsoft.waveform-audio")
    /// AIFF audio.
    public static let aiff = AVFileType("public.aiff-audio")
    /// Core Audio format.
    public static let caf = AVFileType("com.apple.coreaudio-format")
    /// 3GPP film.
    public static let mobile3GPP = AVFileType("public.3gpp")
}

/// The domain of AVFoundation's own errors.
public let AVFoundationErrorDomain = "AVFoundationErrorDomain"

/// AVFoundation's own errors. Here it holds the codes; a simulated error is an `NSError` of the domain.
public struct AVError {
    /// The codes that the simulation gives or an adapter may meet.
    public enum Code: Int, Sendable {
        /// Nothing more is known.
        case unknown = -11800
        /// The system's media process ended; every object must be made anew.
        case mediaServicesWereReset = -11819
        /// The data could not be decoded.
        case decodeFailed = -11821
        /// The content type is not media.
        case fileFormatNotRecognized = -11828
        /// The media is broken.
        case fileFailedToParse = -11829
        /// The asset cannot do this.
        case operationNotSupportedForAsset = -11838
        /// Media data could not be loaded.
        case failedToLoadMediaData = -11849
        /// The server does not behave.
        case serverIncorrectlyConfigured = -11850
    }

    static func make(_ code: Code) -> NSError { NSError(domain: AVFoundationErrorDomain, code: code.rawValue) }
}

extension NSError {
    static var simulatedUnsupportedURL: NSError { NSError(domain: NSURLErrorDomain, code: NSURLErrorUnsupportedURL) }
    static var simulatedLoadingCancelled: NSError { NSError(domain: NSCocoaErrorDomain, code: 3072) }

    /// The innermost underlying error: the only one a player gets to see.
    var simulatedInnermost: NSError {
        var error = self
        while let inner = error.userInfo[NSUnderlyingErrorKey] as? any Error { error = inner as NSError }
        return error
    }
}
