internal import Foundation

/// The uniform type identifier of a container format.
public struct AVFileType: RawRepresentable, Hashable, Sendable {
    /// The identifier.
    public let rawValue: String
    /// The type of this identifier.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// MPEG-4 film.
    public static let mp4 = AVFileType(rawValue: "public.mpeg-4")
}

/// The domain of AVFoundation's own errors.
public let AVFoundationErrorDomain = "AVFoundationErrorDomain"

/// AVFoundation's own errors. Here it holds the codes; a simulated error is an `NSError` of the domain.
public struct AVError {
    /// The codes that the simulation gives.
    public enum Code: Int, Sendable {
        /// Nothing more is known.
        case unknown = -11800
        /// The content type is not media.
        case fileFormatNotRecognized = -11828
        /// The asset cannot do this.
        case operationNotSupportedForAsset = -11838
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
