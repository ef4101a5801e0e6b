/// A resource's transform, kept to its word: as many bytes as it was given.
///
/// An object, so that a lease on bytes that have none carries no more than a pointer of `nil`. Called on any thread.
final class CheckedTransform: Sendable {
    /// Most bytes transformed at a time for a door: they pass through memory, some of them on event loops.
    static let mostAtOnce = 256 * 1024

    private let transform: any ContentTransform

    init(_ transform: any ContentTransform) { self.transform = transform }

    /// Transforms in place bytes that begin at `offset`.
    func apply(to bytes: inout [UInt8], at offset: Int64) {
        let count = bytes.count
        transform.apply(to: &bytes, at: offset)
        precondition(bytes.count == count, "a content transform made \(bytes.count) bytes of \(count)")
    }

    /// A transformed copy of bytes that begin at `offset`.
    func applied(to bytes: ArraySlice<UInt8>, at offset: Int64) -> ArraySlice<UInt8> {
        var copy = Array(bytes)
        apply(to: &copy, at: offset)
        return copy[...]
    }
}
