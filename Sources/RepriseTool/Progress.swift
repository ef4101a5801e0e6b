import RepriseProxy

/// How far several fetches are, in words: bytes, rate and time left. No I/O and no clock: it is told the time.
struct Progress {
    /// Seconds over which the rate is measured.
    private static let rateWindow = 5.0

    private var samples: [(seconds: Double, bytes: Int64)] = []
    private(set) var stored: Int64 = 0
    private(set) var expected: Int64?
    private(set) var ended = 0
    private(set) var count = 0

    /// Takes the state of all fetches at a moment, in seconds of any clock that runs forwards.
    mutating func update(_ reports: [PrefetchReport], of count: Int, at seconds: Double) {
        self.count = count
        stored = reports.reduce(0) { $0 + $1.stored }
        ended = reports.count { $0.hasEnded }
        let known = reports.compactMap(\.expected)
        expected = known.count == count ? known.reduce(0, +) : nil
        samples.append((seconds, stored))
        // The oldest one kept is just outside the window, so that the window is full.
        while samples.count > 2, seconds - samples[1].seconds >= Progress.rateWindow { samples.removeFirst() }
    }

    /// Bytes a second lately; `nil` before two looks.
    var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.seconds > first.seconds else { return nil }
        return Double(last.bytes - first.bytes) / (last.seconds - first.seconds)
    }

    /// Seconds until all is there, at this rate.
    var secondsLeft: Int? {
        guard let expected, let rate, rate > 0 else { return nil }
        return Int((Double(expected - stored) / rate).rounded(.up))
    }

    /// One line for a terminal.
    func line(width: Int) -> String {
        var parts = [expected.map { "\(Size(stored)) of \(Size($0))" } ?? "\(Size(stored))"]
        if count > 1 { parts.insert("\(ended) of \(count)", at: 0) }
        if let rate { parts.append("\(Size(Int64(rate)))/s") }
        if let secondsLeft { parts.append(duration(secondsLeft) + " left") }
        let text = parts.joined(separator: "  ")
        guard let expected, expected > 0, width - text.count >= 12 else { return String(text.prefix(width)) }
        let cells = min(40, width - text.count - 3)
        let full = Int(Double(cells) * min(1, Double(stored) / Double(expected)))
        return "[" + String(repeating: "#", count: full) + String(repeating: ".", count: cells - full) + "] " + text
    }

    private func duration(_ seconds: Int) -> String {
        if seconds < 60 { return "\(seconds) s" }
        let minutes = seconds / 60
        return minutes < 60 ? "\(minutes) min \(seconds % 60) s" : "\(minutes / 60) h \(minutes % 60) min"
    }
}
