import RepriseCore
import RepriseRanges
import RepriseTesting
import Testing

/// What a player needs of a file to begin. Real files are looked at in the end-to-end tests.
@Suite struct ContainerHeadTests {
    /// Follows the steps over a file; answers what was looked at and what is to be kept.
    private func follow(
        _ file: [UInt8], seconds: Double = 5, knowsLength: Bool = true, location: SourceLocation = #_sourceLocation
    ) -> (looks: [ByteRange], kept: [ByteRange]) {
        let head = ContainerHead(seconds: seconds)
        var known = KnownBytes(length: knowsLength ? Int64(file.count) : nil)
        var looks: [ByteRange] = []
        while looks.count < ContainerHead.mostLooks {
            switch head.step(known) {
            case .keep(let ranges):
                #expect(ByteRangeSet(ranges).ranges.elementsEqual(ranges), sourceLocation: location)
                #expect(ranges.allSatisfy { $0.lowerBound >= 0 && !$0.isEmpty }, sourceLocation: location)
                return (looks, ranges)
            case .look(let range):
                #expect(!known.covers(range) && !range.isEmpty, "\(range) is known", sourceLocation: location)
                looks.append(range)
                let end = Int(min(range.upperBound, Int64(file.count)))
                let start = min(Int(clamping: range.lowerBound), end)
                known.add(Array(file[start..<end]), at: range.lowerBound)
                if range.upperBound > Int64(file.count) { known.length = Int64(file.count) }
            }
        }
        return (looks, [])
    }

    @Test func `after so many looks what is known has to do`() {
        var known = KnownBytes()
        // A film whose index is somewhere behind boxes that nobody needs.
        let boxes = (0..<10).flatMap { _ in number(16, 4) + Array("free".utf8) + number(0, 8) }
        let film = box("ftyp", []) + boxes + number(1 << 30, 4) + Array("free".utf8)
        known.add(film + Array(repeating: 0, count: Int(1 << 16) - film.count), at: 0)
        while known.looks < ContainerHead.mostLooks - 1 { known.add([0], at: Int64(known.looks) << 20) }
        guard case .look(let range) = ContainerHead().step(known) else {
            Issue.record("nothing is looked at")
            return
        }
        known.add([], at: range.lowerBound)
        guard case .keep = ContainerHead().step(known) else {
            Issue.record("\(known.looks) looks, and no end")
            return
        }
    }

    private static let slack = ContainerHead.slack

