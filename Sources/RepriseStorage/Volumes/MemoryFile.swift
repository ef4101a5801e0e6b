import ReprisePlatform
import RepriseRanges

/// The bytes of a `MemoryVolume` that are not taken.
final class MemorySpace: Sendable {
    private let left: Lock<Int64>

    init(_ capacity: Int64) { left = Lock(capacity) }

    /// Bytes that are not taken.
    var free: Int64 { left.withLock { max(0, $0) } }

    /// Takes so many; `false`, and takes none, where fewer are left.
    func take(_ bytes: Int64) -> Bool {
        left.withLock { left in
            guard left >= bytes else { return false }
            left -= bytes
            return true
        }
    }

    func giveBack(_ bytes: Int64) { left.withLock { $0 += bytes } }
}

/// A file of a `MemoryVolume`, whether or not it has a path: it lives as long as the volume names it or it is open.
final class MemoryNode: Sendable {
    static let pageSize: Int64 = 4096

    struct Content {
        /// Written pages by number; those of a hole are absent.
        var pages: [Int64: [UInt8]] = [:]
        var size: Int64 = 0
        /// Moves with each change of the bytes.
        var changes: Int64 = 1
        var isNamed = true
        /// Bytes its pages take.
        var allocated: Int64 { Int64(pages.count).multiplied(by: MemoryNode.pageSize) }
        /// Open files that hold the lock, and whether each holds it alone.
        var locks: [ObjectIdentifier: Bool] = [:]
    }

    let number: UInt64
    let content = Lock(Content())
    private let space: MemorySpace

    init(number: UInt64, _ space: MemorySpace) {
        self.number = number
        self.space = space
    }

    deinit { space.giveBack(content.withLock { $0.allocated }) }

    /// No path leads to it any more.
    func unlink() { content.withLock { $0.isNamed = false } }

    /// Appends up to `count` bytes from `offset` on.
    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) {
        content.withLock { content in
            let end = min(content.size, offset.adding(Int64(count)))
            guard offset < end else { return }
            buffer.reserveCapacity(buffer.count + Int(end - offset))
            for (page, bytes) in MemoryNode.pages(offset, end) {
                if let stored = content.pages[page] {
                    buffer += stored[bytes]
                } else {
                    buffer.append(contentsOf: repeatElement(0, count: bytes.count))
                }
            }
        }
    }

    /// Writes bytes; `false` where the volume is full: what fitted is written then.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        content.withLock { content in
            content.changes += 1
            var done = 0
            for (page, place) in MemoryNode.pages(offset, offset.adding(Int64(bytes.count))) {
                let chunk = unsafe UnsafeRawBufferPointer(rebasing: bytes[done..<done + place.count])
                if content.pages[page] == nil {
                    guard space.take(MemoryNode.pageSize) else { return false }
                    if place.count == MemoryNode.pageSize {
                        content.pages[page] = unsafe [UInt8](chunk)
                    } else {
                        var fresh = [UInt8](repeating: 0, count: Int(MemoryNode.pageSize))
                        unsafe fresh.replaceSubrange(place, with: chunk)
                        content.pages[page] = fresh
                    }
                } else {
                    unsafe content.pages[page]?.replaceSubrange(place, with: chunk)
                }
                done += place.count
                content.size = max(content.size, offset.adding(Int64(done)))
            }
            return true
        }
    }

    func truncate(to size: Int64) {
        change { content in
            if size < content.size { content.clear(size, content.size) }
            content.size = size
        }
    }

    func punch(_ range: ByteRange) { change { $0.clear(range.lowerBound, range.upperBound) } }

    /// Makes a change that takes no more pages.
    private func change(_ body: (inout Content) -> Void) {
        let freed = content.withLock { content in
            let before = content.allocated
            content.changes += 1
            body(&content)
            return before - content.allocated
        }
        space.giveBack(freed)
    }

    /// The pages of a range, and which of their bytes are in it.
    static func pages(_ lower: Int64, _ upper: Int64) -> some Sequence<(page: Int64, bytes: Range<Int>)> {
        sequence(state: lower) { position in
            guard position < upper else { return nil }
            let page = position / pageSize
            let start = position % pageSize
            let end = min(pageSize, start.adding(upper - position))
            position += end - start
            return (page, Int(start)..<Int(end))
        }
    }
}

