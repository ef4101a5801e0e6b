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
    let role: ServerRole
    private let url: OriginURL

    /// A request for media.
    /// - Parameters:
    ///   - url: What it asks for.
    ///   - makeBoundary: Makes the text that separates the parts of an answer.
    package init(
        method: String, fields: HTTPFields, for url: OriginURL, role: ServerRole,
        makeBoundary: () -> String = { ServerExchange.randomBoundary() }
    ) {
        // Randomness costs system calls; hardly a request asks for parts.
        let boundary = fields["Range"]?.utf8.contains(UInt8(ascii: ",")) == true ? makeBoundary() : nil
        (self.url, self.role) = (url, role)
        request = ConditionalRequest(
            method: method, fields: fields, boundary: boundary, isTransparent: role.edge != nil)
    }

    /// 128 random bits: nobody can prepare a file that holds the boundary of a later answer.
    private static func randomBoundary() -> String {
        SystemCalls.randomBytes(16).reduce(into: "reprise-") { text, byte in
            text += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
    }

    package var method: String { request.method }

    /// The methods that are answered or passed on, as far as they are known to all (RFC 9110 §9.3, RFC 5789).
    static func methods(_ sendsEveryMethod: Bool) -> String {
        "GET, HEAD, OPTIONS" + (sendsEveryMethod ? ", POST, PUT, DELETE, PATCH" : "")
    }

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
        case 412 where info.status != 412: text = "the resource is another one now"
        default: break
        }
        if !request.isTransparent {
            // A 304 must say no other than the answer it stands for.
            let type = meant.parts?.partType ?? head["Content-Type"] ?? info.fields["Content-Type"]
            AnyOriginRole.guardBrowser(&head, type: type)
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

    /// An answer as the client is told of it.
    /// - Parameters:
    ///   - age: Seconds since the origin made or confirmed it; `nil` where it came for this very request.
    ///   - outcome: How the request was handled; `nil` where that is not known.
    package func told(_ answer: Answer, age: Int64?, outcome: @autoclosure () -> CacheStatus?) -> Answer {
        var answer = answer
        answer.fields = role.told(answer.fields, from: url, age: age, outcome: outcome())
        return answer
    }

    /// The answer to a request that cannot be served.
    package func answer(_ error: CacheError, now: Int64) -> Answer {
        var head: HTTPFields = ["Date": HTTPDate.format(now)]
        if !request.isTransparent { AnyOriginRole.guardBrowser(&head, type: nil) }
        if let seconds = error.retryAfter { head["Retry-After"] = "\(seconds)" }
        if let cause = error.cause { head["Proxy-Status"] = cause.status(named: role.name, details: error.message) }
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
        // It is this server that has no more to give (RFC 9209 §2.3.12).
        if error.cause == .connectionLimit { return 503 }
        return switch error.code {
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
    package static func options(_ request: HTTPFields, sendsEveryMethod: Bool, now: Int64) -> Answer {
        let methods = methods(sendsEveryMethod)
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
}
