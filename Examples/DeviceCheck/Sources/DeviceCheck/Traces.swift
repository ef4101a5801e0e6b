import Foundation
import Reprise

/// The request patterns seen in the field, by number.
enum Traces {
    static var all: [Check] { (readByHand + played + notHere).sorted { number($0) < number($1) } }

    private static func number(_ check: Check) -> Int { Int(check.id.drop { !$0.isNumber }) ?? 0 }

    /// Patterns of older systems, of containers or of sizes that cannot be generated as playable media: the same ranges,
    /// read by hand.
    static let readByHand: [Check] = [
        Check(id: "R3", title: "the start of iOS 12 and before") { stage in
            let media = GeneratedMedia.coded(length: 17_793_761, contentType: "video/mp4")
            let url = stage.put(media, "/r3.mp4")
            for (offset, count) in [(0, 2), (65_536, 65_536), (131_072, 65_536)] as [(Int64, Int64)] {
                try await stage.read(ByteRange(offset: offset, count: count), of: media, at: url)
            }
            try await stage.read(ByteRange(786_432, media.length), atMost: 1 << 20, of: media, at: url)
            return .pass(try stage.requireEconomy("/r3.mp4", seeks: 3))
        },
        Check(id: "R4", title: "an mp4 with small reads far apart, at once", deadline: 120) { stage in
            let media = GeneratedMedia.coded(length: 61_574_237, contentType: "video/mp4")
            let url = stage.put(media, "/r4.mp4")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for start in [30_129_037, 30_146_560, 32_112_640] as [Int64] {
                    group.addTask {
                        try await stage.read(ByteRange(start, media.length), atMost: 1 << 18, of: media, at: url)
                    }
                }
                group.addTask {
                    for (offset, count) in smallReads {
                        try await stage.read(ByteRange(offset: offset, count: count), of: media, at: url)
                    }
                }
                try await group.waitForAll()
            }
            return .pass(try stage.requireEconomy("/r4.mp4", seeks: Int64(smallReads.count) + 3))
        },
        Check(id: "R5", title: "3 GB with the index at the end") { stage in
            let media = GeneratedMedia.coded(length: 3_008_417_572, contentType: "audio/mp4")
            let url = stage.put(media, "/r5.m4b")
            try await stage.read(ByteRange(0, media.length), atMost: 8_293, of: media, at: url)
            try await stage.read(ByteRange(3_003_580_416, media.length), atMost: 65_536, of: media, at: url)
            try await stage.read(ByteRange(1_500_000_000, media.length), atMost: 65_536, of: media, at: url)
            return .pass(try stage.requireEconomy("/r5.m4b", seeks: 3))
        },
        Check(id: "R6", title: "the index at the end of something small") { stage in
            let media = GeneratedMedia.coded(length: 10_000, contentType: "video/mp4")
            let url = stage.put(media, "/r6.mp4")
            for (start, end) in [(0, 2), (9_900, 10_000), (2, 10_000)] as [(Int64, Int64)] {
                try await stage.read(ByteRange(start, end), of: media, at: url)
            }
            return .pass(try stage.requireEconomy("/r6.mp4", seeks: 1))
        },
        Check(id: "R7", title: "a second request while the first is open") { stage in
            let media = GeneratedMedia.coded(length: 918_765, contentType: "video/mp4")
            let url = stage.put(media, "/r7.mp4")
            async let head: Void = stage.read(ByteRange(0, 65_536), of: media, at: url)
            async let later: Void = stage.read(ByteRange(109_976, 808_789), of: media, at: url)
            _ = try await (head, later)
            return .pass(try stage.requireEconomy("/r7.mp4", seeks: 1))
        },
        Check(id: "R8", title: "an mp3 sought close to its end") { stage in
            let media = GeneratedMedia.coded(length: 38_075_437, contentType: "audio/mpeg")
            let url = stage.put(media, "/r8.mp3")
            for start in [28_704_768, 32_178_176, 38_074_245] as [Int64] {
                try await stage.read(ByteRange(start, media.length), atMost: 65_536, of: media, at: url)
            }
            return .pass(try stage.requireEconomy("/r8.mp3", seeks: 3))
        },
        Check(id: "R9", title: "the same range again and again") { stage in
            let media = GeneratedMedia.coded(length: 2_879_868_271, contentType: "audio/mp4")
            let url = stage.put(media, "/r9.m4b")
            let range = ByteRange(offset: 1_638_400, count: 262_144)
            try await stage.read(range, of: media, at: url)
            let first = stage.origin.account("/r9.m4b").requests
            for _ in 0..<50 { try await stage.read(range, of: media, at: url) }
            let requests = stage.origin.account("/r9.m4b").requests
            try require(requests == first, "\(requests - first) requests for what was stored")
            return .pass("50 repeats, no request")
        },
    ]

    /// As logged while an mp4 with interleaved tracks played.
    private static let smallReads: [(Int64, Int64)] = [
        (4_849_664, 65_536), (7_798_784, 720_896), (8_650_752, 65_536), (8_847_360, 65_536), (8_978_432, 65_536),
        (9_109_504, 65_536), (9_240_576, 131_072), (9_437_184, 65_536), (9_633_792, 65_536), (9_764_864, 196_608),
        (10_027_008, 65_536), (10_289_152, 65_536), (10_551_296, 65_536), (10_813_440, 131_072), (11_075_584, 65_536),
        (11_206_656, 65_536), (11_403_264, 65_536), (11_665_408, 65_536),
    ]

    /// What cannot be had here, and why.
    static let notHere: [Check] = [
        Check(id: "R16", title: "renewal of content information") { _ in
            .notRun("we set no renewal date, so AVFoundation has none to come back to")
        },
        Check(id: "R18", title: "a probe answered by URLCache") { _ in
            .notRun("the origin is inside the app; our URLSession client has no URLCache")
        },
    ]
}
