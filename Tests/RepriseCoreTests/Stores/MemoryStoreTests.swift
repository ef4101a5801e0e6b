import Foundation
import RepriseCore
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// A cache on a volume that is not the system's.
struct MemoryStoreTests {
    private let stage = Stage()

    private func open(_ capacity: Int64, _ change: (inout MediaCache.Configuration) -> Void = { _ in }) throws
        -> MediaCache
    {
        var configuration = MediaCache.Configuration()
        // What a busy machine does not finish in time is no disk that hangs, and no store that stays full.
        configuration.tuning.diskTimeout = 3600 * TransferTuning.second
        configuration.tuning.spaceTimeout = 3600 * TransferTuning.second
        change(&configuration)
        return try MediaCache(
            on: MemoryVolume(capacity: capacity), client: stage.client, configuration: configuration,
            queues: stage.queues)
    }

    @Test func `plays, keeps, and plays again without the origin, inv01`() async throws {
        stage.put("/a.mp3", length: 700_000)
        let cache = try open(64 << 20)
        for _ in 0..<2 { #expect(try await stage.read("/a.mp3", from: cache) == 700_000) }
        #expect(try await stage.read("/a.mp3", ByteRange(300_001, 400_000), from: cache) == 99_999)
        #expect(stage.origin.bodyBytes == 700_000)
        let entries = await cache.entries()
        #expect(entries.map(\.stored) == [700_000])
        await cache.close()
    }

    private static let free = StoreLimits(freeSpace: 1 << 40)

    @Test(arguments: [StoreLimits.none, .device, .server, free])
    func `stores no more than its volume has, whatever the limits say, and evicts the oldest`(limits: StoreLimits)
        async throws
    {
        for number in 0..<30 { stage.put("/\(number).mp3", length: 300_000) }
        let cache = try open(2 << 20) { $0.limits = limits }
        // Less by the pages of the store's own files once the volume was asked what it has left.
        #expect((1_966_080 - 65_536...1_966_080).contains(cache.environment.quota.capacity))
        for number in 0..<30 {
            // Of two uses within a second none is known to be the older one.
            stage.queues.pass(seconds: 1)
            #expect(try await stage.read("/\(number).mp3", from: cache) == 300_000)
            // Its last bytes may wait for space.
            #expect(await eventually { cache.environment.unwritten.count == 0 })
            if number == 20 { try cache.setLimits(.none) }
        }
        await cache.collectGarbage()
        let stored = await cache.entries()
        let sum = stored.reduce(0) { $0 + $1.stored }
        #expect((600_000...1_966_080).contains(sum), "\(stored.map(\.stored))")
        #expect(stored.contains { $0.url.hasSuffix("/29.mp3") } && !stored.contains { $0.url.hasSuffix("/0.mp3") })
        #expect(stage.origin.bodyBytes == 30 * 300_000)
        try cache.setLimits(StoreLimits(bytes: 1 << 20))
        #expect(cache.environment.quota.capacity == 1 << 20)
        await cache.close()
    }

    @Test func `a volume with paths wants one for the store`() throws {
        let error = #expect(throws: CacheError.self) { try MediaCache(on: DiskVolume(), client: stage.client) }
        #expect(error?.code == .unsupported)
    }

    @Test func `is encrypted with a key, and its volume sees ciphertext alone`() async throws {
        stage.put("/a.mp3", length: 300_000)
        let volume = MemoryVolume(capacity: 8 << 20)
        var configuration = MediaCache.Configuration()
        configuration.seal = Seal(try #require(SealKey([UInt8](repeating: 7, count: 32))))
        let cache = try MediaCache(on: volume, at: "/sealed", client: stage.client, configuration: configuration)
        for _ in 0..<2 { #expect(try await stage.read("/a.mp3", from: cache) == 300_000) }
        #expect(stage.origin.bodyBytes == 300_000)
        await cache.close()
        let content = PositionCodedContent(length: 300_000).bytes(in: ByteRange(0, 64))
        var folders = ["/sealed"]
        var files = 0
        while let folder = folders.popLast() {
            for name in try volume.list(folder) {
                let path = folder + "/" + name
                if (try? volume.list(path)) != nil {
                    folders.append(path)
                    continue
                }
                files += 1
                let bytes = try volume.readAll(path, limit: 1 << 20)
                #expect(!String(decoding: bytes, as: UTF8.self).contains("a.mp3"))
                #expect(!bytes.starts(with: content))
            }
        }
        #expect(files > 3)
        // What one cache left, another finds.
        let again = try MediaCache(on: volume, at: "/sealed", client: stage.client, configuration: configuration)
        #expect(try await stage.read("/a.mp3", from: again) == 300_000)
        #expect(stage.origin.bodyBytes == 300_000)
        await again.close()
    }

    @Test func `two caches on one volume are refused, and a suspended one comes back to what it had`() async throws {
        stage.put("/a.mp3", length: 300_000)
        let volume = MemoryVolume(capacity: 8 << 20)
        let cache = try MediaCache(on: volume, client: stage.client)
        let error = #expect(throws: CacheError.self) { try MediaCache(on: volume, client: stage.client) }
        #expect(error?.code == .store)
        #expect(try await stage.read("/a.mp3", from: cache) == 300_000)
        await cache.suspend()
        #expect(await cache.resume() == .ready)
        #expect(try await stage.read("/a.mp3", from: cache) == 300_000)
        #expect(stage.origin.bodyBytes == 300_000)
        await cache.close()
    }

    @Test func `has no files, but copies to and from the disk`() async throws {
        stage.put("/a.mp3", length: 300_000)
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let folder = URL(fileURLWithPath: directory.path)
        let cache = try open(8 << 20)
        let resource = try cache.resource(for: stage.url("/a.mp3"))
        do {
            _ = try await resource.fileURL()
            Issue.record("a file in memory has a URL")
        } catch let error as CacheError {
            #expect(error.code == .unsupported && error.message.contains("files have no paths"))
        }
        let content = PositionCodedContent(length: 300_000)
        let lease = try await resource.fileURL(decryptedIn: folder)
        #expect(content.firstMismatch(try Data(contentsOf: lease.url), at: 0) == nil)
        let copy = try await resource.export(to: folder.appendingPathComponent("copy.mp3"))
        #expect(try Data(contentsOf: copy).count == 300_000)
        let other = try cache.resource(for: stage.url("/b.mp3"))
        try await other.importFile(copy)
        #expect(try await other.verify().verified == 300_000)
        #expect(try await stage.read("/b.mp3", from: cache) == 300_000)
        #expect(stage.origin.bodyBytes == 300_000)
        withExtendedLifetime(lease) {}
        await cache.close()
    }
}
