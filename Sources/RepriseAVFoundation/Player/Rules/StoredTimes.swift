#if canImport(AVFoundation) && !os(watchOS)
    import RepriseRanges

    /// Stored bytes as times. Proportional: byte `b` of `n` counts as second `b / n` of the duration. Exact for media of
    /// constant bit rate but for its header; for other media good enough for a bar on a screen, not for a decision.
    enum StoredTimes {
        /// The times of `stored`, in seconds, in order; none while length or duration is not known.
        static func ranges(of stored: ByteRangeSet, length: Int64?, duration: Double?) -> [Range<Double>] {
            guard let length, let duration, length > 0, duration > 0, duration.isFinite else { return [] }
            let scale = duration / Double(length)
            return stored.intersection(ByteRange(0, length)).ranges.map { range in
                // The end exactly: whoever compares it with the duration means "all".
                let end = range.upperBound >= length ? duration : Double(range.upperBound) * scale
                return min(Double(range.lowerBound) * scale, end)..<end
            }
        }
    }
#endif
