package import ReprisePlatform

/// Why the store could not do what was asked. A miss is not an error.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Code: Sendable, Hashable {
        /// Another process writes this root.
        case inUse
        /// The root was made by another version or with other settings.
        case wrongFormat
        /// The root is sealed, and the key that was given, or none, does not open it. Nothing was changed.
        case wrongKey
        /// The volume is full.
        case full
        /// Cannot be used now, may be usable later; nothing was deleted.
        case unavailable
        /// What is stored disagrees with its checksum; it costs that entry, not the store.
        case damaged
        /// Not all of the entry is stored, and all of it is needed.
        case incomplete
        /// The entry's files are not there any more: somebody removed them while they were in use.
        case gone
    }

    /// The kind.
    public var code: Code
    /// What happened and what to do about it.
    public var message: String
    /// The system's own words, where a file call failed.
    public var cause: String?

    /// Whether the system let nobody, or not this user, write there: a volume that is read-only, a directory of another.
    package var isWriteRefused = false

    package init(_ code: Code, _ message: String, cause: String? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package init(_ error: FileError, doing what: String) {
        switch error.kind {
        case .full:
            self.init(
                .full, "\(what): the volume is full; free some space or lower the limit", cause: error.description)
        case .missing, .exists, .unavailable:
            self.init(.unavailable, "\(what): the volume cannot be used now", cause: error.description)
            isWriteRefused = [FileError.readOnly, FileError.accessDenied, FileError.notPermitted].contains(error.code)
        }
    }

    /// Message and cause in one line.
    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
