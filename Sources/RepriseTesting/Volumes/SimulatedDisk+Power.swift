extension SimulatedDisk {
    /// Changes of a file that no sync has made durable, and what the file was before them.
    struct UnsyncedChanges {
        enum Change {
            case write([UInt8], at: Int64)
            case truncate(to: Int64)
            case punch(offset: Int64, count: Int64)
        }

        let pages: [Int64: [UInt8]]
        let size: Int64
        var changes: [Change] = []
    }
}

extension SimulatedDisk.State {
    /// A file is about to be changed.
    mutating func note(_ change: SimulatedDisk.UnsyncedChanges.Change, of number: UInt64) {
        if losesPower { nodes[number]?.note(change) }
    }
}

extension SimulatedDisk.Node {
    fileprivate mutating func note(_ change: SimulatedDisk.UnsyncedChanges.Change) {
        if unsynced == nil { unsynced = .init(pages: pages, size: size) }
        unsynced?.changes.append(change)
    }

    /// Takes back what a power cut takes.
    mutating func lose(_ unsynced: SimulatedDisk.UnsyncedChanges, _ random: inout SeededGenerator) {
        pages = unsynced.pages
        size = unsynced.size
        self.unsynced = nil
        for change in unsynced.changes {
            let part = [0, 1, Double.random(in: 0..<1, using: &random)].randomElement(using: &random)!
            switch change {
            case .write(let bytes, let offset): put(bytes.prefix(Int(Double(bytes.count) * part)), at: offset)
            case .truncate(let size) where part > 0:
                if size < self.size { clear(from: size, to: self.size) }
                self.size = size
            case .punch(let offset, let count):
                let lost = Int64(Double(count) * part)
                if lost > 0 { clear(from: offset, to: offset + lost) }
            case .truncate: break
            }
        }
    }

    private mutating func put(_ bytes: ArraySlice<UInt8>, at offset: Int64) {
        var position = offset
        var rest = bytes
        while !rest.isEmpty {
            let start = Int(position % SimulatedDisk.pageSize)
            let part = rest.prefix(Int(SimulatedDisk.pageSize) - start)
            let page = position / SimulatedDisk.pageSize
            let empty = [UInt8](repeating: 0, count: Int(SimulatedDisk.pageSize))
            pages[page, default: empty].replaceSubrange(start..<start + part.count, with: part)
            rest = rest.dropFirst(part.count)
            position += Int64(part.count)
            size = max(size, position)
        }
    }
}
