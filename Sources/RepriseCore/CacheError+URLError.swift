/// Codes of Apple's `NSURLErrorDomain`, by their documented names.
///
/// The doors that answer to Foundation (the resource loader, the URL protocol) must speak in these numbers, flat, without
/// an underlying error: a player shows the innermost error it finds. Plain numbers here, as this floor has no Foundation.
package enum URLErrorCode {
    package static let cancelled = -999
    package static let badURL = -1000
    package static let timedOut = -1001
    package static let unsupportedURL = -1002
    package static let cannotFindHost = -1003
    package static let cannotConnectToHost = -1004
    package static let networkConnectionLost = -1005
    package static let resourceUnavailable = -1008
    package static let notConnectedToInternet = -1009
    package static let badServerResponse = -1011
    package static let userAuthenticationRequired = -1013
    package static let fileDoesNotExist = -1100
    package static let noPermissionsToReadFile = -1102
    package static let cannotOpenFile = -3001
}

extension CacheError {
    /// The code of `NSURLErrorDomain` that says the same to an app or a player; never 0.
    ///
    /// Whether the device is offline altogether is not known here: an origin out of reach is `cannotConnectToHost`.
    package var urlErrorCode: Int {
        switch code {
        case .originUnreachable: URLErrorCode.cannotConnectToHost
        case .originTimedOut: URLErrorCode.timedOut
        case .originRefused(let status): CacheError.urlErrorCode(status: status)
        case .originForbidden: URLErrorCode.noPermissionsToReadFile
        case .originInvalid: URLErrorCode.badServerResponse
        case .rangeNotSatisfiable: URLErrorCode.resourceUnavailable
        // What a loader tries again from the start; nothing is wrong with the new representation.
        case .changed: URLErrorCode.networkConnectionLost
        case .store, .incomplete, .unsupported: URLErrorCode.cannotOpenFile
        case .badURL: URLErrorCode.unsupportedURL
        case .closed: URLErrorCode.cancelled
        }
    }

    private static func urlErrorCode(status: Int) -> Int {
        switch status {
        case 401, 407: URLErrorCode.userAuthenticationRequired
        case 403: URLErrorCode.noPermissionsToReadFile
        case 404, 410: URLErrorCode.fileDoesNotExist
        case 408, 504: URLErrorCode.timedOut
        case 416, 425, 429, 503: URLErrorCode.resourceUnavailable
        default: URLErrorCode.badServerResponse
        }
    }
}
