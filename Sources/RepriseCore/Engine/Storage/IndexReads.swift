import RepriseRanges

/// Ranges whose slots or checksums are being read, for each representation: none is read twice at a time.
struct IndexReads {
    private var reads: [(representation: RepresentationID, ranges: ByteRangeSet)] = []

    private func position(of representation: RepresentationID) -> Int? {
        reads.firstIndex { $0.representation == representation }
    }

    /// The parts of `range` that are not being read, which are from now on.
    mutating func begin(_ range: ByteRange, of representation: RepresentationID) -> [ByteRange] {
        let index: Int
        if let found = position(of: representation) {
            index = found
        } else {
            reads.append((representation, ByteRangeSet()))
            index = reads.count - 1
        }
        let gaps = Array(reads[index].ranges.gaps(in: range))
        for gap in gaps { reads[index].ranges.insert(gap) }
        return gaps
    }

    /// Whether all of `range` is being read.
    func contains(_ range: ByteRange, of representation: RepresentationID) -> Bool {
        position(of: representation).map { reads[$0].ranges.contains(range) } ?? false
    }

    mutating func end(_ range: ByteRange, of representation: RepresentationID) {
        if let index = position(of: representation) { reads[index].ranges.remove(range) }
    }

    /// Its files are others now: what is read of the old ones tells nothing of the new.
    mutating func drop(_ representation: RepresentationID) { reads.removeAll { $0.representation == representation } }

    mutating func dropAll() { reads = [] }
}