extension MemoryNode.Content {
    /// Has a range read as zeros; pages that are all in it, or reach past the file's end, go.
    mutating func clear(_ lower: Int64, _ upper: Int64) {
        guard lower < upper else { return }
        let pageSize = MemoryNode.pageSize
        let touched = lower / pageSize...(upper - 1) / pageSize
        // Whichever is less to go through: a hole may be larger than all there is.
        let written =
            Int64(pages.count) < touched.upperBound - touched.lowerBound
            ? pages.keys.filter(touched.contains) : touched.filter { pages[$0] != nil }
        for page in written {
            let first = page.multiplied(by: pageSize)
            let (start, end) = (max(lower, first) - first, min(upper - first, pageSize))
            if start == 0, end == pageSize || first.adding(end) >= size {
                pages[page] = nil
            } else {
                pages[page]?.replaceSubrange(Int(start)..<Int(end), with: repeatElement(0, count: Int(end - start)))
            }
        }
    }
}

/// An open file of a `MemoryVolume`.
final class MemoryFile: VolumeFile {
    private let node: MemoryNode
    private let path: String
    private let isWritable: Bool

    init(_ node: MemoryNode, _ path: String, isWritable: Bool) {
        self.node = node
        self.path = path
        self.isWritable = isWritable
    }

    deinit {
        let id = ObjectIdentifier(self)
        node.content.withLock { if !$0.locks.isEmpty { $0.locks[id] = nil } }
    }

    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) throws(FileError) {
        try check(offset >= 0 && count >= 0, "read")
        node.read(at: offset, count: count, into: &buffer)
    }

    func readResident(at offset: Int64, count: Int, into buffer: inout [UInt8]) -> Bool {
        let before = buffer.count
        node.read(at: offset, count: count, into: &buffer)
        if buffer.count - before == count { return true }
        buffer.removeLast(buffer.count - before)
        return false
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        try check(isWritable && offset >= 0 && offset <= .max - Int64(bytes.count), "write")
        if unsafe bytes.isEmpty { return }
        guard unsafe node.write(bytes, at: offset) else {
            throw FileError(.full, "the memory set aside for it is taken", operation: "write", path: path)
        }
    }

    func status() throws(FileError) -> VolumeFileStatus {
        node.content.withLock { content in
            VolumeFileStatus(
                size: content.size, allocated: content.allocated, inode: node.number,
                modified: content.changes, links: content.isNamed ? 1 : 0)
        }
    }

    func truncate(to size: Int64) throws(FileError) {
        try check(isWritable && size >= 0, "truncate")
        node.truncate(to: size)
    }

    func punch(offset: Int64, count: Int64) throws(FileError) {
        try check(isWritable && offset >= 0 && count > 0 && offset <= .max - count, "punch")
        node.punch(ByteRange(offset: offset, count: count))
    }

    func tryLock(exclusive: Bool) throws(FileError) -> Bool {
        let id = ObjectIdentifier(self)
        return node.content.withLock { content in
            let others = content.locks.filter { $0.key != id }.values
            guard others.isEmpty || !exclusive && !others.contains(true) else { return false }
            content.locks[id] = exclusive
            return true
        }
    }

    private func check(_ isValid: Bool, _ operation: String) throws(FileError) {
        guard isValid else {
            let reason = isWritable ? "such a range cannot be" : "such a range cannot be, or it was opened for reading"
            throw FileError(.unavailable, reason, operation: operation, path: path)
        }
    }
}
