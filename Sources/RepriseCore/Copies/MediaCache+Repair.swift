import ReprisePlatform
import RepriseRanges
import RepriseStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Dropping what is damaged, before a reader comes upon it.
///
/// Damaged bytes are not served without it either: a block is verified at its first read, and dropped where it fails. A repair does
/// the same for everything at once.
extension MediaCache {
    /// Reads all that is stored of every entry; drops blocks that do not match their checksum, so that they are fetched again, and
    /// removes entries that cannot be read any more, so that they are absent. What cannot be reached now is left alone and
    /// told. Who plays goes on.
    /// - Throws: `CacheError` with `.store` where the store itself cannot be used.
    @discardableResult
    public func repair() async throws(CacheError) -> RepairReport {
        let store = try keptStore()
        var report = RepairReport()
        let names = try await onReadPool { () throws(StoreError) in try store.entryNames().sorted() }
        for name in names {
            try await repair(name, in: store, &report)
            // What the index says of it is put right as well; what cannot be reached now is told already.
            try await onDisk { () throws(StoreError) in
                do throws(StoreError) { _ = try store.look(name: name) } catch {
                    if error.code != .unavailable { throw error }
                }
            }
        }
        return report
    }

    /// The same for one resource.
    @discardableResult
    public func repair(_ url: URL) async throws(CacheError) -> RepairReport {
        try await resource(for: url).repair()
    }

    fileprivate func repair(_ name: String, in store: Store, _ report: inout RepairReport) async throws(CacheError) {
        do throws(CacheError) {
            if try await !repairOpen(name, in: store, &report) { try await repairClosed(name, in: store, &report) }
        } catch {
            _ = try keptStore()
            report.unavailable.append(RepairReport.Unavailable(name: name, reason: error.message))
        }
        if Task.isCancelled { throw CacheError.taskCancelled }
    }

    /// By its entry in memory, where it is open: that one fills it. `false` where it is not.
    private func repairOpen(
        _ name: String, in store: Store, _ report: inout RepairReport
    ) async throws(CacheError) -> Bool {
        guard let entry = table.open(named: name, in: store) else { return false }
        let open = entry.openGenerations
        for (id, generation) in open {
            // A reader may come upon a damaged block at the same moment.
            let before = generation.damagedBlocks
            let dropped = try await verify(generation, anew: true, &report)
            // Blocks were dropped: they are planned anew.
            entry.handle(.indexRead(id, ByteRange(0, 0), damaged: dropped, error: nil))
            report.note(generation.damagedBlocks - before, key: entry.key.text)
        }
        if open.isEmpty { return false }
        report.entries += 1
        return true
    }

    private func repairClosed(_ name: String, in store: Store, _ report: inout RepairReport) async throws(CacheError) {
        switch try await onReadPool({ () throws(StoreError) in try store.find(name: name) }) {
        case .none: return
        case .whole(let entry):
            report.entries += 1
            let dropped = try await verify(entry.generation, anew: false, &report)
            report.note(dropped, key: entry.info.key)
            guard dropped > 0 else { return }
            environment.hub.send(.damaged(key: entry.info.key, blocks: dropped))
            environment.hub.count { $0.damagedBlocks += dropped }
        case .unreadable, .unfinished:
            let isRemoved = try await onDisk { () throws(StoreError) in
                // Somebody may have opened it, or be making it, since.
                if self.table.open(named: name, in: store) != nil || store.isBeingImported(name: name) { return false }
                if case .whole = try store.find(name: name) { return false }
                try store.remove(name: name)
                return true
            }
            if isRemoved { report.removed.append(name) }
        }
    }

    /// Verifies all that is claimed, piece by piece; answers how many blocks were dropped.
    /// - Parameter anew: Whether what was verified in this open is read again, too.
    private func verify(
        _ generation: Generation, anew: Bool, _ report: inout RepairReport
    ) async throws(CacheError) -> Int64 {
        let pieces = try await onReadPool { () throws(StoreError) in
            do throws(FileError) {
                if anew { try generation.withdrawVerification() }
                try generation.load(.from(0))
            } catch { throw StoreError(error, doing: "reading what is stored") }
            return generation.pieces(of: MediaResource.step)
        }
        var dropped: Int64 = 0
        for piece in pieces {
            // What was dropped by now is told.
            if Task.isCancelled { break }
            let found = try await onReadPool { () throws(StoreError) in
                do throws(FileError) { return try generation.verifyClaimed(piece) } catch {
                    throw StoreError(error, doing: "reading what is stored")
                }
            }
            report.verifiedBytes += found.bytes
            dropped += found.damagedBlocks
        }
        return dropped
    }
}

extension MediaResource {
    /// Reads all that is stored of it and drops what is damaged, as `MediaCache.repair`.
    @discardableResult
    public func repair() async throws(CacheError) -> RepairReport {
        let store = try cache.keptStore()
        let name = try await cache.onReadPool { () throws(StoreError) in
            store.entryName(key: try self.chosen(in: store).key.text)
        }
        var report = RepairReport()
        try await cache.repair(name, in: store, &report)
        return report
    }
}

extension RepairReport {
    fileprivate mutating func note(_ dropped: Int64, key: String) {
        if dropped > 0 { repaired.append(Repaired(key: key, droppedBlocks: dropped)) }
    }
}
