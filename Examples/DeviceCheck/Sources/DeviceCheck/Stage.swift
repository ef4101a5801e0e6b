import AVFoundation
import Foundation
import Reprise

/// An empty cache, an origin inside the app, and ways to read and to play.
final class Stage: Sendable {
    let origin: GeneratedOrigin
    let cache: MediaCache
    private let folder: URL

    init(rate: Int = 4 << 20) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("device-check-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        origin = GeneratedOrigin(rate: rate)
        cache = try MediaCache(directory: folder.path, client: origin)
    }

    func close() async throws {
        await cache.close()
        try FileManager.default.removeItem(at: folder)
    }

    /// Puts `media` on the origin; its URL.
    func put(_ media: GeneratedMedia, _ path: String) -> URL {
        origin.put(media, at: path)
        return URL(string: "https://check.invalid" + path) ?? folder
    }

    /// Reads `range`, at most `count` bytes of it, by hand, and compares each byte.
    func read(_ range: ByteRange, atMost count: Int64 = .max, of media: GeneratedMedia, at url: URL) async throws {
        let end = min(range.upperBound, media.length)
        var reader = try cache.resource(for: url).reader(in: ByteRange(range.lowerBound, end))
        var position = range.lowerBound
        while position < end, position - range.lowerBound < count, let chunk = try await reader.next() {
            try require(chunk.offset == position, "asked for \(position), got \(chunk.offset)")
            let expected = media.make(ByteRange(offset: position, count: Int64(chunk.bytes.count)))
            try require(chunk.bytes.elementsEqual(expected), "wrong bytes within 256 KiB after \(position)")
            position += Int64(chunk.bytes.count)
        }
        let wanted = min(end - range.lowerBound, count)
        try require(position - range.lowerBound >= wanted, "ended at \(position), \(wanted) bytes were asked for")
    }

    /// What the origin may have sent for `path`: nothing twice but a block a seek.
    func requireEconomy(_ path: String, seeks: Int64 = 0) throws -> String {
        let account = origin.account(path)
        let allowed = (seeks + 1) * 32_768
        try require(account.repeated <= allowed, "\(account.repeated) bytes were sent twice, \(allowed) are allowed")
        return "\(account.requests) requests, \(account.sent) bytes"
    }
}
