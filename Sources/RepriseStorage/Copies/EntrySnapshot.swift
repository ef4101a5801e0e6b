import RepriseHTTP
import ReprisePlatform
package import RepriseRanges

/// An entry as it is on disk now, opened for looking alone: it may be read and filled by others meanwhile, and nothing is
/// changed by looking. Confined to whoever works with it; its methods are I/O.
package struct EntrySnapshot: Sendable {
    package let info: EntryInfo
    let generation: Generation

    /// The bytes some slot claims, within the entry's length.
    package var claimed: ByteRangeSet {
        generation.claimed.intersection(info.length.map { ByteRange(0, $0) } ?? .from(0))
    }

    /// What is not stored, in order; `nil` where the length, and so what is missing, is not known.
    package var missing: [ByteRange]? { info.length.map { generation.claimed.gaps(in: ByteRange(0, $0)) } }

    /// Refuses what the origin answered instead of the resource: that is no copy of it.
    package func expectResource() throws(StoreError) {
        guard info.isResource else {
            let what = info.fields.contentCoding.map { "coded (\($0))" } ?? "answered with \(info.status)"
            throw StoreError(.incomplete, "nothing is stored of it but what the origin \(what)")
        }
    }

    package var layout: BlockLayout { generation.layout }

    /// A block's valid bytes, verified as they are read, decrypted in a sealed store; `nil` where the block is absent, or
    /// not what its slot says.
    /// - Parameter copy: A copy of the body to read them from instead.
    func verified(_ block: Int64, in copy: (any VolumeFile)? = nil) throws(FileError) -> [UInt8]? {
        try generation.verified(block, in: copy ?? generation.body)
    }
}

extension Generation {
    /// As `EntrySnapshot.verified`, for generations that are not verified or filled through this open.
    fileprivate func verified(_ block: Int64, in file: any VolumeFile) throws(FileError) -> [UInt8]? {
        var last: Slot?
        while let slot = state.withLock({ $0.slots[block] }), slot != last {
            var bytes: [UInt8] = []
            try file.read(at: layout.start(of: block), count: Int(slot.validLength), into: &bytes)
            switch prefix(bytes, slot, block: block) {
            case .hash?: return bytes
            case .plaintext(let plain)?: return plain
            case nil: break
            }
            // Somebody may fill or drop the block just now: damaged is what does not fit the newest slot.
            last = slot
            try readSlot(of: block)
        }
        return nil
    }

    private func readSlot(of block: Int64) throws(FileError) {
        let (slot, bytes) = try slotOnDisk(block)
        state.withLock { state in
            state.slots[block] = slot
            state.seals[block] = codec.seal(in: bytes, at: 0, layout)
            state.claimed.remove(layout.range(of: block))
            if let slot {
                state.claimed.insert(
                    ByteRange(offset: layout.start(of: block), count: Int64(slot.validLength)))
            }
        }
    }
}

extension Store {
    /// The entry of `key` as it is now; `nil` where there is none. I/O: its description and all its slots.
    /// - Throws: `.damaged` where there is one that cannot be read.
    package func snapshot(key: String) throws(StoreError) -> EntrySnapshot? {
        let name = entryName(key: key)
        do throws(FileError) {
            var seen: EntryInfo?
            while true {
                guard let info = try readInfo(name), info.key.octets == key.octets else { return nil }
                do throws(FileError) {
                    let generation = try openGeneration(info, name, .readOnly).generation
                    try generation.load(.from(0))
                    return EntrySnapshot(info: info, generation: generation)
                } catch {
                    // Replaced between the two looks, perhaps; the same description a second time is damage.
                    if error.kind != .missing || info == seen { throw error }
                    seen = info
                }
            }
        } catch {
            guard error.kind == .missing else { throw StoreError(error, doing: "opening a stored entry") }
            throw StoreError(
                .damaged, "what is stored of it is damaged beyond use; repair removes it, then it is fetched anew")
        }
    }
}
