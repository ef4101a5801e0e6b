import Foundation
package import RepriseCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension OriginFailure {
    /// What an error of the URL loading system means to the engine.
    package init(_ error: any Error) {
        let system = error as NSError
        let kind = system.domain == NSURLErrorDomain ? OriginFailure.kinds[system.code] : nil
        self.init(kind ?? .interrupted, error.localizedDescription)
    }

    /// By code of `NSURLErrorDomain`; what is not here broke off.
    private static let kinds: [Int: Kind] = {
        let codes: [(Kind, [URLError.Code])] = [
            (
                .unreachable,
                [
                    .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .dataNotAllowed,
                    .internationalRoamingOff, .callIsActive,
                ]
            ),
            (.timedOut, [.timedOut]),
            (
                .untrusted,
                [
                    .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                    .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                    .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
                ]
            ),
            (
                .malformed,
                [
                    .badURL, .unsupportedURL, .badServerResponse, .cannotParseResponse, .cannotDecodeRawData,
                    .cannotDecodeContentData, .httpTooManyRedirects, .redirectToNonExistentLocation,
                ]
            ),
        ]
        return Dictionary(
            uniqueKeysWithValues: codes.flatMap { kind, codes in codes.map { ($0.rawValue, kind) } })
    }()
}
