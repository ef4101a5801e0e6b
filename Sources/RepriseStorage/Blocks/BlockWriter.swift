package import ReprisePlatform

/// Writes the bytes of one fill, in order, with their slots. Confined to its generation's write lane.
package protocol BlockWriter: AnyObject {
    /// Where the next byte goes.
    var position: Int64 { get }
    /// Writes `chunks`, which follow each other from `position`. Where the current block was dropped or discarded
    /// since, its bytes are left out and writing goes on with the next block. I/O.
    func write(_ chunks: [ArraySlice<UInt8>]) throws(FileError)
}

extension BlockWriter {
    /// Moves `position` over the chunks' bytes before `end`; answers what is left of them.
    func passOver(
        _ chunks: [ArraySlice<UInt8>], upTo end: Int64, position: inout Int64
    ) -> [ArraySlice<UInt8>] {
        var rest: [ArraySlice<UInt8>] = []
        for chunk in chunks {
            let passed = Int(min(end - position, Int64(chunk.count)))
            position += Int64(passed)
            if passed < chunk.count { rest.append(chunk.dropFirst(passed)) }
        }
        return rest
    }
}
