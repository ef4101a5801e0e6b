/// What went wrong last with a resource. Encodes as JSON with these names.
package struct LastErrorReport: Codable, Sendable, Hashable {
    /// Seconds since 1970.
    package var time: Int64
    /// The kind, as `CacheError.Code` names it; the origin's status and a length stand behind it.
    package var code: String
    /// For a person, without secrets.
    package var message: String

    package init(_ last: LastError) {
        time = last.time
        message = last.error.message
        code =
            switch last.error.code {
            case .originUnreachable: "originUnreachable"
            case .originTimedOut: "originTimedOut"
            case .originRefused(let status): "originRefused \(status)"
            case .originForbidden: "originForbidden"
            case .originInvalid: "originInvalid"
            case .rangeNotSatisfiable(let length): "rangeNotSatisfiable" + (length.map { " \($0)" } ?? "")
            case .changed: "changed"
            case .store: "store"
            case .incomplete: "incomplete"
            case .unsupported: "unsupported"
            case .badURL: "badURL"
            case .closed: "closed"
            }
    }
}
