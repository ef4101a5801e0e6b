package import RepriseCore
package import RepriseHTTP
import ReprisePlatform
package import RepriseRanges

/// Decides how a request for media is answered, from its fields and what is known of the resource: what HTTP says of
/// ranges and conditions, and what a server adds to it. No I/O.
package struct ServerExchange: Sendable {
    /// A head to send, and which bytes go with it.
    package struct Answer: Sendable, Hashable {
        package var status: Int
        package var fields: HTTPFields
        /// What the head says of the range alone, behind `fields`, where those are the same for other ranges.
        package var part: Part?
        /// Bytes of the resource to send; `nil` where there is no body or it is `text` or `parts`.
        package var range: ByteRange?
        /// A body of several parts to send instead.
        package var parts: MultipartByteRanges?
        /// A text to send instead, and its type.
        package var text: String?
        package var textType = "text/plain; charset=utf-8"
        /// Whether the length is announced; otherwise the body is chunked, or ends with the connection.
        package var isDelimited = true
    }

    /// Which part of a resource an answer is: its `Content-Range` and `Content-Length`, not written yet.
    package struct Part: Sendable, Hashable {
        package var range: ByteRange
        /// Length of the resource.
        package var total: Int64?

        /// The same as fields.
        package var fields: HTTPFields {
            [
                "Content-Range": ContentRange.satisfied(range, total: total).field,
                "Content-Length": "\(range.count)",
            ]
        }
    }

    private let request: ConditionalRequest
    /// Who answers, as `Proxy-Status` names it.
    private let name: String

    /// A request for media.
    /// - Parameters:
    ///   - isTransparent: Whether the origin's answer is told as it is, as by a shared cache.
    ///   - name: Who answers, as `Proxy-Status` names it.
    ///   - makeBoundary: Makes the text that separates the parts of an answer.
    package init(
        method: String, fields: HTTPFields, isTransparent: Bool = false, name: String = "reprise",
        makeBoundary: () -> String = { ServerExchange.randomBoundary() }
    ) {
        // Randomness costs system calls; hardly a request asks for parts.
        let boundary = fields["Range"]?.utf8.contains(UInt8(ascii: ",")) == true ? makeBoundary() : nil
        self.name = name
        request = ConditionalRequest(
            method: method, fields: fields, boundary: boundary, isTransparent: isTransparent)
    }

    /// A request to a server that stands before one origin, or before any.
    package init(method: String, fields: HTTPFields, edge: EdgeRole?) {
        self.init(method: method, fields: fields, isTransparent: edge != nil, name: edge?.name ?? "reprise")
    }

    /// 128 random bits: nobody can prepare a file that holds the boundary of a later answer.
    private static func randomBoundary() -> String {
        SystemCalls.randomBytes(16).reduce(into: "reprise-") { text, byte in
            text += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
    }

    package var method: String { request.method }

    /// The methods that are answered or passed on, as far as they are known to all (RFC 9110 §9.3, RFC 5789).
    package static let methods = "GET, HEAD, OPTIONS, POST, PUT, DELETE, PATCH"

    /// Where reading should begin before anything is known of the resource.
    package var presumedRange: ByteRange { request.presumedRange }

    /// The answer once the resource is known.
    package func answer(_ info: ContentInfo, now: Int64) -> Answer {
        let meant = request.answer(info)
        var head = meant.fields
        if request.isAsItCame(info) {
            head = RelayedAnswer.dated(head, received: info.checked > 0 ? info.checked : now)
        } else {
            head["Date"] = HTTPDate.format(now)
        }
        var text: String?
        // What the origin answered with such a status says itself why.
        switch meant.status {
        case 416 where info.status == 200: text = "the resource has \(info.length ?? 0) bytes"
        case 412 where info.status == 200: text = "the resource is another one now"
        default: break
        }
        if meant.status != 416, !request.isTransparent {
            ServerExchange.addServerFields(&head, type: meant.parts?.partType ?? head["Content-Type"])
        }
        return Answer(
            status: meant.status, fields: head, range: meant.range, parts: meant.parts, text: text,
            isDelimited: meant.isDelimited)
    }

    /// The same answer, made from the connection's last one where only the range is another.
    /// - Parameter memory: The last answer; afterwards this one, where it can be of use to the next.
    package func answer(_ info: ContentInfo, now: Int64, memory: inout AnswerMemory?) -> Answer {
        guard let range = request.plainRange(length: info.length) else { return answer(info, now: now) }
        if memory?.isOf(info, now) != true {
            memory = AnswerMemory(answer(info, now: now), info, now)
        }
        return memory?.answer(range, total: info.length) ?? answer(info, now: now)
    }

    /// Fields that say something of all that a browser has from one site, which here is this server and every origin behind it: what
    /// one origin says must not clear, watch or open up what another has, nor have a password for it sent to that.
    private static let siteWide = [
        "Accept-CH", "Access-Control-Allow-Credentials", "Clear-Site-Data", "Critical-CH", "NEL",
        "Origin-Agent-Cluster", "Report-To", "Service-Worker-Allowed", "WWW-Authenticate",
    ]

    /// What is told of an answer that was passed on without being stored.
    /// - Parameters:
    ///   - url: What it answers.
    ///   - token: The token of this server's URLs.
    package static func relayed(_ fields: HTTPFields, from url: OriginURL, token: String?) -> HTTPFields {
        var head = RelayedAnswer.fields(fields, age: nil)
        head.remove(RelayedAnswer.ofTheHost)
        if let place = head["Location"], let whole = url.resolving(place) {
            head["Location"] = RequestTarget.target(for: whole, token: token)
        }
        addServerFields(&head, type: head["Content-Type"])
        return head
    }

    private static func addServerFields(_ head: inout HTTPFields, type: String?) {
        head.remove(ServerExchange.siteWide)
        head["Access-Control-Allow-Origin"] = "*"
        head["Access-Control-Expose-Headers"] = "Content-Length, Content-Range, Accept-Ranges, ETag, Age, Retry-After"
        head["X-Content-Type-Options"] = "nosniff"
        // A page passed on from a foreign origin must not run as one of ours.
        if MediaType(type)?.isInert != true { head["Content-Security-Policy"] = "sandbox" }
    }

    /// The answer to a request that cannot be served.
    package func answer(_ error: CacheError, now: Int64) -> Answer {
        var head: HTTPFields = ["Date": HTTPDate.format(now)]
        if !request.isTransparent { head["Access-Control-Allow-Origin"] = "*" }
        if let seconds = error.retryAfter { head["Retry-After"] = "\(seconds)" }
        if let cause = error.cause { head["Proxy-Status"] = cause.status(named: name, details: error.message) }
        let status = ServerExchange.status(of: error)
        switch error.code {
        case .originRefused where error.location != nil:
            // What else it said is not known here, so it is not to be kept.
            head["Location"] = error.location
            head["Cache-Control"] = "no-store"
        case .rangeNotSatisfiable(length: 0) where request.ranges.isEmpty:
            // Reading from 0 is a range to the origin; an empty resource has none, and is all the same there.
            head["Accept-Ranges"] = "bytes"
            return Answer(status: 200, fields: head)
        case .rangeNotSatisfiable(let length?): head["Content-Range"] = ContentRange.unsatisfied(total: length).field
        default: break
        }
        if ErrorBody.isJSON(request.fields) {
            return Answer(
                status: status, fields: head, text: ErrorBody.json(status, error), textType: "application/json")
        }
        return Answer(status: status, fields: head, text: error.message)
    }

    /// The one mapping of errors to statuses (RFC 9110 §15.6).
    private static func status(of error: CacheError) -> Int {
        switch error.code {
        case .originRefused(let status): (400..<600).contains(status) || error.location != nil ? status : 502
        case .rangeNotSatisfiable: 416
        case .originForbidden: 403
        case .originTimedOut: 504
        case .originUnreachable, .originInvalid, .changed: 502
        case .store, .incomplete, .closed, .unsupported: 503
        case .badURL: 400
        }
    }

    /// The answer to `OPTIONS`, CORS preflight included: who gets this far may ask, with any field.
    package static func options(_ request: HTTPFields, now: Int64) -> Answer {
        var fields: HTTPFields = [
            "Date": HTTPDate.format(now), "Allow": methods, "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": methods,
            "Access-Control-Allow-Headers": request["Access-Control-Request-Headers"]
                ?? "Range, If-Range, If-Match, If-None-Match, If-Modified-Since",
            "Access-Control-Max-Age": "86400",
        ]
        // A page of the network asks for a server of the machine (Private Network Access).
        if request["Access-Control-Request-Private-Network"] == "true" {
            fields["Access-Control-Allow-Private-Network"] = "true"
        }
        return Answer(status: 204, fields: fields)
    }

    /// An answer of a status and a line of text.
    package static func plain(_ status: Int, _ text: String, now: Int64) -> Answer {
        Answer(status: status, fields: ["Date": HTTPDate.format(now)], text: text)
    }

    /// The client's fields that go on to the origin: all but those of its connection, those that say where it is, a `Referer`
    /// that names this server, and whatever holds the token: a server in front may say the path in fields of its own.
    package static func forwarded(_ fields: HTTPFields, token: String? = nil) -> HTTPFields {
        var kept = fields
        kept.removeHopByHop()
        kept.remove([
            "Host", "Expect", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
            "X-Real-IP", "Via", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User",
        ])
        if let page = kept["Referer"], let host = fields["Host"] {
            let isOurs = OriginURL(page).map { $0.authority.equalsIgnoringCase(host) } ?? true
            if isOurs { kept.remove(["Referer"]) }
        } else {
            kept.remove(["Referer"])
        }
        if let token { kept.remove(kept.lines.filter { $0.value.contains(token) }.map(\.name)) }
        return kept
    }
}
