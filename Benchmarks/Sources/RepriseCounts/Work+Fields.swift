import RepriseHTTP
import ReprisePlatform
import RepriseRanges

extension Work {
    /// Floor 1: what every request and every answer is read for, and the hash of a block.
    static var fields: [Work] {
        [
            Work("Range, closed", count: 2_000) { _ in RangeSpecifier.parse("bytes=1048576-1114111")?.count ?? 0 },
            Work("Range, open", count: 2_000) { _ in RangeSpecifier.parse("bytes=1048576-")?.count ?? 0 },
            Work("Range, four parts", count: 1_000) { _ in
                RangeSpecifier.parse("bytes=0-99, 200-299,400-499 , -100")?.count ?? 0
            },
            Work("Content-Range", count: 2_000) { _ in
                if case .satisfied(let range, _) = ContentRange.parse("bytes 1048576-1114111/1073741824") {
                    return Int(range.count)
                }
                return 0
            },
            Work("an answer's validators", count: 1_000) { _ in
                let fields: HTTPFields = [
                    "Content-Type": "video/mp4", "Content-Length": "65536", "ETag": "\"5e1f-6a\"",
                    "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                ]
                return Validator(fields: fields).ifRange?.utf8.count ?? 0
            },
            Work("XXH64 of 32 KiB", count: 100, from: [UInt8](repeating: 7, count: 32 * 1024)) { bytes in
                { turn in Int(truncatingIfNeeded: XXH64.hash(bytes, seed: UInt64(turn))) }
            },
        ]
    }
}
