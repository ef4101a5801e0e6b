import ReprisePlatform

/// A file of a `SimulatedDisk`, open.
final class SimulatedFile: VolumeFile {
    private static let badDescriptor: Int32 = 9  // EBADF
    private static let invalid: Int32 = 22  // EINVAL

    private let system: SimulatedDisk
    let node: UInt64
    private let id: UInt64
    private let path: String
    private let isWritable: Bool

    init(system: SimulatedDisk, node: UInt64, id: UInt64, path: String, isWritable: Bool) {
        self.system = system
        self.node = node
        self.id = id
        self.path = path
        self.isWritable = isWritable
    }

    deinit {
        do throws(FileError) {
            try system.change { state throws(FileError) in
                state.nodes[node]?.locks[id] = nil
                state.nodes[node]?.handles -= 1
                state.dropIfUnused(node)
            }
        } catch {
            preconditionFailure("closing never fails: \(error)")
        }
    }

    var descriptor: Int32? { nil }

    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) throws(FileError) {
        try require(offset >= 0 && count >= 0, "pread")
        let bytes = try system.change { state throws(FileError) in
            state.nodes[node]?.bytes(at: offset, count: count) ?? []
        }
        buffer += bytes
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        guard isWritable else { throw SimulatedDisk.error(SimulatedFile.badDescriptor, "pwrite", path) }
        try require(offset >= 0 && offset <= .max - Int64(bytes.count), "pwrite")
        if unsafe bytes.isEmpty { return }
        let copy = unsafe [UInt8](bytes)
        try system.change { state throws(FileError) in
            state.note(.write(copy, at: offset), of: node)
            var free = state.capacity - state.used
            state.clock += 1
            state.nodes[node]?.modified = state.clock
            // As on a real disk, what fits is written before the error.
            var done = 0
            while done < copy.count {
                let position = offset + Int64(done)
                let page = position / SimulatedDisk.pageSize
                let start = Int(position % SimulatedDisk.pageSize)
                let count = min(Int(SimulatedDisk.pageSize) - start, copy.count - done)
                if state.nodes[node]?.pages[page] == nil {
                    guard free >= SimulatedDisk.pageSize else {
                        throw SimulatedDisk.error(FileError.noSpace, "pwrite", path)
                    }
                    free -= SimulatedDisk.pageSize
                    state.nodes[node]?.pages[page] = [UInt8](repeating: 0, count: Int(SimulatedDisk.pageSize))
                }
                state.nodes[node]?.pages[page]?.replaceSubrange(start..<start + count, with: copy[done..<done + count])
                done += count
                if let size = state.nodes[node]?.size, size < position + Int64(count) {
                    state.nodes[node]?.size = position + Int64(count)
                }
            }
        }
    }

    func status() throws(FileError) -> VolumeFileStatus {
        try system.change { state throws(FileError) in
            let node = state.nodes[node] ?? SimulatedDisk.Node()
            return VolumeFileStatus(
                size: node.size, allocated: Int64(node.pages.count) * SimulatedDisk.pageSize, inode: self.node,
                modified: node.modified, links: node.names)
        }
    }

    func truncate(to size: Int64) throws(FileError) {
        guard isWritable else { throw SimulatedDisk.error(SimulatedFile.invalid, "ftruncate", path) }
        try require(size >= 0, "ftruncate")
        try system.change { state throws(FileError) in
            state.note(.truncate(to: size), of: node)
            state.clock += 1
            state.nodes[node]?.modified = state.clock
            if let old = state.nodes[node]?.size, size < old { state.nodes[node]?.clear(from: size, to: old) }
            state.nodes[node]?.size = size
        }
    }

    func punch(offset: Int64, count: Int64) throws(FileError) {
        guard isWritable else { throw SimulatedDisk.error(SimulatedFile.badDescriptor, "punch", path) }
        try require(offset >= 0 && count > 0 && offset <= .max - count, "punch")
        try system.change { state throws(FileError) in
            state.note(.punch(offset: offset, count: count), of: node)
            state.clock += 1
            state.nodes[node]?.modified = state.clock
            state.nodes[node]?.clear(from: offset, to: offset + count)
        }
    }

    func sync() throws(FileError) {
        try system.change { state throws(FileError) in state.nodes[node]?.unsynced = nil }
    }

    func tryLock(exclusive: Bool) throws(FileError) -> Bool {
        try system.change { state throws(FileError) in
            let others = (state.nodes[node]?.locks ?? [:]).filter { $0.key != id }
            guard others.isEmpty || (!exclusive && !others.values.contains(true)) else { return false }
            state.nodes[node]?.locks[id] = exclusive
            return true
        }
    }

    func isResident(offset: Int64, count: Int64) -> Bool {
        let answer = Result { () throws(FileError) in try system.change { state throws(FileError) in state.isResident }
        }
        return (try? answer.get()) ?? true
    }

    private func require(_ isValid: Bool, _ operation: String) throws(FileError) {
        if !isValid { throw SimulatedDisk.error(SimulatedFile.invalid, operation, path) }
    }
}

extension SimulatedDisk.Node {
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        var result: [UInt8] = []
        guard offset < size else { return result }
        let end = count < Int(clamping: size - offset) ? offset + Int64(count) : size
        result.reserveCapacity(Int(end - offset))
        var position = offset
        while position < end {
            let start = Int(position % SimulatedDisk.pageSize)
            let count = min(Int(SimulatedDisk.pageSize) - start, Int(clamping: end - position))
            if let page = pages[position / SimulatedDisk.pageSize] {
                result += page[start..<start + count]
            } else {
                result += [UInt8](repeating: 0, count: count)
            }
            position += Int64(count)
        }
        return result
    }

    /// Makes a range read as zeros; whole pages give their room back.
    mutating func clear(from lower: Int64, to upper: Int64) {
        let pageSize = SimulatedDisk.pageSize
        for page in Array(pages.keys) where page >= lower / pageSize && page <= (upper - 1) / pageSize {
            let start = max(lower, page * pageSize) - page * pageSize
            let end = upper - page * pageSize < pageSize ? upper - page * pageSize : pageSize
            if start == 0, end == pageSize || page * pageSize + end >= size {
                pages[page] = nil
            } else {
                pages[page]?.replaceSubrange(
                    Int(start)..<Int(end), with: [UInt8](repeating: 0, count: Int(end - start)))
            }
        }
    }
}
