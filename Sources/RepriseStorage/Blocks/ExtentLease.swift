package import ReprisePlatform
package import RepriseRanges

/// Verified bytes handed out: as long as the lease lives they are not punched, truncated or overwritten.
/// It ends with its last reference.
package final class ExtentLease: Sendable {
    /// The bytes, offsets in the representation and in the body file alike.
    package let range: ByteRange
    /// Whose bytes they are.
    package let generation: Generation
    private let id: UInt64
    private let epoch: UInt64

    init(generation: Generation, id: UInt64, range: ByteRange, epoch: UInt64) {
        self.epoch = epoch
        self.generation = generation
        self.id = id
        self.range = range
    }

    deinit { generation.endLease(id) }

    /// The body's descriptor, for handing the region to a socket; `nil` where bytes have to be read.
    package var descriptor: Int32? { generation.descriptor }

    /// Whether the kernel can send the bytes without waiting for the disk, as far as can be told.
    package var isResident: Bool { generation.isResident(range) }

    /// Whether the body file still is as we left it; one `fstat`.
    package var isUndisturbed: Bool { generation.isUndisturbed(for: range, since: epoch) }

    /// Reads the bytes where nobody has to wait for the disk; `nil` where `read` has to. Takes as long as copying them, and
    /// opening them where they are sealed.
    package func readResident() -> [UInt8]? { generation.readResident(range) }

    /// Reads the bytes. I/O.
    package func read() throws(FileError) -> [UInt8] { try generation.read(range) }
}
