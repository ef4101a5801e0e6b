#if canImport(AVFoundation) && !os(watchOS)
    import Foundation
    import RepriseCore

    /// What a player is told of an error: a standard code of NSURLErrorDomain, flat. The loader would follow an underlying
    /// error to the innermost one and show only that.
    enum LoadingError {
        static func make(_ error: CacheError) -> NSError {
            NSError(
                domain: NSURLErrorDomain, code: error.urlErrorCode,
                userInfo: [NSLocalizedDescriptionKey: error.message, "NSDebugDescription": error.message])
        }
    }
#endif
