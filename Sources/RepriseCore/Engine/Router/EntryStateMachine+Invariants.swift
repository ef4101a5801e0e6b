import RepriseRanges
import RepriseStorage

extension EntryStateMachine {
    /// What must hold between the machines after every input, or the first of it that does not; for debug builds and tests.
    var brokenInvariant: String? {
        let named = representations.filter(\.isCommitted)
        if named.count > 1 { return "two representations are committed" }
        if let current = representations.current, representations[current] == nil {
            return "the current representation does not exist"
        }
        if named.contains(where: { !$0.isSuperseded && $0.id != representations.current }) {
            return "the current representation is not the named one"
        }
        if let unnamed = unnamed { return "representation \(unnamed.id) is complete, and is never named" }
        for transfer in transfers {
            if let id = transfer.representation, representations[id] == nil {
                return "transfer \(transfer.id) fills a representation that does not exist"
            }
            if transfer.slot != nil { return "transfer \(transfer.id) keeps a connection slot that it does not use" }
            guard let id = transfer.buffer else { continue }
            guard let buffer = buffers[id] else { return "transfer \(transfer.id) has a buffer that does not exist" }
            if buffer.isReleased { return "transfer \(transfer.id) feeds a released buffer" }
            if buffer.representation != transfer.representation {
                return "transfer \(transfer.id) feeds another representation's buffer"
            }
        }
        for buffer in buffers.all {
            guard let representation = representations[buffer.representation] else {
                return "bytes of representation \(buffer.representation), which does not exist"
            }
            if buffer.isStorable, buffer.place != representation.storage.destination {
                return "buffer \(buffer.id) writes elsewhere than representation \(representation.id) is stored"
            }
        }
        if revalidation.slot != nil { return "a confirmation keeps a connection slot that it does not use" }
        for reader in readers {
            if let id = reader.representation, representations[id] == nil, !reader.hasEnded {
                return "reader \(reader.id) reads a representation that does not exist"
            }
        }
        if deferred.isSuspended, !transfers.isEmpty || !revalidation.isIdle {
            return "the origin is asked while the store is given away"
        }
        if lifecycle.isGone, !representations.isEmpty || !transfers.isEmpty || !revalidation.isIdle {
            return "an entry that is gone holds something"
        }
        return nil
    }

    /// What is stored, complete and newest, and has no reason left to wait to be named.
    private var unnamed: Representation? {
        guard isAtRest, !lifecycle.isRemoved, !representations.contains(where: \.awaitsFiles) else { return nil }
        return representations.first { $0.filesToName != nil && $0.isComplete }
    }

    /// Readers, transfers and representations in words, to find out why a reader waits.
    var explanation: String {
        let readers = self.readers.map { reader in
            "reader \(reader.id) at \(reader.position) of \(reader.end) in \(reader.representation?.number ?? 0)"
                + (reader.isWaiting ? " waiting" : "") + (reader.isAnnounced ? " announced" : "")
                + (reader.awaitsValidation ? " for validation" : "") + (reader.awaitsIndex ? " for the index" : "")
                + (reader.isCalled ? "" : " uncalled") + (reader.failure.map { " failed: \($0)" } ?? "")
        }
        let transfers = self.transfers.map { transfer in
            "transfer \(transfer.id) of \(transfer.representation?.number ?? 0) at \(head(of: transfer)) "
                + "goal \(transfer.goal) asked \(transfer.lastAsked)"
                + (transfer.request.map {
                    " requesting\($0.hasHead ? "" : ", no head")\($0.isDemanding ? ", demanding" : "")"
                } ?? "")
                + (transfer.awaitsSlotSince != nil ? " awaiting a slot" : "")
                + (transfer.isSequential ? " sequential" : "")
                + (transfer.readsOverlap ? " reading an overlap" : "") + (transfer.pausedSince == nil ? "" : " paused")
        }
        let confirmation =
            revalidation.isIdle
            ? [] : ["a confirmation is \(revalidation.awaitsSlotSince != nil ? "awaiting a slot" : "under way")"]
        let buffers = self.representations.ids.flatMap { self.buffers.of($0) }.map { buffer in
            "buffer \(buffer.id) of \(buffer.representation) \(buffer.range) drained \(buffer.drained)"
                + (buffer.isReleased ? " released" : "") + (buffer.isWriting ? " writing" : "")
        }
        let representations = self.representations.map { representation in
            "representation \(representation.id) length \(representation.info.length ?? -1)"
                + (representation.isCommitted ? " committed" : "") + (representation.isSuperseded ? " superseded" : "")
                + " \(representation.storage.destination)".prefix(12)
                + " \(representation.generation?.claimed.description ?? "")"
        }
        let failures = backoff.error.map { ["failing: \($0), \(backoff.attempts) attempts"] } ?? []
        let entry = "\(key.text): \(lifecycle), \(self.buffers.isEmpty ? "no buffers" : "buffers")"
        return ([entry] + readers + transfers + confirmation + buffers + representations + failures).joined(
            separator: "\n")
    }
}
