package import ReprisePlatform
package import RepriseRanges

/// What is left of an entry whose folder is there.
package enum FoundEntry: Sendable {
    /// It can be opened.
    case whole(StoredEntry)
    /// A folder without a description: being made, or left over from something that broke off.
    case unfinished
    /// Its description or its files are damaged beyond use.
    case unreadable
    /// It went meanwhile.
    case none
}

extension Store {
    /// Looks at the entry with that folder name and opens it; removes nothing. I/O.
    /// - Throws: Where it cannot be read now, which is no damage.
    package func find(name: String) throws(StoreError) -> FoundEntry {
        let found = try look(name)
        // It may have been replaced between two of these looks: what is still so is damaged.
        if case .unreadable = found { return try look(name) }
        return found
    }

    private func look(_ name: String) throws(StoreError) -> FoundEntry {
        let files: [String]
        do throws(FileError) { files = try volume.list(directory(name)) } catch {
            guard error.kind == .missing else { throw StoreError(error, doing: "opening a stored entry") }
            return .none
        }
        guard files.contains("info.json") else { return .unfinished }
        do throws(FileError) {
            guard let info = try readInfo(name) else { return .none }
            // A folder that somebody renamed is found under no key.
            guard entryName(key: info.key) == name else { return .unreadable }
            return .whole(try openGeneration(info, name, access))
        } catch {
            guard error.kind == .missing else { throw StoreError(error, doing: "opening a stored entry") }
            return .unreadable
        }
    }
}

extension Generation {
    /// Drops the claimed blocks of `range` that do not fit their checksum; answers how many bytes were verified and how many
    /// blocks dropped. I/O.
    package func verifyClaimed(_ range: ByteRange) throws(FileError) -> (bytes: Int64, damagedBlocks: Int64) {
        let dropped = try verify(range)
        return (claimed.intersection(range).count, dropped)
    }

    /// What is claimed in pieces that are verified at a time: whole blocks, about `step` bytes.
    package func pieces(of step: Int64) -> [ByteRange] {
        let steps = BlockLayout(blockSize: max(layout.blockSize, layout.blockStart(of: step)))
        var pieces: [ByteRange] = []
        for number in claimed.ranges.flatMap(steps.numbers) {
            let piece = steps.range(of: number)
            if piece != pieces.last { pieces.append(piece) }
        }
        return pieces
    }
}
