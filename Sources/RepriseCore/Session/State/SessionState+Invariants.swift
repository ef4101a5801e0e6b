import RepriseRanges

extension SessionState {
    /// What must hold after every input, or the first of it that does not; for tests.
    var brokenInvariant: String? {
        if representations.count(where: \.isCommitted) > 1 { return "two representations are committed" }
        if let current, representations[current] == nil { return "the current representation does not exist" }
        for transfer in transfers {
            if let number = transfer.representation, representations[number] == nil {
                return "transfer \(transfer.id) fills a representation that does not exist"
            }
            if let buffer = transfer.buffer {
                guard let found = buffers[buffer] else {
                    return "transfer \(transfer.id) has a buffer that does not exist"
                }
                if found.isReleased { return "transfer \(transfer.id) feeds a released buffer" }
                if found.representation != transfer.representation {
                    return "transfer \(transfer.id) feeds another's buffer"
                }
            }
        }
        for reader in readers {
            if let number = reader.representation, representations[number] == nil, reader.failure == nil {
                return "reader \(reader.id) reads a representation that does not exist"
            }
        }
        if lifecycle.isGone, !representations.isEmpty || !transfers.isEmpty {
            return "a session that is gone holds something"
        }
        return nil
    }
}
