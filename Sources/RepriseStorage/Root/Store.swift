package import ReprisePlatform
package import RepriseRanges

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// The entries under one root. Every method is I/O and blocks.
///
///     <root>/format  lock  usage
///     <root>/entries/ab/abcd…/info.json  body.<g>.<ext>  blocks.<g>
///
/// There is no index: an entry is found by its key's hash, and can be deleted by hand. A generation is current when
/// `info.json` names it; the rename of that file is the commit, and files it does not name are swept.
package final class Store: Sendable {
    /// How a root is opened.
    package enum Access: Sendable { case write, readOnly }

    package let root: String
    package let layout: BlockLayout
    package let capabilities: RootCapabilities
    /// How blocks are proved; sealed bodies are not media to anybody who opens them by their path.
    package let proofKind = ProofKind.hashed
    let fileSystem: any FileSystem
    private let access: Access
    /// Ends with `release`, or with the store.
    private let lock: Lock<RootLock?>
    private let onSlots: (@Sendable (String, ByteRange) -> Void)?

    /// Opens or creates a root. Does not look at its entries, however many there are.
    /// - Parameter onSlots: told of every slot write after it was made; a trace for tests.
    package init(
        root: String, fileSystem: any FileSystem, layout: BlockLayout = .standard, access: Access = .write,
        onSlots: (@Sendable (String, ByteRange) -> Void)? = nil
    ) throws(StoreError) {
        self.root = root
        self.fileSystem = fileSystem
        self.layout = layout
        self.access = access
        self.onSlots = onSlots
        if access == .readOnly {
            lock = Lock(nil)
            capabilities = RootCapabilities(holes: true, punching: false)
            try Store.checkFormat(root, fileSystem, layout, create: false)
            return
        }
        do throws(FileError) {
            try fileSystem.makeDirectory(root + "/entries")
        } catch {
            throw StoreError(error, doing: "making the store \(root)")
        }
        lock = Lock(try RootLock(root: root, fileSystem: fileSystem))
        try Store.checkFormat(root, fileSystem, layout, create: true)
        do throws(FileError) {
            capabilities = try RootCapabilities.probe(root: root, fileSystem: fileSystem)
        } catch {
            throw StoreError(error, doing: "trying the disk under \(root)")
        }
        try sweepLeases()
    }

    private static func checkFormat(
        _ root: String, _ fileSystem: any FileSystem, _ layout: BlockLayout, create: Bool
    ) throws(StoreError) {
        let path = root + "/format"
        let wanted = "reprise 1\nblock \(layout.blockSize)\nproof hashed\n"
        do throws(FileError) {
            let found = try fileSystem.readAll(path, limit: 1024)
            let text = String(decoding: found, as: UTF8.self)
            if text == wanted { return }
            // Torn while it was first written: nothing can be stored under it yet that we would have to keep.
            guard wanted.hasPrefix(text), create else {
                throw FileError(kind: .exists, code: 0, operation: "format", path: path)
            }
        } catch {
            if error.code == 0 {  // ours, not the system's
                throw StoreError(
                    .wrongFormat, "\(root) is not a store this version can use; choose another directory or delete it")
            }
            guard error.kind == .missing, create else { throw StoreError(error, doing: "reading the store \(root)") }
        }
        do throws(FileError) {
            let temporary = path + ".new"
            let handle = try fileSystem.open(temporary, .create)
            try handle.truncate(to: 0)
            try handle.write(Array(wanted.utf8), at: 0)
            try handle.sync()
            try fileSystem.rename(temporary, to: path)
        } catch {
            throw StoreError(error, doing: "making the store \(root)")
        }
    }

    /// The folder name of a key: SHA-256 in hexadecimal.
    package static func entryName(key: String) -> String {
        SHA256.hash(data: Array(key.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    func bodyPath(_ info: EntryInfo) -> String { directory(Store.entryName(key: info.key)) + "/" + info.bodyName }

    func directory(_ name: String) -> String { "\(root)/entries/\(name.prefix(2))/\(name)" }

    /// Lets another process, or another store of this one, write the root. Nothing may be written by this one until it
    /// has taken the root back.
    package func release() { lock.withLock { $0 = nil } }

    /// Takes the root back after `release`. What others changed meanwhile is not known: `stillNames` tells for an entry.
    /// - Throws: `.inUse` where another process writes it now.
    package func takeBack() throws(StoreError) {
        try lock.withLock { lock throws(StoreError) in
            if lock != nil { return }
            do throws(FileError) { try fileSystem.makeDirectory(root + "/entries") } catch {
                throw StoreError(error, doing: "making the store \(root)")
            }
            let taken = try RootLock(root: root, fileSystem: fileSystem)
            try Store.checkFormat(root, fileSystem, layout, create: true)
            lock = taken
        }
    }

    /// Whether the entry's files are, under their names, still those that `generation` has open. What was removed,
    /// replaced or restored by others is not. I/O.
    /// - Parameter isCommitted: Whether `info.json` has to name it, too.
    package func stillNames(
        _ info: EntryInfo, _ generation: Generation, isCommitted: Bool
    ) throws(StoreError) -> Bool {
        let name = Store.entryName(key: info.key)
        do throws(FileError) {
            if isCommitted {
                guard let found = try readInfo(name), found.key == info.key, found.identity == info.identity,
                    found.generation == info.generation
                else { return false }
            }
            let blocks = try fileSystem.open(directory(name) + "/" + info.blocksName, .read).status().inode
            let body = try fileSystem.open(directory(name) + "/" + info.bodyName, .read).status().inode
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
        let name = Store.entryName(key: key)
        do throws(FileError) {
            var seen: EntryInfo?
            while true {
                guard let info = try readInfo(name), info.key == key else { return nil }
                do throws(FileError) { return try openGeneration(info, name) } catch {
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

    /// Whether somebody else removed the entry's description, or files of `generation`. Another description that is
    /// there is none of this: a commit of our own may be on its way. I/O.
    package func isPurged(_ info: EntryInfo, _ generation: Generation) throws(StoreError) -> Bool {
        if try !hasEntry(key: info.key) { return true }
        return try !stillNames(info, generation, isCommitted: false)
    }

    /// Whether there is a description for `key`. I/O.
    package func hasEntry(key: String) throws(StoreError) -> Bool {
        do throws(FileError) { return try readWholeInfo(Store.entryName(key: key))?.key == key } catch {
            throw StoreError(error, doing: "reading an entry's description")
        }
    }

    func readInfo(_ name: String) throws(FileError) -> EntryInfo? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try fileSystem.readAll(directory(name) + "/info.json", limit: 1 << 20)
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
        if let info = EntryInfo(decoding: bytes) { return info }
        throw FileError(kind: .missing, code: FileError.noEntry, operation: "decode", path: "info.json")
    }

    private func openGeneration(_ info: EntryInfo, _ name: String) throws(FileError) -> StoredEntry {
        let folder = directory(name)
        let mode: FileMode = access == .write ? .readWrite : .read
        let blocks = try fileSystem.open(folder + "/" + info.blocksName, mode)
        let body = try fileSystem.open(folder + "/" + info.bodyName, mode)
        var bytes: [UInt8] = []
        try blocks.read(at: 0, count: Int(BlockLayout.headerSize), into: &bytes)
        let summary = EntrySummary(bytes, at: Int(BlocksHeader.summaryOffset))
        guard let header = BlocksHeader(bytes), header.identity == info.identity, header.proofKind == .hashed,
            header.blockSize == layout.blockSize
        else { throw FileError(kind: .missing, code: FileError.noEntry, operation: "decode", path: info.blocksName) }
        let size = try blocks.status().size
        return StoredEntry(
            info: info, generation: makeGeneration(info, name, body, blocks, slotsFileSize: size),
            logUseCount: summary?.logUseCount ?? 0)
    }

    private func makeGeneration(
        _ info: EntryInfo, _ name: String, _ body: any FileHandle, _ blocks: any FileHandle, slotsFileSize: Int64
    ) -> Generation {
        var trace: (@Sendable (ByteRange) -> Void)?
        if let onSlots { trace = { range in onSlots(name, range) } }
        return Generation(
            number: info.generation, identity: info.identity, layout: layout, entryName: name, body: body,
            blocks: blocks, slotsFileSize: slotsFileSize, canWrite: access == .write, onSlots: trace)
    }

    // MARK: Staging and committing

    /// Makes the files of a new generation beside the current one. It becomes current by `commit`.
    /// `info.generation` is chosen here.
    package func stage(_ info: EntryInfo) throws(StoreError) -> StoredEntry {
        var info = info
        let name = Store.entryName(key: info.key)
        let folder = directory(name)
        var made: [String] = []
        do throws(FileError) {
            try fileSystem.makeDirectory(folder)
            let files = try fileSystem.list(folder)
            let used = files.compactMap { Store.generationNumber(inFileName: $0) }.max() ?? 0
            info.generation = used + 1
            let header = BlocksHeader(proofKind: .hashed, blockSize: layout.blockSize, identity: info.identity)
            var summary = EntrySummary()
            summary.lastUse = info.checked
            summary.length = info.length
            let blocks = try fileSystem.open(folder + "/" + info.blocksName, .createNew)
            made.append(folder + "/" + info.blocksName)
            try blocks.write(header.encoded(summary: summary), at: 0)
            let body = try fileSystem.open(folder + "/" + info.bodyName, .createNew)
            let generation = makeGeneration(info, name, body, blocks, slotsFileSize: BlockLayout.headerSize)
            return StoredEntry(info: info, generation: generation)
        } catch {
            // What cannot be removed now is swept by the next commit of this key.
            for file in made { do throws(FileError) { try fileSystem.removeFile(file) } catch { continue } }
            throw StoreError(error, doing: "making a new entry")
        }
    }

    /// Makes `info`'s generation the current one, or rewrites what is said of it: writes `info.json` beside the old
    /// and renames it over it. Other generations' files are unlinked and live on in open handles.
    ///
    /// A pin stays as it is on disk: only `setPinned` changes it.
    /// - Throws: `.gone` where the entry's folder was removed.
    package func commit(_ info: EntryInfo) throws(StoreError) {
        let name = Store.entryName(key: info.key)
        var info = info
        do throws(FileError) {
            if let old = try readWholeInfo(name), old.key == info.key { info.isPinned = old.isPinned }
        } catch {
            throw StoreError(error, doing: "reading an entry's description")
        }
        try writeInfo(info, name)
        // The rename was the commit: an error from here on must not read as "not committed". What is left over is
        // swept by the next one.
        do throws(FileError) { try sweep(directory(name), keeping: info) } catch { return }
    }

    /// As `readInfo`, where a damaged description counts as none.
    func readWholeInfo(_ name: String) throws(FileError) -> EntryInfo? {
        do throws(FileError) { return try readInfo(name) } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    func writeInfo(_ info: EntryInfo, _ name: String) throws(StoreError) {
        let folder = directory(name)
        let bytes: [UInt8]
        do { bytes = try info.encoded() } catch {
            throw StoreError(.unavailable, "describing an entry failed", cause: "\(error)")
        }
        do throws(FileError) {
            let temporary = folder + "/info.new"
            let handle = try fileSystem.open(temporary, .create)
            try handle.truncate(to: 0)
            try handle.write(bytes, at: 0)
            // An empty info.json after a power cut would cost the whole entry; its few hundred bytes are worth a sync.
            try handle.sync()
            try fileSystem.rename(temporary, to: folder + "/info.json")
        } catch {
            if error.kind == .missing {
                throw StoreError(.gone, "the entry was removed while it was in use", cause: error.description)
            }
            throw StoreError(error, doing: "writing an entry's description")
        }
    }

    private func sweep(_ folder: String, keeping info: EntryInfo) throws(FileError) {
        let kept = ["info.json", info.bodyName, info.blocksName]
        for file in try fileSystem.list(folder) where !kept.contains(file) {
            // A higher number is a generation that is being staged.
            if let number = Store.generationNumber(inFileName: file), number > info.generation { continue }
            try fileSystem.removeFile(folder + "/" + file)
        }
    }

    /// Removes the files of a staged generation that will not become current.
    package func abandon(_ info: EntryInfo) throws(StoreError) {
        let folder = directory(Store.entryName(key: info.key))
        do throws(FileError) {
            for file in [info.bodyName, info.blocksName] {
                do throws(FileError) { try fileSystem.removeFile(folder + "/" + file) } catch {
                    if error.kind != .missing { throw error }
                }
            }
        } catch {
            throw StoreError(error, doing: "removing a replaced generation")
        }
    }

    static func generationNumber(inFileName file: String) -> Int? {
        let parts = file.split(separator: ".")
        guard parts.count >= 2, parts[0] == "body" || parts[0] == "blocks" else { return nil }
        return Int(parts[1])
    }

    /// Pins the entry of `key`, or lets it go; `false` where there is none.
    package func setPinned(_ isPinned: Bool, key: String) throws(StoreError) -> Bool {
        let name = Store.entryName(key: key)
        let found: EntryInfo?
        do throws(FileError) { found = try readWholeInfo(name) } catch {
            throw StoreError(error, doing: "reading an entry's description")
        }
        guard var info = found, info.key == key else { return false }
        if info.isPinned != isPinned {
            info.isPinned = isPinned
            try writeInfo(info, name)
        }
        do throws(FileError) {
            // The summary is what quota and listing look at; the description is what counts.
            let blocks = try fileSystem.open(directory(name) + "/" + info.blocksName, .readWrite)
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
        let name = Store.entryName(key: key)
        let found: EntryInfo?
        do throws(FileError) { found = try readWholeInfo(name) } catch {
            throw StoreError(error, doing: "reading an entry's description")
        }
        guard var info = found, info.key == key else { return false }
        info.checked = checked
        try writeInfo(info, name)
        return true
    }
}

extension FileSystem {
    /// The whole of a small file; what is past `limit` is left out.
    package func readAll(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        let handle = try open(path, .read)
        var bytes: [UInt8] = []
        try handle.read(at: 0, count: limit, into: &bytes)
        return bytes
    }
}
