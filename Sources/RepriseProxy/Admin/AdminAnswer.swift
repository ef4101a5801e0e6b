/// What an administrator is told.
package struct AdminAnswer: Sendable, Hashable {
    package var status: Int
    package var contentType: String
    package var body: [UInt8]
    /// The methods that a path has; only with 405.
    package var allow: String?

    package init(status: Int, contentType: String, body: [UInt8], allow: String? = nil) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.allow = allow
    }

    /// A line of text.
    package static func text(_ status: Int, _ line: String) -> AdminAnswer {
        AdminAnswer(status: status, contentType: "text/plain; charset=utf-8", body: Array((line + "\n").utf8))
    }

    /// The answer to what could not be read.
    package init(_ refusal: AdminRequest.Refusal) {
        switch refusal {
        case .unknownPath: self = .text(404, "there is nothing here")
        case .wrongMethod(let allowed):
            self = .text(405, "only \(allowed)")
            allow = allowed
        case .badParameter(let reason): self = .text(400, reason)
        }
    }
}
