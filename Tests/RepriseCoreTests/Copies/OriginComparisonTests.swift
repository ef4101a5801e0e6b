import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// What is stored, compared with what the origin sends.
@Suite struct OriginComparisonTests {
    static let length: Int64 = 300_000
    private let stage = Stage()

    /// A cache with some ranges of `bytes` stored.
    private func cache(_ bytes: [UInt8], _ ranges: [ByteRange]) async throws -> (MediaCache, MediaResource) {
        put(bytes)
        let cache = try stage.open()
        let resource = try cache.resource(for: stage.url("/a"))
        for range in ranges { try await resource.prefetch(.range(range)).value }
        return (cache, resource)
    }

    private func put(_ bytes: [UInt8], _ change: (inout OriginBehaviour) -> Void = { _ in }) {
        var behaviour = OriginBehaviour()
        change(&behaviour)
        stage.origin.put(.init(literal: bytes, behaviour), at: "/a")
    }

    private var content: [UInt8] { PositionCodedContent(length: Self.length).bytes(in: ByteRange(0, Self.length)) }

    @Test func `what differs is told to the byte, and nothing is changed`() async throws {
        let (cache, resource) = try await cache(content, [ByteRange(0, Self.length)])
        let same = try await resource.compareWithOrigin()
        #expect(same.isSame && same.compared == Self.length && !same.hasOtherValidator)
        var other = content
        for offset in [0, 70_000, 70_001, 70_010, 200_000, 299_999] { other[offset] ^= 0xFF }
        put(other)
        // The index is written a fifth of a second after what it tells.
        let paths = { stage.memory.paths.filter { !$0.hasSuffix("/index") } }
        let before = paths()
        let found = try await resource.compareWithOrigin()
        #expect(
            found.differing == [
                ByteRange(0, 1), ByteRange(70_000, 70_011), ByteRange(200_000, 200_001), ByteRange(299_999, 300_000),
            ])
        #expect(!found.isSame && found.damaged.isEmpty)
        #expect(paths() == before)
        stage.origin.setDown(true)
        #expect(try await stage.read("/a", from: cache) == Self.length, "what is stored still plays")
        await cache.close()
    }

    @Test func `only what is stored is asked for, and a whole answer or an early end does as well`() async throws {
        let (cache, resource) = try await cache(content, [ByteRange(0, 65_536), ByteRange(200_000, 262_144)])
        let stored = try #require(try await resource.storedEntry()).ranges
        let sent = stage.origin.bodyBytes
        #expect(try await resource.compareWithOrigin().isSame)
        #expect(stage.origin.bodyBytes - sent == stored.count)
        put(content) { $0.ranges = .ignored }
        let whole = try await resource.compareWithOrigin()
        #expect(whole.isSame && whole.compared == stored.count)
        put(Array(content.prefix(220_000)))
        let short = try await resource.compareWithOrigin()
        #expect(short.hasOtherLength && short.originLength == 220_000 && short.storedLength == Self.length)
        #expect(short.differing == [ByteRange(220_000, stored.upperBound)])
        put(Array(content.prefix(1000)))
        let shorter = try await resource.compareWithOrigin()
        #expect(ByteRangeSet(shorter.differing).count == stored.count - 1000)
        await cache.close()
    }

    @Test(arguments: [0, 1000, 40_000, 500_000])
    func `an answer that is wider than asked for is compared once, with what is stored of it`(wider: Int64)
        async throws
    {
        let ranges = [ByteRange(0, 65_536), ByteRange(98_304, 163_840), ByteRange(200_000, 262_144)]
        let (cache, resource) = try await cache(content, ranges)
        let stored = try #require(try await resource.storedEntry()).ranges
        var other = content
        for offset in stride(from: 0, to: Int(Self.length), by: 5000) { other[offset] ^= 0xFF }
        put(other) { $0.widensRanges = wider }
        let found = try await resource.compareWithOrigin()
        #expect(found.compared == stored.count && found.damaged.isEmpty)
        let expected = stride(from: Int64(0), to: Self.length, by: 5000).filter(stored.contains)
        #expect(found.differing == expected.map { ByteRange(offset: $0, count: 1) })
        await cache.close()
    }

    @Test func `a connection that breaks off is gone on with, an origin that refuses is an error`() async throws {
        let (cache, resource) = try await cache(content, [ByteRange(0, Self.length)])
        put(content) {
            $0.body = .reset(at: 100_000)
            $0.faultyRequests = 1
        }
        #expect(try await resource.compareWithOrigin().isSame)
        put(content) { $0.status = 404 }
        let refused = await #expect(throws: CacheError.self) { try await resource.compareWithOrigin() }
        #expect(refused?.code == .originRefused(status: 404))
        stage.origin.setDown(true)
        let down = await #expect(throws: CacheError.self) { try await resource.compareWithOrigin() }
        #expect(down?.code == .originUnreachable)
        let none = await #expect(throws: CacheError.self) {
            try await cache.resource(for: stage.url("/b")).compareWithOrigin()
        }
        #expect(none?.code == .incomplete)
        await cache.close()
    }

    @Test func `a damaged block is told as damaged, not as different`() async throws {
        let (cache, resource) = try await cache(content, [ByteRange(0, Self.length)])
        let body = try #require(stage.memory.paths.first { $0.contains("/body.") })
        try stage.memory.flip(body, at: 100_000)
        let found = try await resource.compareWithOrigin()
        #expect(found.damaged == [ByteRange(98_304, 131_072)] && found.differing.isEmpty && !found.isSame)
        let verification = try await resource.verify()
        #expect(verification.damaged == found.damaged && verification.verified == Self.length - 32_768)
        #expect(try await cache.resource(for: stage.url("/b")).verify() == MediaResource.Verification())
        await cache.close()
    }

    @Test func `what is given back meanwhile is neither damaged nor different, and no copy of it is made`() async throws
    {
        let (cache, resource) = try await cache(content, [ByteRange(0, Self.length)])
        let store = try #require(cache.environment.store)
        var copy = try #require(try store.beginExport(key: resource.key.text, to: "/copy.mp3"))
        let damaged = try #require(try store.snapshot(key: resource.key.text))
        guard case .whole(let entry) = try store.find(name: store.entryName(key: resource.key.text)) else {
            Issue.record("it is not stored")
            return
        }
        try entry.generation.discard(ByteRange(0, 131_072))
        var (stored, other) = (StoredBytes(damaged), StoredBytes(damaged))
        guard case .gone = try stored.next(in: ByteRange(0, 10)),
            case .bytes = try other.next(in: ByteRange(200_000, 200_010))
        else {
            Issue.record("what is gone is called damaged")
            return
        }
        let error = #expect(throws: StoreError.self) { while try copy.advance() {} }
        #expect(error?.code == .incomplete)
        try copy.abandon()
        await cache.close()
    }

    @Test func `the origin is asked under the URL that took another's place`() async throws {
        let (cache, resource) = try await cache(content, [ByteRange(0, Self.length)])
        await cache.close()
        var configuration = MediaCache.Configuration()
        configuration.urlRefresher = URLRefresher { _, answer in answer(.success(OriginURL("http://origin.test/b"))) }
        let opener = StoreOpener(location: .offline(), volume: stage.files, folders: stage.folders)
        let again = try MediaCache(
            opener: opener, client: stage.client, configuration: configuration, queues: stage.queues)
        stage.origin.put(.init(literal: content, OriginBehaviour()), at: "/b")
        stage.origin.change("/a") { $0.behaviour.status = 403 }
        let old = resource.request.url
        again.environment.freshURLs?.ask(RefusedURL(url: old, key: resource.key, status: 403)) { _ in }
        #expect(try await again.resource(for: stage.url("/a")).compareWithOrigin().isSame)
        await again.close()
    }

    @Test(arguments: UInt64(1)...20)
    func `every byte that differs is in a range, and ranges begin and end with one, at any cut`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ours = (0..<2000).map { _ in UInt8.random(in: 0...255, using: &random) }
        var theirs = ours
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            theirs[Int.random(in: 0..<2000, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        var comparison = OriginComparison(storedLength: 2000)
        var position = 0
        while position < 2000 {
            let end = min(2000, position + Int.random(in: 1...300, using: &random))
            comparison.take(theirs[position..<end], stored: ours[position..<end], at: Int64(position))
            position = end
        }
        let found = ByteRangeSet(comparison.differing)
        for index in 0..<2000 where ours[index] != theirs[index] { #expect(found.contains(Int64(index)), "\(seed)") }
        for range in comparison.differing {
            #expect(ours[Int(range.lowerBound)] != theirs[Int(range.lowerBound)], "\(seed)")
            #expect(ours[Int(range.upperBound) - 1] != theirs[Int(range.upperBound) - 1], "\(seed)")
        }
        for (first, second) in zip(comparison.differing, comparison.differing.dropFirst()) {
            #expect(second.lowerBound - first.upperBound > 16, "\(seed)")
        }
    }
}
