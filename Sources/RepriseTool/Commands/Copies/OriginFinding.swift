#if Server
    import RepriseCore
    import RepriseRanges

    /// What `verify --against-origin` tells of an entry. Encodes as JSON with these names; offsets and sizes are bytes.
    struct OriginFinding: Encodable {
        var key: String
        var comparedBytes: Int64
        /// Half-open.
        var differing: [EntryReport.Piece]
        var damaged: [EntryReport.Piece]
        var storedLength: Int64?
        var originLength: Int64?
        var hasOtherValidator: Bool
        var isSame: Bool

        init(_ key: String, _ comparison: OriginComparison) {
            self.key = key
            comparedBytes = comparison.compared
            differing = comparison.differing.map(EntryReport.Piece.init)
            damaged = comparison.damaged.map(EntryReport.Piece.init)
            storedLength = comparison.storedLength
            originLength = comparison.originLength
            hasOtherValidator = comparison.hasOtherValidator
            isSame = comparison.isSame
        }

        func tell() {
            print("\(padded(Size(comparedBytes).description, 10))  \(isSame ? "same" : "differs")\(note)  \(key)")
            for range in differing { print("            bytes \(range.start)-\(range.end - 1) differ") }
            for range in damaged { print("            bytes \(range.start)-\(range.end - 1) are damaged in the store") }
        }

        private var note: String {
            if let storedLength, let originLength, storedLength != originLength {
                return ", \(storedLength) bytes stored, \(originLength) at the origin"
            }
            return hasOtherValidator ? ", validator changed" : ""
        }
    }
#endif
