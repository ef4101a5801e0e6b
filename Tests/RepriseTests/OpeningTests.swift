import Foundation
import Reprise
import RepriseTesting
import Testing

/// Compiled with one import of ours beside the tests' own: what is used here is what the umbrella shows.
struct OpeningTests {
    @Test func `a cache opens at a location without a word about its origin client, inv25`() async throws {
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let cache = try MediaCache(at: .directory(directory.path))
        #expect(cache.status == .ready)
        let error = #expect(throws: CacheError.self) { try MediaCache(at: .directory(directory.path)) }
        #expect(error?.code == .store)
        await cache.close()
        #expect(cache.status == .closed)
        let again = try MediaCache(at: .directory(directory.path))
        #expect(again.status == .ready)
        await again.close()
    }

    @Test func `one import is enough to name and read a resource`() throws {
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        var configuration = MediaCache.Configuration()
        configuration.freshness = .immutable
        configuration.keys = KeyPolicy { url in ResourceKey(url.origin + url.path) }
        let cache = try MediaCache(at: .directory(directory.path), configuration: configuration)
        let url = try #require(URL(string: "https://media.invalid/song.mp3?token=1"))
        let resource: MediaResource = try cache.resource(for: url)
        #expect(resource.key == ResourceKey("https://media.invalid/song.mp3"))
        #expect(resource.storedRanges() == ByteRangeSet())
        let reader: CacheReader = resource.reader(in: ByteRange(0, 1))
        _ = consume reader
    }
}
