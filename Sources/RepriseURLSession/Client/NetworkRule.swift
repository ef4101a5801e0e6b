/// Which networks a client may use. Each rule has a session of its own, as the system ties it to the session.
///
/// Outside Apple's platforms only `allowsCellular` is known to the system, and nothing heeds it there.
public struct NetworkRule: Sendable, Hashable {
    /// Whether a cellular network may be used.
    public var allowsCellular: Bool
    /// Whether a network may be used that the system calls expensive, such as a personal hotspot.
    public var allowsExpensive: Bool
    /// Whether a network may be used while it is in Low Data Mode.
    public var allowsConstrained: Bool

    /// Makes a rule; every network is allowed unless told otherwise.
    public init(allowsCellular: Bool = true, allowsExpensive: Bool = true, allowsConstrained: Bool = true) {
        self.allowsCellular = allowsCellular
        self.allowsExpensive = allowsExpensive
        self.allowsConstrained = allowsConstrained
    }

    /// Every network.
    public static let any = NetworkRule()
    /// Neither cellular nor expensive networks, nor such in Low Data Mode.
    public static let unmetered = NetworkRule(allowsCellular: false, allowsExpensive: false, allowsConstrained: false)
}
