import Foundation
import RepriseCore
import RepriseURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What the system's errors mean to the engine.
@Suite struct OriginFailureTests {
    @Test(arguments: [
        (URLError.Code.notConnectedToInternet, OriginFailure.Kind.unreachable), (.cannotFindHost, .unreachable),
        (.dnsLookupFailed, .unreachable), (.cannotConnectToHost, .unreachable), (.dataNotAllowed, .unreachable),
        (.timedOut, .timedOut), (.networkConnectionLost, .interrupted), (.cancelled, .interrupted),
        (.unknown, .interrupted), (.secureConnectionFailed, .untrusted), (.serverCertificateUntrusted, .untrusted),
        (.serverCertificateHasBadDate, .untrusted), (.clientCertificateRequired, .untrusted),
        (.cannotParseResponse, .malformed), (.badServerResponse, .malformed), (.httpTooManyRedirects, .malformed),
        (.unsupportedURL, .malformed),
    ])
    func `an error of the URL loading system has one meaning, bug19`(code: URLError.Code, kind: OriginFailure.Kind) {
        #expect(OriginFailure(NSError(domain: NSURLErrorDomain, code: code.rawValue)).kind == kind)
        #expect(OriginFailure(URLError(code)).kind == kind)
    }

    @Test func `an error of another domain with the same number is only a break`() {
        let error = NSError(domain: NSCocoaErrorDomain, code: URLError.Code.timedOut.rawValue)
        #expect(OriginFailure(error).kind == .interrupted)
    }
}
