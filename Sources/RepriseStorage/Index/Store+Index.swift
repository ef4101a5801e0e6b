import RepriseHTTP
package import ReprisePlatform
import RepriseRanges

/// What is stored, by the index. I/O, all of it.
extension Store {
    /// Sets what to call when there is something to append to the index. It must be quick.
    package func onIndexPending(_ tell: @escaping @Sendable () -> Void) { index.onPending(tell) }

    /// Bytes that all entries take, where the process that had the store last closed it; `nil` where entries have to be counted.
    package func beginIndex() throws(StoreError) -> Int64? {
        do throws(FileError) { return try index.begin(epoch) } catch { throw indexError(error) }
    }

    /// Appends what was noted.
    package func flushIndex() throws(StoreError) {
        do throws(FileError) { try index.flush(epoch) } catch { throw indexError(error) }
    }

    /// Notes that the store is let go, and what all entries take; not where some were not compared with what the index says.
    /// - Parameter session: When that was decided; nothing is noted at another one.
    package func closeIndex(allocated: Int64, session: Int? = nil) throws(StoreError) {
        guard session.map({ $0 == indexSession }) ?? true else { return }
        do throws(FileError) { try index.close(allocated: allocated, epoch) } catch {
            throw indexError(error)
        }
    }

    /// Which of the times it is between which another process may have had the store.
    package var indexSession: Int { index.session }

    private func indexError(_ error: FileError) -> StoreError { StoreError(error, doing: "keeping the store's index") }

    // MARK: Looking

    /// What is stored. Reads the index, and the names in those folders that changed since.
    /// - Parameter isCompared: Whether what the index says of an entry is taken only where all of it holds: after a kill it may be behind.
    package func survey(isCompared: Bool = false) throws(StoreError) -> StoreSurvey {
        let session = index.session
        do throws(FileError) {
            let table = knownTable
            return try survey(table, isTaken: !isCompared || index.isRight, session: session)
        } catch {
            throw StoreError(error, doing: "listing the store \(root)")
        }
    }

    /// What the index says; nothing where it cannot be read.
    private var knownTable: IndexTable {
        do throws(FileError) { return try index.read() } catch { return IndexTable() }
    }

    private func survey(_ table: IndexTable, isTaken: Bool, session: Int) throws(FileError) -> StoreSurvey {
        var survey = StoreSurvey(session: session)
        var isListed = [Bool](repeating: true, count: IndexRecord.prefixes)
        var listed: Set<EntryName> = []
        for prefix in try volume.names(in: root + "/entries") {
            let folder = root + "/entries/" + prefix
            let number = [UInt8](hexadecimal: prefix).flatMap { $0.count == 1 ? Int($0[0]) : nil }
            if let number {
                switch try change(of: folder) {
                case .gone: continue
                case .unknown: break
                case .at(let time):
                    survey.changes[number] = time
                    if isTaken, let table = table.listed, table[number] == time {
                        isListed[number] = false
                        continue
                    }
                }
            }
            for name in try volume.names(in: folder) {
                if let entry = EntryName(name), entry.prefix == number {
                    listed.insert(entry)
                } else {
                    survey.unknown.append(name)
                    // Others' names the index does not have: they are found by listing them again.
                    if let number { survey.changes[number] = 0 }
                }
            }
        }
        survey.hasChanges = table.listed != survey.changes
        func add(_ name: EntryName) {
            if isTaken, let entry = table.entry(name) {
                survey.known.append(entry)
            } else {
                survey.unknown.append(name.folder)
            }
        }
        for name in table.names.sorted() {
            let isThere = isListed[name.prefix] ? listed.remove(name) != nil : survey.changes[name.prefix] != 0
            if isThere { add(name) } else { survey.gone.append(name) }
        }
        for name in listed { add(name) }
        return survey
    }

    /// When a folder last changed.
    private enum FolderChange { case at(Int64), unknown, gone }

    private func change(of folder: String) throws(FileError) -> FolderChange {
        do throws(FileError) { return try volume.modified(ofDirectory: folder).map { .at($0) } ?? .unknown } catch {
            // It went since it was listed.
            if error.kind == .missing { return .gone }
            throw error
        }
    }

    /// What an entry's files say of it, which the index says from then on; `nil` where there is no such folder.
    package func look(name: String) throws(StoreError) -> IndexedEntry? {
        let (use, found) = (try use(name: name), try describe(name: name))
        guard let use else {
            note(name) { .removed($0) }
            return nil
        }
        guard let found else {
            // Without a description it is no entry, and takes space: it is looked at each time.
            let left = IndexedEntry(use)
            note(name) { .used($0, IndexRecord.Use(left)) }
            return left
        }
        let entry = IndexedEntry(use, found.info, found.summary)
        note(name) { .described($0, IndexRecord.Description(found.info, length: entry.use.length)) }
        note(name) { .used($0, IndexRecord.Use(entry)) }
        return entry
    }

    /// Every entry of a survey was asked: the index says what they said, from here on all of it holds.
    /// - Parameter failed: Names of those that could not be: they are asked the next time.
    package func settle(_ survey: StoreSurvey, failed: [String] = []) throws(StoreError) {
        guard survey.session == index.session else { return }
        for name in survey.gone { index.note(.removed(name)) }
        for name in failed { note(name) { .used($0, .unknown) } }
        if survey.hasChanges { index.note(.listed(survey.changes)) }
        index.setRight(survey.session)
        try flushIndex()
        try compactIndex()
    }

    // MARK: Notes

    /// Something happened to the entry with that folder name.
    func note(_ name: String, _ record: (EntryName) -> IndexRecord) {
        if access == .write, let name = EntryName(name) { index.note(record(name)) }
    }

    /// Tells at a generation's end that what is noted of its entry is behind: it is looked at the next time.
    func untold(_ name: String) -> (@Sendable () -> Void)? {
        guard access == .write, let name = EntryName(name) else { return nil }
        return { [index] in index.note(.used(name, .unknown)) }
    }

    /// Writes a generation's summary, with what the volume says is allocated.
    package func write(_ summary: EntrySummary, to generation: Generation) throws(FileError) {
        guard let taken = try generation.write(summary) else { return }
        var use = IndexRecord.Use(taken.summary, of: generation.identity, allocated: taken.allocated)
        let files = try volume.list(directory(generation.entryName))
        if files.count(where: { Store.generationNumber(inFileName: $0) != nil }) > 2 {
            // With others that are being filled, or that a killed process left.
            do throws(StoreError) { use.allocated = try self.use(name: generation.entryName)?.allocated ?? 0 } catch {
                use = .unknown
            }
        }
        note(generation.entryName) { .used($0, use) }
    }

    /// What is noted may be behind: each entry is compared before the store is closed for good. Waits for no disk.
    package func distrustIndex() { index.distrust() }

    /// Writes the index anew where it has grown.
    package func compactIndex() throws(StoreError) {
        do throws(FileError) { try index.compact(epoch) } catch { throw indexError(error) }
    }

    /// Whether that is due.
    package var isIndexLarge: Bool { index.isLarge }
}
