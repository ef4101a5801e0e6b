import RepriseHTTP
package import ReprisePlatform
package import RepriseRanges

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// The entries under one root. Every method is I/O and blocks.
///
///     <root>/format  lock  statistics  index       sealed: format.spare, no extensions, names are keyed hashes
///     <root>/entries/ab/abcd…/info.json  body.<g>.<ext>  blocks.<g>
///
/// An entry is found by its key's hash, and can be deleted by hand; what they all are the index tells (`Index`). A generation is
/// current when `info.json` names it; the rename of that file is the commit, and files it does not name are swept.
package final class Store: Sendable {
    /// How a root is opened.
    package enum Access: Sendable { case write, readOnly }

    package let root: String
    package let layout: BlockLayout
    /// Whether room can be given back inside a file.
    package let canPunch: Bool
    /// How blocks are verified; sealed bodies are not media to anybody who opens them by their path.
    package var integrity: BlockIntegrity { seal == nil ? .hashed : .sealed }
    let volume: any StoreVolume
    /// Whether other programs find its files.
    package var hasPaths: Bool { volume.hasPaths }
    /// What seals it, if it is a sealed store.
    package let seal: RootSeal?
    /// The master key, as it is now.
    let sealKey: Lock<SealKey?>
    let format: RootFormat
    let access: Access
    /// Ends with `release`, or with the store.
    private let lock: Lock<RootOwnership>
    private let onSlots: (@Sendable (String, ByteRange) -> Void)?
    /// Generations that no description names yet.
    let staged = Lock(StagedGenerations())
    /// What is stored, as far as it is noted.
    let index: StoreIndex

    /// Opens or creates a root. Does not look at its entries, however many there are.
    /// - Parameters:
    ///   - key: What opens a sealed store, and makes a new one sealed; `nil` for a plain one.
    ///   - onSlots: told of every slot write after it was made; a trace for tests.
    /// - Throws: `.wrongKey` where the root is sealed and the key, or that there is none, is wrong; nothing is changed.
    package init(
        root: String, volume: any StoreVolume, layout: BlockLayout = .standard, access: Access = .write,
        key: SealKey? = nil, onSlots: (@Sendable (String, ByteRange) -> Void)? = nil
    ) throws(StoreError) {
        self.root = root
        self.volume = volume
        self.layout = BlockLayout(blockSize: layout.blockSize, integrity: key == nil ? .hashed : .sealed)
        self.access = access
        sealKey = Lock(key)
        format = RootFormat(root: root, volume: volume, blockSize: layout.blockSize)
        self.onSlots = onSlots
        if access == .readOnly {
            lock = Lock(RootOwnership())
            canPunch = false
            seal = try format.open(key: key, create: false)
            index = StoreIndex(root: root, volume: volume, seal: seal)
            return
        }
        do throws(FileError) {
            try volume.makeDirectory(root + "/entries")
        } catch {
            throw StoreError(error, doing: "making the store \(root)")
        }
        lock = Lock(RootOwnership(held: try RootLock(root: root, volume: volume)))
        seal = try format.open(key: key, create: true)
        index = StoreIndex(root: root, volume: volume, seal: seal)
        do throws(FileError) {
            canPunch = try RootProbe.canPunch(root: root, volume: volume)
        } catch {
            throw StoreError(error, doing: "trying the disk under \(root)")
        }
        try sweepLeases()
    }

    /// The folder name of a key in a plain store: SHA-256 in hexadecimal.
    package static func entryName(key: String) -> String { SHA256.hash(data: Array(key.utf8)).hexadecimal }

    /// The folder name of a key.
    package func entryName(key: String) -> String { seal?.entryName(key: key) ?? Store.entryName(key: key) }

    func bodyPath(_ info: EntryInfo) -> String { directory(entryName(key: info.key)) + "/" + bodyName(info) }

    /// The name of a generation's body file: an extension would tell what is in a sealed one.
    package func bodyName(_ info: EntryInfo) -> String { seal == nil ? info.bodyName : "body.\(info.generation)" }

    func directory(_ name: String) -> String { "\(root)/entries/\(name.prefix(2))/\(name)" }

    /// Lets another process, or another store of this one, write the root. Nothing may be written by this one until it
    /// has taken the root back.
    package func release() {
        index.leave()
        lock.withLock { $0.release() }
    }

    /// The root for a piece of work that names or removes files.
    var epoch: RootLockEpoch { RootLockEpoch(lock.withLock(\.held), volume) }

    /// Takes the root back after `release`. What others changed meanwhile is not known: `stillNames` tells for an entry.
    /// - Throws: `.inUse` where another process writes it now.
    package func takeBack() throws(StoreError) {
        try lock.withLock { lock throws(StoreError) in
            if lock.held != nil { return }
            do throws(FileError) { try volume.makeDirectory(root + "/entries") } catch {
                throw StoreError(error, doing: "making the store \(root)")
            }
            // Where a step has it still, no other process had it.
            let taken = if let lent = lock.lent { lent } else { try RootLock(root: root, volume: volume) }
            _ = try format.open(key: sealKey.withLock(\.self), known: seal, create: true)
            lock.held = taken
            index.comeBack()
        }
    }

    /// Whether the entry's files are, under their names, still those that `generation` has open. What was removed,
    /// replaced or restored by others is not. I/O.
    /// - Parameter isCommitted: Whether `info.json` has to name it, too.
    package func stillNames(
        _ info: EntryInfo, _ generation: Generation, isCommitted: Bool
    ) throws(StoreError) -> Bool {
        let name = entryName(key: info.key)
        do throws(FileError) {
            if isCommitted {
                guard let found = try readInfo(name), found.key.octets == info.key.octets,
                    found.identity == info.identity,
                    found.generation == info.generation
                else { return false }
            }
            let blocks = try volume.open(directory(name) + "/" + info.blocksName, .read).status().inode
            let body = try volume.open(directory(name) + "/" + bodyName(info), .read).status().inode
            return try generation.has(body: body, blocks: blocks)
        } catch {
            if error.kind == .missing { return false }
            throw StoreError(error, doing: "looking after an entry")
        }
    }

    // MARK: Opening

    /// The entry of `key`, or `nil` where there is none. What is damaged beyond use is removed and answered as `nil`;
    /// what cannot be reached now throws and is left alone.
    package func open(key: String) throws(StoreError) -> StoredEntry? {
        let name = entryName(key: key)
        do throws(FileError) {
            var seen: EntryInfo?
            while true {
                guard let info = try readInfo(name), info.key.octets == key.octets else { return nil }
                do throws(FileError) { return try openGeneration(info, name, access) } catch {
                    // A commit may have replaced the generation between the two looks; a second failure on the same
                    // description is damage.
                    if error.kind != .missing || info == seen { throw error }
                    seen = info
                }
            }
        } catch {
            guard error.kind == .missing else { throw StoreError(error, doing: "opening a stored entry") }
            if access == .write { try discardEntry(name) }
            return nil
        }
    }

    /// Whether there is a description for `key`. I/O.
    package func hasEntry(key: String) throws(StoreError) -> Bool { try description(of: key) != nil }

    /// Whether the description names files of another version than `info`. I/O.
    package func namesAnother(than info: EntryInfo) throws(StoreError) -> Bool {
        try description(of: info.key).map { $0.identity != info.identity } ?? false
    }

    /// The description of the entry of `key`; `nil` where there is none that can be understood. I/O.
    func description(of key: String) throws(StoreError) -> EntryInfo? {
        do throws(FileError) {
            let found = try readWholeInfo(entryName(key: key))
            return found?.key.octets == key.octets ? found : nil
        } catch {
            throw StoreError(error, doing: "reading an entry's description")
        }
    }

    func readInfo(_ name: String) throws(FileError) -> EntryInfo? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try volume.readAll(directory(name) + "/info.json", limit: 1 << 20)
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
        if let info = seal == nil ? EntryInfo(decoding: bytes) : openInfo(bytes, name) { return info }
        throw FileError.damaged("info.json")
    }

    func openGeneration(_ info: EntryInfo, _ name: String, _ access: Access) throws(FileError) -> StoredEntry {
        let folder = directory(name)
        let mode: VolumeFileMode = access == .write ? .readWrite : .read
        let blocks = try volume.open(folder + "/" + info.blocksName, mode)
        let body = try volume.open(folder + "/" + bodyName(info), mode)
        var bytes: [UInt8] = []
        try blocks.read(at: 0, count: Int(BlockLayout.headerSize), into: &bytes)
        let summary = EntrySummary(inHeader: bytes)
        guard let header = BlocksHeader(bytes), header.identity == info.identity, header.integrity == integrity,
            header.blockSize == layout.blockSize
        else { throw FileError.damaged(info.blocksName) }
        // Slots past the resource's end are not read, however large the file is.
        let end = info.length.map { layout.slotOffset(of: layout.block(at: layout.blockEnd(of: $0))) }
        let size = min(try blocks.status().size, end ?? .max)
        let seal = try openSeal(bytes, info, name)
        return StoredEntry(
            info: info, generation: makeGeneration(info, name, body, blocks, seal, slotsFileSize: size, access),
            summary: summary ?? EntrySummary())
    }

    func makeGeneration(
        _ info: EntryInfo, _ name: String, _ body: any VolumeFile, _ blocks: any VolumeFile, _ seal: GenerationSeal?,
        slotsFileSize: Int64, _ access: Access
    ) -> Generation {
        var trace: (@Sendable (ByteRange) -> Void)?
        if let onSlots { trace = { range in onSlots(name, range) } }
        return Generation(
            number: info.generation, identity: info.identity, layout: layout, entryName: name, body: body,
            blocks: blocks, slotsFileSize: slotsFileSize, canWrite: access == .write, isCopied: !hasPaths,
            codec: seal.map { .sealed($0) } ?? .plain, onSlots: trace, onUntold: untold(name))
    }

    // MARK: Committing

    /// Makes `info`'s generation the current one, or rewrites what is said of it: writes `info.json` beside the old
    /// and renames it over it. Other generations' files are unlinked and live on in open handles.
    ///
    /// A pin stays as it is on disk: only `setPinned` changes it.
    /// - Throws: `.gone` where the entry's folder was removed, or the files that are to take others' place.
    /// - Parameters:
    ///   - generation: Files that take the place of others: they are on the disk before the description names them, and the
    ///     description before the others go, so that a power cut leaves one of the two.
    ///   - isRewrite: Whether only what is said of the current generation changes; of another one nothing is written.
    package func commit(
        _ info: EntryInfo, syncing generation: Generation? = nil, isRewrite: Bool = false
    ) throws(StoreError) {
        let (name, epoch) = (entryName(key: info.key), epoch)
        var info = info
        if let generation {
            try settle(generation)
            // A disk that takes its time leaves others some.
            guard try stillNames(info, generation, isCommitted: false) else {
                throw StoreError(.gone, "the entry's files went before they were named")
            }
        }
        if let old = try description(of: info.key) {
            info.isPinned = old.isPinned
            if isRewrite, old.generation != info.generation {
                throw StoreError(.unavailable, "files take others' place only once they are on the disk")
            }
        }
        try writeInfo(info, name, epoch)
        forgetStaged(info)
        if generation != nil {
            do throws(FileError) { try volume.syncDirectory(directory(name)) } catch {
                throw StoreError(error, doing: "syncing an entry's folder")
            }
        }
        // The rename was the commit: an error from here on must not read as "not committed". What is left over is
        // swept by the next one.
        do throws(FileError) { try sweep(name, keeping: info, epoch) } catch { return }
    }

    /// As `readInfo`, where a damaged description counts as none.
    func readWholeInfo(_ name: String) throws(FileError) -> EntryInfo? {
        do throws(FileError) { return try readInfo(name) } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    func writeInfo(_ info: EntryInfo, _ name: String, _ epoch: RootLockEpoch) throws(StoreError) {
        let folder = directory(name)
        let bytes: [UInt8]
        do {
            let plain = try info.encoded()
            bytes = seal?.entry(name).seal(description: plain) ?? plain
        } catch {
            throw StoreError(.unavailable, "describing an entry failed", cause: "\(error)")
        }
        try describing { () throws(FileError) in
            try epoch.replace(folder + "/info.json", with: bytes, by: folder + "/info.new")
        }
        note(name) { .described($0, IndexRecord.Description(info, length: info.length)) }
    }

    private func describing(_ work: () throws(FileError) -> Void) throws(StoreError) {
        do throws(FileError) { try work() } catch {
            if error.kind == .missing {
                throw StoreError(.gone, "the entry was removed while it was in use", cause: error.description)
            }
            throw StoreError(error, doing: "writing an entry's description")
        }
    }

    /// Removes the files of all generations but that of `info` and those that are being filled, also where their numbers are
    /// lower: an import, for instance, that began before the origin's answer did.
    /// - Parameter filled: Whether those that are being filled go, too.
    func sweep(
        _ name: String, keeping info: EntryInfo, _ epoch: RootLockEpoch, filled: Bool = false
    ) throws(FileError) {
        let folder = directory(name)
        let kept = ["info.json", bodyName(info), info.blocksName]
        for file in try volume.list(folder) where !kept.contains(file) {
            if !filled, let number = Store.generationNumber(inFileName: file), isFilled(number, of: name) { continue }
            try epoch.removeFile(folder + "/" + file)
        }
    }

    /// Whether a file in an entry's folder is one that the store makes.
    static func isOwn(_ file: String) -> Bool {
        file == "info.json" || file == "info.new" || generationNumber(inFileName: file) != nil
    }

    static func generationNumber(inFileName file: String) -> Int? {
        let parts = file.parts(between: ".").filter { !$0.isEmpty }
        guard parts.count >= 2, parts[0] == "body" || parts[0] == "blocks" else { return nil }
        // What is larger is no number of ours, and the next one could not be told.
        return Int(parts[1]).flatMap { 0 < $0 && $0 < Int.max ? $0 : nil }
    }

    /// Pins the entry of `key`, or lets it go; `false` where there is none.
    package func setPinned(_ isPinned: Bool, key: String) throws(StoreError) -> Bool {
        let (name, epoch) = (entryName(key: key), epoch)
        guard var info = try description(of: key) else { return false }
        if info.isPinned != isPinned {
            info.isPinned = isPinned
            try writeInfo(info, name, epoch)
        }
        do throws(FileError) {
            // The summary repeats it, so that a sweep asks only those descriptions that may hold a pin.
            let blocks = try volume.open(directory(name) + "/" + info.blocksName, .readWrite)
            var bytes: [UInt8] = []
            try blocks.read(at: BlocksHeader.summaryOffset, count: 64, into: &bytes)
            if var summary = EntrySummary(bytes, at: 0), summary.isPinned != isPinned {
                summary.isPinned = isPinned
                try blocks.write(summary.encoded, at: BlocksHeader.summaryOffset)
            }
        } catch {
            if error.kind != .missing { throw StoreError(error, doing: "noting a pin") }
        }
        return true
    }
}

extension Store {
    /// Notes in the description of `key`'s entry that it was last confirmed at `checked`; `false` where there is none.
    package func setChecked(_ checked: Int64, key: String) throws(StoreError) -> Bool {
        let (name, epoch) = (entryName(key: key), epoch)
        guard var info = try description(of: key) else { return false }
        info.checked = checked
        try writeInfo(info, name, epoch)
        return true
    }
}
