import ReprisePlatform

/// What a sealed store does with descriptions and keys.
extension Store {
    /// Has a sealed store opened by `key` from now on, and by no other: one small file is written, no body is touched.
    /// It may break off at any point and be begun again. I/O.
    ///
    /// Whoever has the old key and an older copy of that file can still open what is stored, now and later: it guards
    /// against an old key that gets lost from now on.
    /// - Throws: `.wrongFormat` for a plain store.
    package func reseal(key: SealKey) throws(StoreError) {
        guard let seal else { throw StoreError(.wrongFormat, "\(root) is not sealed: there is no key to change") }
        guard access == .write else { throw StoreError(.inUse, "\(root) was opened for reading only") }
        try format.reseal(seal, key: key)
        sealKey.withLock { $0 = key }
    }

    /// Writes the root key again where somebody cleared the root while it was open: what is stored from here on could not
    /// be read by anybody else.
    func keepFormat() throws(StoreError) {
        guard let seal else { return }
        do throws(FileError) { try volume.makeDirectory(root) } catch {
            throw StoreError(error, doing: "making the store \(root)")
        }
        _ = try format.open(key: sealKey.withLock(\.self), known: seal, create: true)
    }

    /// A description that was sealed; `nil` where it is damaged.
    func openInfo(_ box: [UInt8], _ name: String) -> EntryInfo? {
        (seal?.entry(name).open(description: box)).flatMap { EntryInfo(decoding: $0) }
    }

    /// What opens a generation's blocks, by the header of its `blocks` file; `nil` in a plain store.
    ///
    /// A generation whose key has sealed as often as it may counts as damaged: a new one takes its place.
    func openSeal(_ header: [UInt8], _ info: EntryInfo, _ name: String) throws(FileError) -> GenerationSeal? {
        guard let seal else { return nil }
        guard let opened = seal.entry(name).openGeneration(header, identity: info.identity), !opened.isWornOut else {
            throw FileError.damaged(info.blocksName)
        }
        return opened
    }
}

extension FileError {
    /// A file that is not what it was when it was written: as good as none.
    static func damaged(_ file: String) -> FileError {
        FileError(kind: .missing, code: FileError.noEntry, operation: "decode", path: file)
    }
}
