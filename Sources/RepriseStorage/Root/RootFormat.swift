import RepriseHTTP
import ReprisePlatform

/// The file `format` of a root: which version it is, how large its blocks are and how they are verified. I/O.
///
///     reprise 1
///     block 32768
///     proof hashed
///
/// A sealed root has `proof sealed` and two lines more, and the same once again in `format.spare`, because without its
/// root key nothing in it can be read:
///
///     root <the root key in its box, hexadecimal>
///     check <XXH64 of the lines before, hexadecimal>
struct RootFormat {
    private enum Found {
        /// There is none, or it was torn when the root was made.
        case none
        case plain
        /// Whole, with the root key in its box.
        case sealed([UInt8])
        /// Another version's or block size, or damaged.
        case other

        var isWhole: Bool {
            switch self {
            case .plain, .sealed: true
            case .none, .other: false
            }
        }
    }

    private let root: String
    private let volume: any StoreVolume
    private let head: String
    private var path: String { root + "/format" }
    private var sparePath: String { root + "/format.spare" }

    init(root: String, volume: any StoreVolume, blockSize: Int64) {
        self.root = root
        self.volume = volume
        head = "reprise 1\nblock \(blockSize)\nproof "
    }

    /// Checks the format, and makes one where there is none.
    /// - Parameters:
    ///   - key: The master key; `nil` for a plain root.
    ///   - known: What the root was opened with before, to be written again where somebody cleared it meanwhile.
    /// - Returns: What seals the root, where it is sealed.
    /// - Throws: `.wrongFormat`, or `.wrongKey` where the root is sealed and `key` does not open it; nothing is changed
    ///   then.
    func open(key: SealKey?, known: RootSeal? = nil, create: Bool) throws(StoreError) -> RootSeal? {
        guard let key else {
            try openPlain(create: create)
            return nil
        }
        let main = try read(path)
        if case .plain = main {
            throw StoreError(
                .wrongFormat,
                "\(root) is not sealed, and a key was given; open it without one or choose another directory")
        }
        let spare = try read(sparePath)
        if case .sealed(let box) = main, let seal = RootSeal(opening: box, with: key) {
            if create, !isSealed(spare, box) { try repair(sparePath, box) }
            return try checked(seal, known)
        }
        if case .sealed(let box) = spare, let seal = RootSeal(opening: box, with: key) {
            // One that is whole is left as it is: its key was changed, and the spare not yet.
            if create, !main.isWhole { try repair(path, box) }
            return try checked(seal, known)
        }
        if main.isWhole || spare.isWhole { throw wrongKey }
        guard case .none = main, case .none = spare else { throw wrongFormat }
        guard create else { throw missing }
        let seal = known ?? RootSeal()
        if known == nil { try removeEntries() }
        try reseal(seal, key: key)
        return seal
    }

    /// Has the root key opened by `key` from now on, and by no other. Takes effect with one rename; where it breaks off
    /// after that, the next open by the new key ends it.
    func reseal(_ seal: RootSeal, key: SealKey) throws(StoreError) {
        let box = seal.box(for: key)
        try write(box, to: path)
        try write(box, to: sparePath)
    }

    /// Puts a copy back. On a full disk that is left to the next open: the other one is there.
    private func repair(_ path: String, _ box: [UInt8]) throws(StoreError) {
        do throws(StoreError) { try write(box, to: path) } catch { if error.code != .full { throw error } }
    }

    private func openPlain(create: Bool) throws(StoreError) {
        switch try read(path) {
        case .plain: return
        case .sealed: throw wrongKey
        case .other: throw wrongFormat
        case .none:
            guard create else { throw missing }
            if case .sealed = try read(sparePath) { throw wrongKey }
            try write(Array((head + "hashed\n").utf8), path)
        }
    }

    private func checked(_ seal: RootSeal, _ known: RootSeal?) throws(StoreError) -> RootSeal {
        if let known, !known.isSame(as: seal) {
            throw StoreError(.wrongFormat, "\(root) was made anew by somebody else; open it again")
        }
        return seal
    }

    private var wrongKey: StoreError {
        StoreError(
            .wrongKey, "\(root) is sealed and this key does not open it; give the right one or choose another directory"
        )
    }

    private var missing: StoreError { StoreError(.unavailable, "there is no store in \(root)") }

    private var wrongFormat: StoreError {
        StoreError(.wrongFormat, "\(root) is not a store this version can use; choose another directory or delete it")
    }

    // MARK: Files

    private func read(_ path: String) throws(StoreError) -> Found {
        let text: String
        do throws(FileError) {
            text = String(decoding: try volume.readAll(path, limit: 1024), as: UTF8.self)
        } catch {
            if error.kind == .missing { return .none }
            throw StoreError(error, doing: "reading the store \(root)")
        }
        if text == head + "hashed\n" { return .plain }
        let sealedHead = head + "sealed\nroot "
        // Torn while it was first written: nothing can be stored under it yet that we would have to keep.
        if (head + "hashed\n").beginsLike(text) || sealedHead.beginsLike(text) { return .none }
        guard let digits = text.without(prefix: sealedHead)?.upTo("\n") else { return .other }
        guard let box = [UInt8](hexadecimal: digits), box.count == RootSeal.boxSize, text == self.text(of: box) else {
            return .other
        }
        return .sealed(box)
    }

    private func text(of box: [UInt8]) -> String {
        let lines = head + "sealed\nroot " + box.hexadecimal + "\n"
        return lines + "check " + String(XXH64.hash(Array(lines.utf8)), radix: 16) + "\n"
    }

    private func isSealed(_ found: Found, _ box: [UInt8]) -> Bool {
        if case .sealed(let other) = found { box == other } else { false }
    }

    private func write(_ box: [UInt8], to path: String) throws(StoreError) {
        try write(Array(text(of: box).utf8), path)
    }

    private func write(_ bytes: [UInt8], _ path: String) throws(StoreError) {
        do throws(FileError) {
            let temporary = path + ".new"
            try volume.writeAll(bytes, to: temporary)
            try volume.rename(temporary, to: path)
            // The root key is worth it: without the name nothing can be read after a power cut.
            if bytes.count > head.utf8.count + 7 { try volume.syncDirectory(root) }
        } catch {
            throw StoreError(error, doing: "making the store \(root)")
        }
    }

    /// What was sealed under a root key that is gone is of no use to anybody. Only files of our own are removed.
    private func removeEntries() throws(StoreError) {
        do throws(FileError) {
            for prefix in try children(of: root + "/entries") {
                for entry in try children(of: prefix) {
                    let files = try children(of: entry)
                    for file in files where Store.isOwn(String(file.dropFirst(entry.count + 1))) {
                        try volume.removeFile(file)
                    }
                    do throws(FileError) { try volume.removeDirectory(entry) } catch {
                        // Somebody else's: with other files in it, or a file.
                        if error.kind == .unavailable { throw error }
                    }
                }
            }
        } catch {
            throw StoreError(error, doing: "making the store \(root)")
        }
    }

    private func children(of path: String) throws(FileError) -> [String] {
        try volume.names(in: path).map { path + "/" + $0 }
    }
}
