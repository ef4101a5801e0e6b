import RepriseHTTP
package import ReprisePlatform

extension Store {
    /// What the entry with that folder name takes and how it was used; `nil` where there is none. Reads names, sizes and
    /// one header, and where that says that it is pinned the description, which counts. I/O.
    package func use(name: String) throws(StoreError) -> StoredUse? {
        let folder = directory(name)
        do throws(FileError) {
            // The folder itself takes a page.
            var use = StoredUse(name: name, lastUse: 0, allocated: 4096)
            for file in try volume.list(folder) {
                do throws(FileError) {
                    let handle = try volume.open(folder + "/" + file, .read)
                    use.allocated += try handle.status().allocated
                    guard file.beginsLike("blocks."), Store.generationNumber(inFileName: file) != nil else { continue }
                    var bytes: [UInt8] = []
                    try handle.read(at: BlocksHeader.summaryOffset, count: 64, into: &bytes)
                    guard let summary = EntrySummary(bytes, at: 0) else { continue }
                    // A process that was killed may have left another generation's files beside the entry's own.
                    if summary.lastUse >= use.lastUse { use.length = summary.length }
                    use.lastUse = max(use.lastUse, summary.lastUse)
                    use.logUseCount = max(use.logUseCount, Int(summary.logUseCount))
                    use.isPinned = use.isPinned || summary.isPinned
                } catch {
                    // Replaced or removed since it was listed.
                    if error.kind != .missing { throw error }
                }
            }
            // What was half removed or unpinned while the disk failed would else stay for good.
            if use.isPinned {
                do throws(StoreError) { use.isPinned = try isPinned(name: name) } catch {
                    // It cannot be looked up now: the pin holds.
                }
            }
            return use
        } catch {
            if error.kind == .missing { return nil }
            throw StoreError(error, doing: "looking at an entry's files")
        }
    }

    /// What the volume under the store has left. I/O.
    package func space() throws(StoreError) -> VolumeSpace {
        do throws(FileError) { return try volume.space(root) } catch {
            throw StoreError(error, doing: "asking for the free space")
        }
    }

    /// Whether the entry with that folder name is pinned; its description counts. What has none, or a damaged one, is not. I/O.
    package func isPinned(name: String) throws(StoreError) -> Bool {
        do throws(FileError) { return try readWholeInfo(name)?.isPinned ?? false } catch {
            throw StoreError(error, doing: "reading an entry's description")
        }
    }
}
