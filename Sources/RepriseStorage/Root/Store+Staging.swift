import RepriseHTTP
import ReprisePlatform
import RepriseRanges

/// Generations beside the one that the description names: they are made, filled, put on the disk and given up.
extension Store {
    /// Makes the files of a new generation beside the current one. It becomes current by `commit`.
    /// `info.generation` is chosen here.
    /// - Parameter isImport: Whether it is filled from a file, not by an entry that is open.
    package func stage(_ info: EntryInfo, isImport: Bool = false) throws(StoreError) -> StoredEntry {
        var info = info
        let (name, epoch) = (entryName(key: info.key), epoch)
        let folder = directory(name)
        var made: [String] = []
        try keepFormat()
        do throws(FileError) {
            try volume.makeDirectory(folder)
            info.generation = try beginGeneration(info.identity, name, isImport: isImport)
            let header = BlocksHeader(integrity: integrity, blockSize: layout.blockSize, identity: info.identity)
            var summary = EntrySummary()
            summary.lastUse = info.checked
            summary.length = info.length
            let blocks = try volume.open(folder + "/" + info.blocksName, .createNew)
            made.append(folder + "/" + info.blocksName)
            let generationSeal = seal?.entry(name).makeGeneration(identity: info.identity)
            try blocks.write(header.encoded(summary: summary, seal: generationSeal?.encoded()), at: 0)
            let body = try volume.open(folder + "/" + bodyName(info), .createNew)
            let generation = makeGeneration(
                info, name, body, blocks, generationSeal, slotsFileSize: BlockLayout.headerSize, access)
            staged.withLock { $0.made(generation, of: name) }
            return StoredEntry(info: info, generation: generation)
        } catch {
            // What cannot be removed now is swept by the next commit of this key.
            for file in made { do throws(FileError) { try epoch.removeFile(file) } catch { continue } }
            forgetStaged(info)
            throw StoreError(error, doing: "making a new entry")
        }
    }

    /// Has files on the disk that are to take others' place. I/O.
    /// - Throws: Where they could not be synced, or where some of their blocks are lost since a sync failed.
    func settle(_ generation: Generation) throws(StoreError) {
        do throws(FileError) {
            if generation.hasFailedToSync {
                // What that lost is told by no other sync, but by its checksum.
                try generation.load(.from(0))
                let claimed = generation.claimedBytes
                try generation.verify(.from(0))
                guard generation.claimedBytes == claimed else {
                    throw FileError(
                        kind: .unavailable, code: FileError.inputOutput, operation: "sync (blocks were lost)",
                        path: generation.entryName)
                }
            }
            try generation.sync()
        } catch {
            throw StoreError(error, doing: "syncing the files that replace an entry's")
        }
    }

    /// The number of an entry's next generation, which is being filled from here on. Files of other generations that the
    /// description does not name and that this process does not fill are removed: a process that was killed was filling them.
    private func beginGeneration(_ identity: UInt64, _ name: String, isImport: Bool) throws(FileError) -> Int {
        let (folder, epoch) = (directory(name), epoch)
        let files = try volume.list(folder)
        let numbers = files.compactMap { Store.generationNumber(inFileName: $0) }
        // Taken before there are files, which another call would take for left over.
        let (next, filled) = staged.withLock { $0.begin(identity, of: name, isImport: isImport, besides: numbers) }
        do throws(FileError) {
            let named = try readWholeInfo(name)?.generation
            for file in files {
                guard let number = Store.generationNumber(inFileName: file), number != named, !filled.contains(number)
                else { continue }
                try epoch.removeFile(folder + "/" + file)
            }
        } catch {
            // The next time, then. A description that cannot be read now may name any of them.
        }
        return next
    }

    /// Whether a generation is being filled, as this process knows of its own.
    func isFilled(_ number: Int, of name: String) -> Bool { staged.withLock { $0.isFilled(number, of: name) } }

    /// Names of entries of which files are being filled that no description names yet.
    package var stagedNames: [String] { staged.withLock(\.names) }

    /// Whether a file is being imported into the entry with that folder name, as this process knows of its own.
    package func isBeingImported(name: String) -> Bool { staged.withLock { $0.isBeingImported(name) } }

    /// It is named, or given up.
    @discardableResult
    func forgetStaged(_ info: EntryInfo) -> StagedGenerations.Removed {
        let name = entryName(key: info.key)
        return staged.withLock { $0.remove(info.generation, info.identity, of: name) }
    }

    /// An entry's folder goes, with whatever is in it.
    func forgetStaged(in name: String) { staged.withLock { $0.removeAll(of: name) } }

    /// Removes the files of a staged generation that will not become current, where they are still those: a folder that was
    /// removed and made again has others of the same names.
    package func abandon(_ staged: StoredEntry) throws(StoreError) {
        if try stillNames(staged.info, staged.generation, isCommitted: false) { try abandon(staged.info) }
    }

    /// The same under an entry's write lease, which keeps other generations' files away: no file is opened for one that was never
    /// named, so it also works on a full disk. What the description names stays: the one that was to replace it may not have been
    /// written.
    package func abandon(_ info: EntryInfo) throws(StoreError) {
        let (name, epoch) = (entryName(key: info.key), epoch)
        let folder = directory(name)
        do throws(FileError) {
            switch forgetStaged(info) {
            case .unnamed: break
            case .another: return
            case .unknown:
                if let named = try readWholeInfo(name), named.key.octets == info.key.octets,
                    named.generation == info.generation
                {
                    return
                }
            }
            for file in [bodyName(info), info.blocksName] {
                do throws(FileError) { try epoch.removeFile(folder + "/" + file) } catch {
                    if error.kind != .missing { throw error }
                }
            }
        } catch {
            throw StoreError(error, doing: "removing a replaced generation")
        }
    }
}
