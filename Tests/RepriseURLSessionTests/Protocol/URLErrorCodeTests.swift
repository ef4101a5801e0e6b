import Foundation
import RepriseCore
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What players and apps are told, in Foundation's numbers.
@Suite struct URLErrorCodeTests {
    @Test(arguments: [
        (URLErrorCode.cancelled, URLError.Code.cancelled), (URLErrorCode.badURL, .badURL),
        (URLErrorCode.timedOut, .timedOut), (URLErrorCode.unsupportedURL, .unsupportedURL),
        (URLErrorCode.cannotFindHost, .cannotFindHost), (URLErrorCode.cannotConnectToHost, .cannotConnectToHost),
        (URLErrorCode.networkConnectionLost, .networkConnectionLost),
        (URLErrorCode.resourceUnavailable, .resourceUnavailable),
        (URLErrorCode.notConnectedToInternet, .notConnectedToInternet),
        (URLErrorCode.badServerResponse, .badServerResponse),
        (URLErrorCode.userAuthenticationRequired, .userAuthenticationRequired),
        (URLErrorCode.fileDoesNotExist, .fileDoesNotExist),
        (URLErrorCode.noPermissionsToReadFile, .noPermissionsToReadFile),
        (URLErrorCode.cannotOpenFile, .cannotOpenFile),
    ])
    func `our names for the codes are Foundation's`(ours: Int, theirs: URLError.Code) {
        #expect(ours == theirs.rawValue)
    }

    @Test(arguments: [
        (CacheError.Code.originUnreachable, URLError.Code.cannotConnectToHost), (.originTimedOut, .timedOut),
        (.originRefused(status: 401), .userAuthenticationRequired),
        (.originRefused(status: 403), .noPermissionsToReadFile), (.originRefused(status: 404), .fileDoesNotExist),
        (.originRefused(status: 410), .fileDoesNotExist), (.originRefused(status: 429), .resourceUnavailable),
        (.originRefused(status: 500), .badServerResponse), (.originRefused(status: 503), .resourceUnavailable),
        (.originRefused(status: 504), .timedOut), (.originInvalid, .badServerResponse),
        (.rangeNotSatisfiable(length: 5), .resourceUnavailable), (.changed, .networkConnectionLost),
        (.store, .cannotOpenFile), (.badURL, .unsupportedURL), (.closed, .cancelled),
    ])
    func `every trouble has a code a player knows`(code: CacheError.Code, expected: URLError.Code) {
        #expect(CacheError(code, "x").urlErrorCode == expected.rawValue)
    }
}
