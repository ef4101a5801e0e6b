import RepriseCore
import RepriseHTTP
import RepriseRanges

extension FuzzTarget {
    /// Beginnings of media files.
    static let containerTargets = [
        FuzzTarget(
            "signatures", seeds: [Array("<!doctype html>".utf8), Array("{\"a\":1}".utf8), [0xFF, 0xFB, 0x90, 0x64]]
        ) {
            _ = ContainerSignature.of($0)
            if case .indexFirst(let end) = MP4Layout($0) { try require(end > 0, "an index of \(end)") }
        },
        FuzzTarget("heads", seeds: heads) { bytes in
            var input = FuzzInput(bytes)
            let seconds = Double(input.byte())
            let length: Int64? = input.byte() % 2 == 0 ? nil : Int64(input.rest.count)
            try head(Array(input.rest), length: length, seconds: seconds)
        },
    ]

    /// Follows what a head asks for, in a file of `bytes` and zeros behind them.
    private static func head(_ bytes: [UInt8], length: Int64?, seconds: Double) throws {
        var known = KnownBytes(length: length)
        var looks = 0
        while true {
            switch ContainerHead(seconds: seconds).step(known) {
            case .look(let range):
                looks += 1
                try require(looks <= ContainerHead.mostLooks, "it looks without end")
                try require(!range.isEmpty && !known.covers(range), "\(range) is known")
                // Larger than a test should make: a file that goes on with zeros tells nothing new.
                guard range.count <= 1 << 20 else { return }
                let start = Int(min(range.lowerBound, Int64(bytes.count)))
                let part = Array(bytes[start...].prefix(Int(range.count)))
                known.add(part + Array(repeating: 0, count: Int(range.count) - part.count), at: range.lowerBound)
            case .keep(let ranges):
                for range in ranges { try require(range.upperBound <= length ?? .max, "\(range) of \(length ?? -1)") }
                for (one, next) in zip(ranges, ranges.dropFirst()) {
                    try require(one.upperBound < next.lowerBound, "\(one), \(next)")
                }
                return
            }
        }
    }

    private static var heads: [[UInt8]] {
        func number(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
        func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
            number(content.count + 8) + Array(type.utf8) + content
        }
        func table(_ type: String, _ numbers: [Int]) -> [UInt8] { box(type, number(0) + numbers.flatMap(number)) }
        let samples =
            table("stts", [1, 100, 1000]) + table("stsz", [0, 100] + Array(repeating: 50, count: 100))
            + table("stsc", [1, 1, 10, 1]) + table("stco", [10] + (0..<10).map { 2000 + $0 * 500 })
        let media = table("mdhd", [0, 0, 44_100, 100_000]) + box("minf", box("stbl", samples))
        let film =
            box("ftyp", Array("isom".utf8)) + box("moov", box("trak", box("mdia", media))) + box("mdat", [1, 2, 3])
        let last =
            box("ftyp", []) + box("mdat", Array(repeating: 0, count: 64)) + box("moov", box("trak", box("mdia", media)))
        let frame: [UInt8] =
            [0xFF, 0xFB, 0x90, 0x64] + Array(repeating: 0, count: 32) + Array("Xing".utf8) + number(15)
        let tag = Array("ID3".utf8) + [4, 0, 0x10, 0, 0, 0, 10] + Array(repeating: 0, count: 20) + frame
        let flac =
            Array("fLaC".utf8) + [0, 0, 0, 34] + Array(repeating: 7, count: 34) + [0x83, 0, 0, 18] + number(1)
            + number(2)
        let ogg =
            Array("OggS".utf8) + [0, 2] + Array(repeating: 0, count: 20) + [1, 30, 1] + Array("vorbis".utf8)
            + Array(repeating: 1, count: 30)
        let matroska: [UInt8] =
            [0x1A, 0x45, 0xDF, 0xA3, 0x80, 0x18, 0x53, 0x80, 0x67, 0xFF, 0x11, 0x4D, 0x9B, 0x74, 0x8E]
            + [0x4D, 0xBB, 0x8B, 0x53, 0xAB, 0x84, 0x1C, 0x53, 0xBB, 0x6B, 0x53, 0xAC, 0x81, 0x20]
            + [0x15, 0x49, 0xA9, 0x66, 0x87, 0x44, 0x89, 0x84, 0x44, 0x89, 0x80, 0x00]
            + [0x1C, 0x53, 0xBB, 0x6B, 0x8C, 0xBB, 0x8A, 0xB3, 0x81, 0x05, 0xB7, 0x85, 0xF1, 0x83, 0x01, 0x02, 0x03]
        let wave = Array("RIFF".utf8) + number(0) + Array("WAVEfmt ".utf8) + Array(repeating: 1, count: 20)
        return [film, last, tag, flac, ogg, matroska, wave].map { [5, 1] + $0 }
    }
}
