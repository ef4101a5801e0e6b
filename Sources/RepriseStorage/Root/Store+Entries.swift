import ReprisePlatform
package import RepriseRanges

/// Removing and listing entries.
extension Store {
    /// Removes the entry of `key`; open handles keep their bytes.
    package func remove(key: String) throws(StoreError) { try discardEntry(entryName(key: key)) }

    /// Removes the entry with that folder name, whatever is in it.
    package func remove(name: String) throws(StoreError) { try discardEntry(name) }

    func discardEntry(_ name: String) throws(StoreError) {
        let (folder, epoch) = (directory(name), epoch)
        forgetStaged(in: name)
        do throws(FileError) {
            let files = try volume.list(folder)
            // The description goes first: without it the rest is not an entry any more.
            for file in files.sorted(by: { first, _ in first == "info.json" }) {
                try epoch.removeFile(folder + "/" + file)
            }
            try epoch.removeDirectory(folder)
        } catch {
            if error.kind != .missing { throw StoreError(error, doing: "removing an entry") }
        }
        note(name) { .removed($0) }
    }

    /// The names of all entries; reads directories only.
    package func entryNames() throws(StoreError) -> [String] {
        do throws(FileError) {
            var names: [String] = []
            for prefix in try volume.names(in: root + "/entries") {
                names += try volume.names(in: root + "/entries/" + prefix)
            }
            return names
        } catch {
            throw StoreError(error, doing: "listing the store \(root)")
        }
    }

    /// Description and summary of the entry with that folder name; `nil` where it is not a whole entry.
    package func describe(name: String) throws(StoreError) -> (info: EntryInfo, summary: EntrySummary)? {
        do throws(FileError) {
            guard let info = try readInfo(name) else { return nil }
            let blocks = try volume.open(directory(name) + "/" + info.blocksName, .read)
            var bytes: [UInt8] = []
            try blocks.read(at: 0, count: BlocksHeader.hintsEnd, into: &bytes)
            if let summary = EntrySummary(inHeader: bytes) { return (info, summary) }
            return (info, try countedSummary(info, name))
        } catch {
            if error.kind == .missing { return nil }
            throw StoreError(error, doing: "reading an entry's summary")
        }
    }

    /// A summary is a hint: where it is damaged the slots tell what is stored; not when it was used.
    private func countedSummary(_ info: EntryInfo, _ name: String) throws(FileError) -> EntrySummary {
        let generation = try openGeneration(info, name, .readOnly).generation
        try generation.load(.from(0))
        var summary = EntrySummary()
        (summary.isPinned, summary.length, summary.stored) = (info.isPinned, info.length, generation.claimedBytes)
        return summary
    }

    /// An entry's description and everything its slots claim; `nil` where there is no entry. I/O.
    package func storedRanges(key: String) throws(StoreError) -> (EntryInfo, ByteRangeSet)? {
        guard let entry = try open(key: key) else { return nil }
        do throws(FileError) { try entry.generation.load(.from(0)) } catch {
            throw StoreError(error, doing: "reading what is stored of an entry")
        }
        var info = entry.info
        info.statistics = entry.summary.statistics
        return (info, entry.generation.claimed)
    }
}
