package import RepriseRanges
package import RepriseStorage

extension Generation {
    /// Looking at what is stored made no progress, or what is there was not handed out.
    package struct Stuck: Error {
        package let offset: Int64
    }

    /// Hands each piece of what is stored of the first `length` bytes to `use`, in order; loads and verifies on the way. I/O.
    /// - Throws: What the disk or `use` throws; `Stuck`.
    package func readStored(length: Int64, _ use: (ByteRange, [UInt8]) throws -> Void) throws {
        var offset: Int64 = 0
        var steps = 0
        while offset < length {
            steps += 1
            guard steps < 10_000 else { throw Stuck(offset: offset) }
            switch availability(at: offset) {
            case .unloaded(let range): try load(range)
            case .claimed: try verify(ByteRange(offset, offset + 1))
            case .absent(let end):
                guard end > offset else { throw Stuck(offset: offset) }
                offset = min(end, length)
            case .verified(let end):
                guard let lease = lease(ByteRange(offset, min(end, length))) else { throw Stuck(offset: offset) }
                try use(lease.range, try lease.read())
                offset = lease.range.upperBound
            }
        }
    }
}
