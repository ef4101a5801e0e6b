/// What `Vary` says an answer was chosen by (RFC 9110 §12.5.5), and how requests compare under it (RFC 9111 §4.1).
public enum VaryField: Hashable, Sendable {
    /// `*`, alone or among others: no other request is like this one.
    case any
    /// Names of request fields in lower case, sorted, each once; empty where the answer does not vary.
    case fields([String])

    /// Reads every line of `Vary` in an answer; total. One that has a coding was chosen by the codings that are taken, also where it
    /// does not say so: not everyone can read it.
    public init(_ answer: HTTPFields) {
        var names = answer.members(of: "Vary").map { $0.lowercased() }
        if answer.contentCoding != nil { names.append("accept-encoding") }
        self = names.contains("*") ? .any : .fields(Set(names).sorted())
    }

    /// Whether every request gets the same answer.
    public var isEmpty: Bool { self == .fields([]) }

    /// What two requests must have in common to be given the same answer: the named fields, their lines joined and
    /// white space around commas taken away; a field that is missing is unlike one that is empty. `nil` for `*`.
    ///
    /// It may hold credentials: keep only a hash of it.
    public func selection(of request: HTTPFields) -> String? {
        guard case .fields(let names) = self else { return nil }
        return names.map { name in
            guard let value = request[name] else { return name + "\n" }
            let parts = value.parts(between: ",")
            return name + ":" + parts.map { String($0.trimmingOptionalWhitespace) }.joined(separator: ",") + "\n"
        }.joined()
    }
}