    private func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ((count - 1 - $0) * 8)) }
    }

    private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        number(content.count + 8, 4) + Array(type.utf8) + content
    }

    /// A file of one track: `count` samples of a tenth of a second and 100,000 bytes, ten to a chunk.
    private func mp4(isIndexLast: Bool, count: Int = 200) -> [UInt8] {
        let type = box("ftyp", Array("isomiso2mp41".utf8))
        func index(_ media: Int) -> [UInt8] {
            let table = [
                box("stts", number(0, 4) + number(1, 4) + number(count, 4) + number(100, 4)),
                box("stsc", number(0, 4) + number(1, 4) + number(1, 4) + number(10, 4) + number(1, 4)),
                box("stsz", number(0, 4) + number(100_000, 4) + number(count, 4)),
                box(
                    "stco",
                    number(0, 4) + number(count / 10, 4)
                        + (0..<(count / 10)).flatMap { number(media + $0 * 1_000_000, 4) }),
            ].flatMap { $0 }
            let times = number(0, 12) + number(1000, 4) + number(count * 100, 4)
            return box(
                "moov",
                box("mvhd", times) + box("trak", box("mdia", box("mdhd", times) + box("minf", box("stbl", table)))))
        }
        let media = box("mdat", [UInt8](repeating: 7, count: count * 100_000))
        let first = type.count + (isIndexLast ? 0 : index(0).count) + 8
        return isIndexLast ? type + media + index(first) : type + index(first) + media
    }

    @Test func `an mp4's first seconds are told by its tables, and its index is found at the end`() {
        let first = mp4(isIndexLast: false)
        let last = mp4(isIndexLast: true)
        for seconds in [1.0, 5, 7.25] {
            let samples = Int64((seconds * 10).rounded(.up)) * 100_000
            let found = follow(first, seconds: seconds)
            #expect(found.looks == [ByteRange(0, 65_536)])
            let media = Int64(first.count - 20_000_000)
            #expect(found.kept == [ByteRange(0, media + samples + Self.slack)])
            let other = follow(last, seconds: seconds)
            let place = Int64(20_000_028)
            #expect(other.looks == [ByteRange(0, 65_536), ByteRange(place, Int64(last.count))])
            #expect(other.kept == [ByteRange(0, 28 + samples + Self.slack), ByteRange(place, Int64(last.count))])
        }
        #expect(follow(first, seconds: .infinity).kept == [ByteRange(0, Int64(first.count))])
        #expect(follow(last, seconds: 0).kept.count == 2)
    }

    @Test func `an mp3's rate is its frame's or its header's, and the tag before it is kept`() {
        let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0x64]  // 128 kbit/s, 44.1 kHz, stereo
        let media = frame + [UInt8](repeating: 0, count: 4_000_000)
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0x40, 0, 0]  // 1 MiB of picture
        let end = Int64(10 + (1 << 20))
        let tail = Int64(160)
        let plain = follow(media)
        #expect(plain.kept == [ByteRange(0, 100_000 + Self.slack), ByteRange(4_000_004 - tail, 4_000_004)])
        let tagged = follow(tag + [UInt8](repeating: 1, count: 1 << 20) + media)
        #expect(tagged.looks == [ByteRange(0, 65_536), ByteRange(end, end + 4096)])
        #expect(tagged.kept.first == ByteRange(0, end + 100_000 + Self.slack))
        var varying = frame + [UInt8](repeating: 0, count: 32) + Array("Xing".utf8) + number(3, 4)
        varying += number(44_100, 4) + number(1152 * 1000, 4)  // 1000 bytes a second
        #expect(follow(varying + media).kept.first == ByteRange(0, 6250 + Self.slack))
    }

    @Test func `a flac's blocks are walked, and its length tells the rate`() {
        let samples = 44_100 * 100
        let packed = 44_100 << 44 | 1 << 41 | 15 << 36 | samples
        let info = [UInt8](repeating: 0, count: 10) + number(packed, 8) + [UInt8](repeating: 0, count: 16)
        let file =
            Array("fLaC".utf8) + [0] + number(34, 3) + info + [6] + number(300_000, 3)
            + [UInt8](repeating: 9, count: 300_000) + [0x81] + number(0, 3) + [UInt8](repeating: 5, count: 5_000_000)
        let found = follow(file)
        let start = Int64(4 + 38 + 300_004)
        #expect(found.looks == [ByteRange(0, 65_536), ByteRange(start, start + 4)])
        let rate = Double(file.count) / 100
        #expect(found.kept == [ByteRange(0, start + 4 + Int64(5 * rate * 1.25) + Self.slack)])
        #expect(follow(Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 1, 0] + file).kept[0].count > found.kept[0].count)
    }

    @Test func `an ogg's last page tells how long it is`() {
        let packet: [UInt8] = Array("OpusHead".utf8) + [1, 2]
        let first = Array("OggS".utf8) + [UInt8](repeating: 0, count: 22) + [1, 10] + packet
        let position: [UInt8] = number(48_000 * 50, 8).reversed()
        let last = Array("OggS".utf8) + [0, 4] + position + [UInt8](repeating: 0, count: 13)
        let file = first + [UInt8](repeating: 3, count: 2_000_000) + last
        let found = follow(file)
        let tail = ByteRange(Int64(file.count) - 65_307, Int64(file.count))
        #expect(found.looks == [ByteRange(0, 65_536), tail])
        let rate = Double(file.count) / 50
        #expect(found.kept == [ByteRange(0, Int64(5 * rate * 1.25) + Self.slack), tail])
        #expect(!follow(file, knowsLength: false).kept.isEmpty)
    }

    @Test func `a webm's cues are found by its seek head, and tell where the first seconds end`() {
        func element(_ kind: [UInt8], _ content: [UInt8]) -> [UInt8] {
            kind + [0x08] + number(content.count, 4) + content
        }
        func unsigned(_ kind: [UInt8], _ value: Int) -> [UInt8] { element(kind, number(value, 8)) }
        let cluster = element([0x1F, 0x43, 0xB6, 0x75], [UInt8](repeating: 2, count: 1_000_000 - 9))
        let cues = element(
            [0x1C, 0x53, 0xBB, 0x6B],
            (0..<10).flatMap { index in
                element(
                    [0xBB],
                    unsigned([0xB3], index * 2000) + element([0xB7], unsigned([0xF1], 1000 + index * 1_000_000)))
            })
        let seek = element(
            [0x11, 0x4D, 0x9B, 0x74],
            element(
                [0x4D, 0xBB], element([0x53, 0xAB], [0x1C, 0x53, 0xBB, 0x6B]) + unsigned([0x53, 0xAC], 10_001_000)))
        let void = element([0xEC], [UInt8](repeating: 0, count: 1000 - seek.count - 6))
        let content = seek + void + (0..<10).flatMap { _ in cluster } + cues
        #expect(seek.count + void.count == 1000)
        let file = element([0x1A, 0x45, 0xDF, 0xA3], [1, 2, 3]) + element([0x18, 0x53, 0x80, 0x67], content)
        let base = Int64(file.count - content.count)
        let found = follow(file)
        #expect(found.looks.count == 2)
        let end = Int64(file.count)
        #expect(
            found.kept == [
                ByteRange(0, base + 1000 + 3_000_000 + Self.slack), ByteRange(end - Int64(cues.count), end),
            ])
    }

    @Test func `a file of nothing but large indexes is not read to its end`() {
        let largest = Int(ContainerHead.largestLook) - 64
        func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] { id + [0x01] + number(content.count, 7) + content }
        var content: [UInt8] = []
        for _ in 0..<4 { content += element([0x11, 0x4D, 0x9B, 0x74], [UInt8](repeating: 0, count: largest)) }
        let file = element([0x1A, 0x45, 0xDF, 0xA3], [1, 2, 3]) + element([0x18, 0x53, 0x80, 0x67], content)
        let found = follow(file)
        #expect(found.looks.reduce(0) { $0 + $1.count } <= ContainerHead.mostLookedAt)
        #expect(found.kept == [ByteRange(0, 400_000 + Self.slack)])
    }

    @Test func `what is no container it knows gives its first bytes`() {
        let file = [UInt8](repeating: 0x41, count: 3_000_000)
        #expect(follow(file).kept == [ByteRange(0, 400_000 + Self.slack)])
        #expect(follow([]).kept.isEmpty)
        #expect(follow([1]).kept == [ByteRange(0, 1)])
        let wave: [UInt8] = Array("RIFF----WAVEfmt ".utf8) + [UInt8](repeating: 0, count: 12) + [0x10, 0xB1, 2, 0]
        #expect(follow(wave + file).kept == [ByteRange(0, 1_102_500 + Self.slack)])
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `broken files end in something to keep, inv07`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let starts: [[UInt8]] = [
            Array("ID3".utf8), Array("fLaC".utf8), Array("OggS".utf8), [0x1A, 0x45, 0xDF, 0xA3], [0xFF, 0xFB, 0x90],
            number(16, 4) + Array("ftyp".utf8), Array(mp4(isIndexLast: false, count: 10).prefix(100_000)),
            Array(mp4(isIndexLast: true, count: 10).suffix(1000)),
        ]
        let tail = (0..<200_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        for start in starts {
            var file = start + tail
            for _ in 0..<20 {
                file[Int.random(in: 4..<600, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            for knowsLength in [true, false] {
                let found = follow(file, seconds: .random(in: 0...1e9, using: &random), knowsLength: knowsLength)
                #expect(found.looks.count <= ContainerHead.mostLooks)
            }
        }
    }
}
