/// What a repair found and did. Encodes as JSON with these names; sizes are bytes.
public struct RepairReport: Sendable, Hashable, Codable {
    /// An entry of which blocks were dropped.
    public struct Repaired: Sendable, Hashable, Codable {
        /// Its key.
        public var key: String
        /// Blocks that did not match their checksum: they are fetched again when they are wanted.
        public var droppedBlocks: Int64
    }

    /// An entry that could not be looked at now; nothing was done to it.
    public struct Unavailable: Sendable, Hashable, Codable {
        /// Its key, or the name of its folder.
        public var name: String
        /// Why.
        public var reason: String
    }

    /// Entries that were looked at.
    public var entries = 0
    /// Bytes that match their checksum.
    public var verifiedBytes: Int64 = 0
    /// Entries that lost blocks, by key.
    public var repaired: [Repaired] = []
    /// Names of the folders of entries that could not be read any more, or were never finished: they are gone, and what was
    /// in them is fetched anew when it is wanted.
    public var removed: [String] = []
    /// Entries that could not be looked at now.
    public var unavailable: [Unavailable] = []

    /// Nothing looked at.
    public init() {}

    /// Whether there was nothing to do.
    public var isSound: Bool { repaired.isEmpty && removed.isEmpty && unavailable.isEmpty }
}
