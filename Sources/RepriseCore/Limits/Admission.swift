import RepriseHTTP
import RepriseStorage

/// What may be stored at all. What is refused still plays, and is still fetched once for all who read it together.
///
/// Asked for a representation when its first bytes are there, or when the first reader comes for whom it is to be stored; what is
/// stored already stays.
public struct Admission: Sendable {
    /// What is known of a resource before anything of it is stored.
    public struct Candidate: Sendable {
        /// Where it comes from.
        public var url: String
        /// The origin's `Content-Type`.
        public var contentType: String?
        /// Length of the whole in bytes, `nil` where the origin does not tell.
        public var length: Int64?
    }

    /// `nil` where everything is admitted.
    private let rule: (@Sendable (Candidate) -> Bool)?

    private init(rule: (@Sendable (Candidate) -> Bool)?) { self.rule = rule }

    /// Admits what `admits` answers `true` for. It is called on a background thread, under no lock; until it answers nothing of
    /// the resource is written.
    public init(_ admits: @escaping @Sendable (Candidate) -> Bool) { self.init(rule: admits) }

    /// Everything.
    public static let all = Admission(rule: nil)

    /// What is at most `length` bytes long; what does not tell its length is not.
    public static func upTo(_ length: Int64) -> Admission {
        Admission { $0.length.map { $0 <= length } ?? false }
    }

    /// What has one of these types, each as `video/mp4` or `video/*`; parameters and case do not count.
    public static func types(_ types: [String]) -> Admission {
        let wanted = types.map { $0.lowercased() }
        return Admission { candidate in
            guard let type = MediaType(candidate.contentType) else { return false }
            let name = type.essence
            return wanted.contains { text in
                let all = text.without(suffix: "*").map { $0.endsLike("/") && name.beginsLike($0) }
                return text.octets == name.octets || all ?? false
            }
        }
    }

    /// What both admit.
    public func and(_ other: Admission) -> Admission {
        guard let rule, let second = other.rule else { return rule == nil ? other : self }
        return Admission { rule($0) && second($0) }
    }

    var isEverything: Bool { rule == nil }

    func admits(_ info: EntryInfo) -> Bool {
        rule?(Candidate(url: info.url, contentType: info.fields["Content-Type"], length: info.length)) ?? true
    }
}

/// Whether what is fetched for a request may be stored.
public enum Storing: Sendable, Hashable {
    /// As the cache decides.
    case normal
    /// What is stored is used; what is fetched while all readers of the resource say this is passed on and shared, and not
    /// kept.
    case doNotStore
}
