import RepriseHTTP

/// What becomes of the bytes behind a request's head, before it is answered. No method answered here gives a body a meaning
/// (RFC 9110 §9.3.1): a small one is read and dropped, so that the next request is found behind it. One that is passed on
/// is stored until it is whole, or passed on as it comes where it is long. No I/O.
package enum RequestIntake: Sendable, Hashable {
    /// Answered when all of it has come.
    case whole
    /// The same, once the client was told `100 Continue`.
    case wholeAfterContinue
    /// Passed on while the rest comes.
    case asItComes
    /// The same, once the client was told `100 Continue`.
    case asItComesAfterContinue
    /// Answered at once; what comes behind the head is not read as anything, and the connection ends with the answer.
    case headAlone
    case refused(RequestRefusal)

    /// Most bytes of a body that are read for nothing.
    package static let bodyLimit: Int64 = 64 * 1024

    /// Bytes of a body that is stored until it is whole before it is passed on, so that it can be sent again. What is longer is
    /// passed on as it comes.
    package static let wholeBodyLimit: Int64 = 1 << 20

    /// Decides from the head; `isRelayed` where its method is passed on to the origin.
    package init(_ head: RequestHead, isRelayed: Bool = false) {
        // HTTP/1.0 knows no expectations (RFC 9110 §10.1.1).
        let expectation = head.minorVersion == 0 ? nil : head.fields["Expect"]
        if let expectation, !expectation.equalsIgnoringCase("100-continue") {
            self = .refused(RequestRefusal(417, "no expectation but 100-continue is known here"))
            return
        }
        // One that is refused is answered at once.
        let isServed = isRelayed || ["GET", "HEAD", "OPTIONS"].contains(head.method)
        switch head.body {
        case .none: self = head.method == "CONNECT" ? .headAlone : .whole
        case .length(let length) where isRelayed && length > RequestIntake.wholeBodyLimit:
            self = expectation == nil ? .asItComes : .asItComesAfterContinue
        case .length(let length) where !isRelayed && length > RequestIntake.bodyLimit:
            self = isServed ? .refused(RequestIntake.tooLarge) : .headAlone
        case .length, .chunked:
            guard expectation != nil else {
                self = .whole
                return
            }
            self = isServed ? .wholeAfterContinue : .headAlone
        }
    }

    /// Why a body is not read on.
    package static let tooLarge = RequestRefusal(
        413, "a body of more than \(bodyLimit) bytes, which means nothing here")
}

extension RequestHead {
    /// Whether the client expects the connection to stay open (RFC 9112 §9.3).
    package var isKeepAlive: Bool {
        if fields.has(token: "close", in: "Connection") { return false }
        return minorVersion == 1 || fields.has(token: "keep-alive", in: "Connection")
    }
}
