package import ReprisePlatform
package import RepriseRanges
import RepriseStorage

/// Verified bytes in the body file, as a door gets them: as long as it lives they are not punched, truncated or overwritten.
///
/// Where the resource has a transform the file's own bytes are nobody's to send: reading gives transformed ones.
package struct ReaderLease: Sendable {
    private let lease: ExtentLease
    private let transform: CheckedTransform?

    init(_ lease: ExtentLease, _ transform: CheckedTransform?) {
        self.lease = lease
        self.transform = transform
    }

    /// The bytes, offsets in the representation.
    package var range: ByteRange { lease.range }

    /// Whose bytes they are.
    var generation: Generation { lease.generation }

    /// The body's descriptor, for handing the region to a socket; `nil` where bytes have to be read.
    package var descriptor: Int32? { transform == nil ? lease.descriptor : nil }

    /// Whether the kernel can send the bytes without waiting for the disk, as far as can be told.
    package var isResident: Bool { transform == nil && lease.isResident }

    /// Whether the body file still is as we left it; one `fstat`.
    package var isUndisturbed: Bool { lease.isUndisturbed }

    /// Reads the bytes, and transforms them, where nobody has to wait for the disk; `nil` where `read` has to.
    package func readResident() -> [UInt8]? {
        guard var bytes = lease.readResident() else { return nil }
        transform?.apply(to: &bytes, at: lease.range.lowerBound)
        return bytes
    }

    /// Reads the bytes, and transforms them. I/O.
    package func read() throws(FileError) -> [UInt8] {
        var bytes = try lease.read()
        transform?.apply(to: &bytes, at: lease.range.lowerBound)
        return bytes
    }
}
