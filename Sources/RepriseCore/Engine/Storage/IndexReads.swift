import RepriseRanges

/// Ranges whose slots or checksums are being read, for each representation: none is read twice at a
/// time. What a write passes is verified beside that.
struct IndexReads {
    private struct Reads {
        let representation: RepresentationID
        var ranges = ByteRangeSet()
        /// Whether what was verified is being taken back.
        var isWithdrawing = false
        /// When the first of them was begun, or the last one ended; nanoseconds.
        var since: Int64
    }

    private var reads: [Reads] = []

    /// Whether nothing is being read.
    var isEmpty: Bool { reads.allSatisfy { $0.ranges.isEmpty && !$0.isWithdrawing } }

    /// Whether what was verified of a representation is being taken back: nothing of it is handed out until that is done.
    func isWithdrawing(_ representation: RepresentationID) -> Bool {
        reads.contains { $0.isWithdrawing && $0.representation == representation }
    }

    /// What was verified is to be taken back. `false` where it is being already.
    mutating func beginWithdrawal(of representation: RepresentationID, now: Int64) -> Bool {
        _ = begin(ByteRange(0, 0), of: representation, now: now)
        guard let index = position(of: representation), !reads[index].isWithdrawing else { return false }
        reads[index].isWithdrawing = true
        return true
    }

    private func position(of representation: RepresentationID) -> Int? {
        reads.firstIndex { $0.representation == representation }
    }

    /// The parts of `range` that are not being read, which are from now on.
    mutating func begin(_ range: ByteRange, of representation: RepresentationID, now: Int64) -> [ByteRange] {
        let index: Int
        if let found = position(of: representation) {
            index = found
        } else {
            reads.append(Reads(representation: representation, since: now))
            index = reads.count - 1
        }
        if reads[index].ranges.isEmpty, !reads[index].isWithdrawing { reads[index].since = now }
        let gaps = Array(reads[index].ranges.gaps(in: range))
        for gap in gaps { reads[index].ranges.insert(gap) }
        return gaps
    }

    /// Whether all of `range` is being read.
    func contains(_ range: ByteRange, of representation: RepresentationID) -> Bool {
        position(of: representation).map { reads[$0].ranges.contains(range) } ?? false
    }

    /// Since when the disk has answered none that are under way, in nanoseconds; `nil` where none are.
    func waitingSince(_ representation: RepresentationID) -> Int64? {
        guard let index = position(of: representation), !reads[index].ranges.isEmpty || reads[index].isWithdrawing
        else { return nil }
        return reads[index].since
    }

    /// Slots or checksums were read; what was verified was taken back where `range` is empty.
    mutating func end(_ range: ByteRange, of representation: RepresentationID, now: Int64) {
        guard let index = position(of: representation) else { return }
        if range.isEmpty { reads[index].isWithdrawing = false }
        reads[index].ranges.remove(range)
        reads[index].since = now
    }

    /// Its files are others now: what is read of the old ones tells nothing of the new.
    mutating func drop(_ representation: RepresentationID) { reads.removeAll { $0.representation == representation } }

    mutating func dropAll() { reads = [] }
}
