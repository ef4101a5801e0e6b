/// Who reads an open resource now, and what is being fetched for them. Encodes as JSON with these names; offsets and
/// sizes are bytes.
package struct ResourceReport: Codable, Sendable, Hashable {
    /// One reader: a client's answer, a player's request, a fetch.
    package struct Reader: Codable, Sendable, Hashable {
        package var position: Int64
        /// `nil` for "to the end".
        package var end: Int64?
        package var isWaiting: Bool
        package var isFetch: Bool
    }

    /// One transfer from the origin.
    package struct Transfer: Codable, Sendable, Hashable {
        /// Offset at which it began.
        package var start: Int64
        /// Offset of the next byte from the origin.
        package var position: Int64
        /// Bytes held in memory.
        package var window: Int64
        /// Readers it runs for.
        package var readers: Int
        package var isPaused: Bool
    }

    package var key: String
    package var length: Int64?
    package var stored: Int64
    package var readers: [Reader]
    package var transfers: [Transfer]
    /// Bytes handed to readers since the entry was made, and bytes that came from origins.
    package var servedBytes: Int64
    package var originBytes: Int64
    /// What went wrong last with it since the cache was opened.
    package var lastError: LastErrorReport?
}
