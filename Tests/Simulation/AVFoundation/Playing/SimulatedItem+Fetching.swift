internal import Foundation

/// The unit of every offset and of short reads.
let block: Int64 = 65536

/// What an item asks its loader for, and what becomes of it.
extension SimulatedItem {
    enum Purpose { case index, media, aside }

    struct Transfer {
        let purpose: Purpose
        let offset: Int64
        let end: Int64
        /// To the end for want of a better one: cancelled when enough has come.
        let isOpenEnded: Bool
        let request: SimulatedRequest
        var isCancelled = false
        /// Cancelled by a seek: what still comes of it is of no use.
        var isStale = false
    }

    /// A resource that is at hand is read in small pieces when they are needed.
    private var isOnDemand: Bool {
        behaviour.heedsOnDemandFlag && facts?.information?.isEntireLengthAvailableOnDemand == true
    }

    /// How far is read ahead of the head: to a cancel, and from half of it on again.
    var window: Int64 {
        guard isCurrent else { return 2 * block }
        let wanted = Int64(preferredForwardBufferDuration * Double(behaviour.bytesPerSecond))
        let limit = wanted > 0 ? min(behaviour.bytesAhead, max(wanted, 4 * block)) : behaviour.bytesAhead
        return isOnDemand ? min(limit, 8 * block) : limit
    }

    // nil for "to the end".
    private var pieceLength: Int64? {
        if !isCurrent || behaviour.probesInSmallBlocks && buffer.upperBound < 3 * block { return block }
        if isOnDemand { return 4 * block }
        return behaviour.layout == .fragmented ? 16 * block - buffer.upperBound % (16 * block) : nil
    }

    func fetch(_ turn: inout SimulatedTurn) {
        guard player != nil, facts?.isNative == false, failure == nil else { return }
        let open = transfers.filter { $0.value.purpose != .aside && !$0.value.isCancelled && !$0.value.isStale }.keys
            .min()
        if let part = indexParts.first {
            if open == nil { start(.index, part.offset, nil, &turn) }
            return
        }
        if let open {
            if isCurrent, ahead >= window, buffer.upperBound < length, transfers[open]?.isOpenEnded == true {
                cancel(open, &turn)
            }
            return
        }
        guard buffer.upperBound < length, ahead <= window / 2 else { return }
        let (offset, piece) = (buffer.upperBound, pieceLength)
        start(.media, offset, piece, &turn)
        guard piece == nil else { return }
        // Interleaved media: other tracks are read in blocks of their own, further on.
        for track in 1..<max(1, Int64(behaviour.requestsInParallel)) where offset + track * 16 * block < length {
            start(.aside, (offset / block + track * 16) * block, 2 * block, &turn)
        }
    }

    private func start(_ purpose: Purpose, _ offset: Int64, _ piece: Int64?, _ turn: inout SimulatedTurn) {
        guard let loader = asset.simulatedMedia?.loader else { return }
        lastTransfer += 1
        let (key, count) = (lastTransfer, min(piece ?? .max, length - offset))
        // Numbered in this turn, so that nothing can come of it before it is known here.
        let request = SimulatedRequest(
            loader, offset: offset, length: Int(count), keepsBytes: purpose == .media,
            onBytes: { [weak self] offset, data in
                guard let self else { return }
                SimulatedTurn.take { self.received(key, offset..<offset + Int64(data.count), &$0) }
            },
            onEnd: { [weak self] outcome in
                guard let self else { return }
                SimulatedTurn.take { self.ended(key, outcome, &$0) }
            })
        transfers[key] = Transfer(
            purpose: purpose, offset: offset, end: offset + count, isOpenEnded: piece == nil, request: request)
        if purpose == .media { sources.append(request) }
        turn.then { [asset] in withExtendedLifetime(asset) { request.begin() } }
    }

    func cancel(_ key: Int, _ turn: inout SimulatedTurn) {
        transfers[key]?.isCancelled = true
        if let request = transfers[key]?.request { turn.then { request.cancel() } }
    }

    /// The item is let go of: only this tells the delegate.
    func end(_ turn: inout SimulatedTurn) {
        leave()
        for key in transfers.keys.sorted() { cancel(key, &turn) }
    }

    private func received(_ key: Int, _ bytes: Range<Int64>, _ turn: inout SimulatedTurn) {
        guard let transfer = transfers[key] else { return }
        if transfer.purpose == .index, !transfer.isCancelled, let part = indexParts.first {
            guard bytes.upperBound - part.offset >= part.enough, bytes.upperBound < transfer.end else { return }
            indexParts.removeFirst()
            cancel(key, &turn)
            review(&turn)
        } else if transfer.purpose == .media {
            guard !transfer.isStale, bytes.contains(buffer.upperBound) else {
                return transfer.request.release(before: .max)
            }
            // Also of a request that was cancelled, until the cancel has arrived.
            buffer = buffer.lowerBound..<min(length, bytes.upperBound)
            changed(&turn, "loadedTimeRanges")
            review(&turn)
        }
    }

    private func ended(_ key: Int, _ outcome: SimulatedOutcome, _ turn: inout SimulatedTurn) {
        guard let transfer = transfers.removeValue(forKey: key) else { return }
        if !transfer.isCancelled, transfer.purpose != .aside {
            switch outcome {
            case .finished where transfer.purpose == .index: indexParts.removeFirst()
            case .finished:
                // Fewer bytes than asked for: the resource ends here.
                if buffer.upperBound < transfer.end {
                    length = max(buffer.upperBound, Int64(head))
                    changed(&turn, "duration")
                }
            case .failed(let error):
                // One more attempt at the same place.
                if retriedAt == buffer.upperBound { failure = error }
                retriedAt = buffer.upperBound
            case .native, .redirected:
                facts?.isNative = true
                buffer = 0..<length
            case .cancelled: break
            }
        }
        review(&turn)
    }
}
