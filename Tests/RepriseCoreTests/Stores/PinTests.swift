import Foundation
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// Pinning and listing.
@Suite struct PinTests {
    @Test func `a pin outlives the process, and unpinning ends it`() async throws {
        let stage = Stage()
        stage.put("/a", length: 100_001)
        let first = try stage.open()
        try await stage.read("/a", from: first)
        try await first.pin(stage.url("/a"))
        #expect(await first.entries().map(\.isPinned) == [true])
        await first.close()
        let second = try stage.open()
        #expect(await second.entries().map(\.isPinned) == [true])
        try await second.unpin(stage.url("/a"))
        #expect(await second.entries().map(\.isPinned) == [false])
        await second.close()
        let third = try stage.open()
        #expect(await third.entries().map(\.isPinned) == [false])
        await third.close()
    }

    @Test func `the summary that quota reads carries the pin`() async throws {
        let stage = Stage()
        stage.put("/a", length: 100_001)
        let cache = try stage.open()
        try await stage.read("/a", from: cache)
        try await cache.pin(stage.url("/a"))
        await cache.close()
        let store = try StoreOpener(location: .offline(), volume: stage.files, folders: stage.folders).open()
        let name = try #require(try store.entryNames().first)
        #expect(try store.describe(name: name)?.summary.isPinned == true)
        #expect(try store.describe(name: name)?.summary.stored == 100_001)
    }

    @Test func `a pin that comes between an entry's files and its session's knowing of them lasts`() throws {
        let world = try World()
        world.put("/a", length: 100_000)
        world.queues.setDiskDelay(read: 100 * millisecond, write: 0)
        let player = world.player("/a")
        player.play(to: 1000)
        let session = try #require(world.cache.openEntries.first)
        let isCreating = session.look { $0.isCreatingFiles }
        try #require(isCreating)
        session.handle(.pinned(true))
        player.finish()
        try world.restart()
        let store = try #require(world.cache.environment.store)
        let name = try #require(try store.entryNames().first)
        #expect(try store.describe(name: name)?.summary.isPinned == true)
    }

    @Test func `what is written later does not undo a pin`() async throws {
        let stage = Stage()
        stage.put("/a", length: 900_001) {
            $0.framing = .chunked; $0.ranges = .ignored
        }
        let cache = try stage.open()
        var reader = try cache.resource(for: stage.url("/a")).reader()
        _ = try await reader.next(limit: 1000)
        try await cache.pin(stage.url("/a"))
        // The length is learnt at the end, and the description written anew.
        while try await reader.next() != nil {}
        await cache.close()
        let again = try stage.open()
        let entry = try #require(await again.entries().first)
        #expect(entry.isPinned)
        #expect(entry.length == 900_001)
        await again.close()
    }

    @Test func `a pin of what is not stored brings the first bytes and no more`() async throws {
        let stage = Stage()
        stage.put("/a", length: 5_000_000)
        let cache = try stage.open()
        try await cache.pin(stage.url("/a"))
        #expect(await cache.entries().map(\.isPinned) == [true])
        #expect(stage.origin.bodyBytes <= 512)
        await cache.close()
    }

    @Test func `in a .caches store a pin is refused and the message names .offline`() async throws {
        let stage = Stage()
        stage.put("/a", length: 1000)
        let cache = try stage.open(.caches())
        let error = await #expect(throws: CacheError.self) { try await cache.pin(stage.url("/a")) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains(".offline") == true)
        #expect(stage.origin.requestCount == 0)
        await cache.close()
    }

    @Test func `what cannot be stored cannot be pinned, inv20`() async throws {
        let stage = Stage()
        stage.origin.put(.init(literal: Array("<html><body>sign in</body></html>".utf8)), at: "/page")
        let cache = try stage.open()
        let error = await #expect(throws: CacheError.self) { try await cache.pin(stage.url("/page")) }
        #expect(error?.code == .store)
        stage.origin.setDown(true)
        let down = await #expect(throws: CacheError.self) { try await cache.pin(stage.url("/other")) }
        #expect(down?.code == .originUnreachable)
        #expect(await cache.entries().isEmpty)
        await cache.close()
    }

    @Test func `unpinning what is not stored asks nobody`() async throws {
        let stage = Stage()
        let cache = try stage.open()
        try await cache.unpin(stage.url("/a"))
        #expect(stage.origin.requestCount == 0)
        await cache.close()
    }

    @Test func `a disk that does not take the pin says so, inv22`() async throws {
        let stage = Stage()
        stage.put("/a", length: 1000)
        let first = try stage.open()
        try await stage.read("/a", from: first)
        await first.close()
        let cache = try stage.open()
        stage.files.setRule { operation, _, _ in operation == .rename ? .error(FileError.noSpace) : nil }
        let error = await #expect(throws: CacheError.self) { try await cache.pin(stage.url("/a")) }
        #expect(error?.code == .store)
        stage.files.setRule(nil)
        #expect(await cache.entries().map(\.isPinned) == [false])
        await cache.close()
    }

    @Test func `the list tells key, size and what is stored, also while it comes`() async throws {
        let stage = Stage()
        stage.put("/a", length: 300_000)
        stage.put("/b", length: 2_000_000)
        let cache = try stage.open()
        try await stage.read("/a", from: cache)
        try await stage.read("/b", ByteRange(0, 200_000), from: cache)
        await cache.close()
        let again = try stage.open()
        let entries = await again.entries().sorted { $0.key < $1.key }
        #expect(entries.map(\.key) == ["http://origin.test/a", "http://origin.test/b"])
        #expect(entries.map(\.length) == [300_000, 2_000_000])
        #expect(entries[0].stored == 300_000)
        #expect(entries[1].stored >= 200_000 && entries[1].stored < 2_000_000)
        let resource = try #require(again.resource(for: entries[0]))
        #expect(resource.key.text == entries[0].key)
        await again.close()
        #expect(again.status == .closed)
        await #expect(throws: CacheError.self) { try await again.pin(stage.url("/a")) }
    }
}
