import RepriseRanges

/// The tables of a `moov`: where each track's samples are, and when. (ISO/IEC 14496-12 §8.6.1, §8.7.)
struct MP4Index {
    /// Seconds of the whole; `nil` where it is not told.
    private(set) var duration: Double?
    fileprivate var tracks: [Track] = []

    /// One track's tables, as they are stored.
    fileprivate struct Track {
        var timescale: Int64 = 0
        var times: [UInt8] = []
        var sizes: [UInt8] = []
        var chunks: [UInt8] = []
        var offsets: [UInt8] = []
        var offsetSize = 4
    }

    /// Reads a whole box `moov`.
    init(_ moov: [UInt8]) {
        MP4Index.boxes(moov, 8) { type, content in
            switch type {
            case "mvhd":
                let isLong = content.first == 1
                let scale = content.number(isLong ? 20 : 12, 4) ?? 0
                let length = content.number(isLong ? 24 : 16, isLong ? 8 : 4) ?? 0
                if scale > 0, length > 0 { duration = Double(length) / Double(scale) }
            case "trak":
                var track = Track()
                MP4Index.boxes(content, 0) { type, content in
                    if type == "mdia" { MP4Index.read(content, &track) }
                }
                tracks.append(track)
            default: break
            }
        }
    }

    private static func read(_ media: [UInt8], _ track: inout Track) {
        var found = track
        boxes(media, 0) { type, content in
            if type == "mdhd" { found.timescale = content.number(content.first == 1 ? 20 : 12, 4) ?? 0 }
            guard type == "minf" else { return }
            boxes(content, 0) { type, content in
                guard type == "stbl" else { return }
                boxes(content, 0) { type, content in
                    switch type {
                    case "stts": found.times = content
                    case "stsz": found.sizes = content
                    case "stsc": found.chunks = content
                    case "stco": found.offsets = content
                    case "co64":
                        found.offsets = content
                        found.offsetSize = 8
                    default: break
                    }
                }
            }
        }
        track = found
    }

    private static func boxes(_ bytes: [UInt8], _ start: Int, _ body: (String, [UInt8]) -> Void) {
        var offset = start
        while let size = bytes.number(offset, 4), size >= 8, Int64(offset).adding(size) <= Int64(bytes.count) {
            let type = String(decoding: bytes[(offset + 4)..<(offset + 8)], as: UTF8.self)
            body(type, Array(bytes[(offset + 8)..<(offset + Int(size))]))
            offset += Int(size)
        }
    }

    /// Where the first sample of all tracks begins.
    var start: Int64? { tracks.compactMap { $0.offsets.number(8, $0.offsetSize) }.min() }

    /// Where the last sample ends that begins within the first `seconds`, of all tracks; `nil` where no table tells it.
    func end(after seconds: Double) -> Int64? { tracks.compactMap { $0.end(after: seconds) }.max() }
}

extension MP4Index.Track {
    /// How many samples begin within the first `seconds`.
    private func samples(within seconds: Double) -> Int64 {
        guard timescale > 0, let entries = times.number(4, 4) else { return 0 }
        let limit = seconds * Double(timescale)
        var time = 0.0
        var samples: Int64 = 0
        for entry in 0..<min(entries, Int64(times.count / 8)) {
            guard let count = times.number(8 + Int(entry) * 8, 4), let step = times.number(12 + Int(entry) * 8, 4)
            else {
                break
            }
            let fitting = step == 0 ? Double(count) : ((limit - time) / Double(step)).rounded(.up)
            if fitting < Double(count) { return samples.adding(Int64(max(0, fitting))) }
            samples += count
            time += Double(count) * Double(step)
        }
        return samples
    }

    /// How many bytes samples take.
    private func bytes(_ samples: Range<Int64>) -> Int64 {
        guard !samples.isEmpty, let same = sizes.number(4, 4) else { return 0 }
        if same > 0 { return same.multiplied(by: Int64(samples.count)) }
        // No further than the table goes, whatever another table says.
        let known = samples.clamped(to: 0..<Int64(sizes.count / 4))
        return known.reduce(Int64(0)) { $0.adding(sizes.number(12 + Int($1) * 4, 4) ?? 0) }
    }

    /// The furthest end of the first samples, chunk by chunk.
    func end(after seconds: Double) -> Int64? {
        let wanted = samples(within: seconds)
        guard wanted > 0, let runs = chunks.number(4, 4), runs > 0, let chunkCount = offsets.number(4, 4) else {
            return nil
        }
        var run = 0
        var sample: Int64 = 0
        var end: Int64 = 0
        for chunk in 0..<min(chunkCount, Int64(offsets.count / offsetSize)) {
            while Int64(run + 1) < runs, let next = chunks.number(8 + (run + 1) * 12, 4), next <= chunk.adding(1) {
                run += 1
            }
            guard let perChunk = chunks.number(12 + run * 12, 4), perChunk > 0,
                let offset = offsets.number(8 + Int(chunk) * offsetSize, offsetSize)
            else { break }
            end = max(end, offset.adding(bytes(sample..<min(sample.adding(perChunk), wanted))))
            sample = sample.adding(perChunk)
            if sample >= wanted { break }
        }
        return end > 0 ? end : nil
    }
}
