import RepriseHTTP

/// Origins whose tags and dates differ from what is held though an overlap showed the same bytes: mirrors, whose validators are
/// their own.
struct DifferingOrigins {
    private var origins: Set<OctetString> = []

    /// Whether the validators of an origin say nothing of what is held.
    func isLoose(_ origin: String) -> Bool { origins.contains(origin.octets) }

    /// An overlap showed that an origin has the same bytes under other validators.
    mutating func add(_ origin: String) { origins.insert(origin.octets) }
}
