import RepriseHTTP
import ReprisePlatform
public import RepriseRanges
import RepriseStorage

/// What an answer should have said or brought, and what it did.
public struct Mismatch: Sendable, Hashable, CustomStringConvertible {
    /// One side of it.
    public enum Value: Sendable, Hashable {
        /// Nothing of the kind.
        case nothing
        /// A status code.
        case status(Int)
        /// Bytes of a resource, by `Content-Range`.
        case range(ByteRange)
        /// A length in bytes, of the resource or of the body.
        case length(Int64)
        /// An entity tag as its field says it.
        case entityTag(String)
        /// `Last-Modified` as the origin wrote it.
        case lastModified(String)
        /// `Content-Encoding`; `identity` for none.
        case contentCoding(String)
        /// Media, of that `Content-Type` where it was told.
        case media(contentType: String?)
        /// A page in place of media, of that `Content-Type` where it was told.
        case page(contentType: String?)
        /// Content, told apart by a hash of it (XXH64).
        case bytes(ByteRange, hash: UInt64)
    }

    /// What was asked for, or is held.
    public var expected: Value
    /// What came.
    public var got: Value
    /// The same for a person.
    public var reason: String

    package init(expected: Value, got: Value, _ reason: String) {
        self.expected = expected
        self.got = got
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}

extension Mismatch {
    /// Another length.
    static func length(_ expected: Int64, _ got: Int64) -> Mismatch {
        Mismatch(
            expected: .length(expected), got: .length(got), "it was \(expected) bytes long and is \(got)")
    }

    /// Nothing that shows it to be what was announced.
    static func unconfirmed(_ held: EntryInfo) -> Mismatch {
        let tag = held.validator.entityTag.map { Value.entityTag($0.field) }
        let expected = tag ?? held.validator.lastModified.map { .lastModified($0) } ?? held.length.map { .length($0) }
        return Mismatch(
            expected: expected ?? .nothing, got: .nothing,
            "nothing shows that the answer is what was announced before it")
    }

    /// A page where media is held.
    static func page(_ fields: HTTPFields, insteadOf held: HTTPFields) -> Mismatch {
        Mismatch(
            expected: .media(contentType: held["Content-Type"]), got: .page(contentType: fields["Content-Type"]),
            "a page instead of media")
    }

    /// A page that calls itself media, or nothing.
    static func page(calledMedia fields: HTTPFields) -> Mismatch {
        Mismatch(
            expected: .media(contentType: fields["Content-Type"]), got: .page(contentType: nil),
            "a page, not media: passed on, not kept")
    }

    /// Other bytes than those that are held.
    static func bytes(_ expected: ArraySlice<UInt8>, _ got: ArraySlice<UInt8>, at offset: Int64) -> Mismatch {
        func value(_ bytes: ArraySlice<UInt8>) -> Value {
            .bytes(ByteRange(offset: offset, count: Int64(bytes.count)), hash: XXH64.hash(Array(bytes)))
        }
        return Mismatch(expected: value(expected), got: value(got), "stored bytes differ from the origin's")
    }
}
