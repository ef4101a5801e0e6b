import RepriseRanges

/// What a player needs of a media file to begin: its head, its index wherever that is, what is looked at by everybody at
/// the end, and the first seconds. A plain struct without I/O: it is told what is known and answers what to look at next.
///
///     ask --look(range)--> read it --> ask again --> ... --> keep(ranges)
///
/// Total: any bytes come to `keep` within `mostLooks` looks, each of which asks for something that was not known. A
/// container that is not known, or broken, gives its first bytes.
package struct ContainerHead: Sendable, Hashable {
    /// How much of the media itself.
    package var seconds: Double

    /// What players open with `.head`: as long as ffmpeg's own look at a file may take.
    package static let openingSeconds = 5.0
    /// Past the first seconds so much is kept: what a player and the sockets on both sides of the loopback server take
    /// ahead of what is played. (Measured with ffmpeg: 150 to 250 KiB.)
    package static let slack: Int64 = 384 * 1024
    /// What is looked at first, and wherever a part of unknown size begins.
    static let firstLook: Int64 = 64 * 1024
    /// The largest part that is looked at as a whole; one that is larger is kept, not understood. (An hour of film has an
    /// index of about 1 MiB.)
    package static let largestLook: Int64 = 32 << 20
    /// Most bytes that are looked at in all: a file that has more of such parts is kept, not understood.
    package static let mostLookedAt = largestLook.multiplied(by: 2)
    /// Bytes a second where nothing tells: high, as a player that runs dry is worse.
    static let unknownRate = 64_000.0
    /// Looks after which what is known has to do.
    package static let mostLooks = 64

    package init(seconds: Double = openingSeconds) { self.seconds = seconds.isFinite ? min(max(0, seconds), 1e7) : 1e7 }

    /// What to do next. What is asked to be looked at is never wholly known already.
    package func step(_ known: KnownBytes) -> HeadStep {
        switch stepOfContainer(known) {
        case .look(let range):
            let range = known.clipped(range)
            // A broken file that leads to what is known, past the end, or ever further, is not understood.
            let isUseless =
                known.covers(range) || known.looks >= ContainerHead.mostLooks
                || known.count.adding(range.count) > ContainerHead.mostLookedAt
            return isUseless ? .keep(joined([ByteRange(0, fallback(known))], known)) : .look(range)
        case .keep(let ranges): return .keep(joined(ranges, known))
        }
    }

    private func stepOfContainer(_ known: KnownBytes) -> HeadStep {
        let first = ByteRange(0, ContainerHead.firstLook)
        guard let head = known.bytes(first) else { return .look(first) }
        if MP4Head.isOne(head) { return MP4Head(self, known).step() }
        if head.begins("fLaC") || FLACHead.follows(head, known) { return FLACHead(self, known).step() }
        if head.begins("OggS") { return OggHead(self, known).step(head) }
        if head.begins("\u{1A}") && head.number(0, 4) == 0x1A45_DFA3 { return MatroskaHead(self, known).step() }
        if MP3Head.isOne(head) { return MP3Head(self, known).step() }
        return .keep([ByteRange(0, ContainerHead.slack.adding(.bytes(seconds, at: rate(head))))])
    }

    /// What is kept of a file that is not understood.
    func fallback(_ known: KnownBytes) -> Int64 {
        ContainerHead.slack.adding(.bytes(seconds, at: ContainerHead.unknownRate))
    }

    // RIFF tells its rate in plain text: bytes a second at offset 28.
    private func rate(_ head: [UInt8]) -> Double {
        guard head.begins("RIFF"), head.begins("WAVE", at: 8), let rate = head.littleNumber(28, 4) else {
            return ContainerHead.unknownRate
        }
        return Double(rate)
    }

    private func joined(_ ranges: [ByteRange], _ known: KnownBytes) -> [ByteRange] {
        ByteRangeSet(ranges.map { known.clipped($0) }.filter { !$0.isEmpty }).ranges.map { $0 }
    }

    /// The media from `start` on at so many bytes a second.
    func opening(from start: Int64, rate: Double) -> ByteRange {
        ByteRange(0, start.adding(.bytes(seconds, at: rate)).adding(ContainerHead.slack))
    }
}
