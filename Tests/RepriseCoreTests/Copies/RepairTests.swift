import Foundation
import RepriseCore
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Dropping what is damaged, plain and sealed.
@Suite struct RepairTests {
    static let length: Int64 = 300_000
    private let stage = Stage()

    private func open(_ kind: BlockIntegrity) throws -> MediaCache {
        let seal = kind == .sealed ? Seal.testing : nil
        var configuration = MediaCache.Configuration()
        configuration.seal = seal
        let opener = StoreOpener(
            location: .offline(), volume: stage.files, folders: stage.folders, seal: seal)
        return try MediaCache(
            opener: opener, client: stage.client, configuration: configuration, queues: stage.queues)
    }

    private func filled(_ kind: BlockIntegrity, _ paths: [String]) async throws -> MediaCache {
        let cache = try open(kind)
        for path in paths {
            stage.put(path, length: Self.length)
            try await cache.complete(stage.url(path)).value
        }
        await cache.close()
        return try open(kind)
    }

    private func folder(_ path: String, _ cache: MediaCache) throws -> String {
        let name = try #require(cache.environment.store).entryName(key: cache.resource(for: stage.url(path)).key.text)
        return try #require(stage.memory.paths.first { $0.contains(name) }).parentDirectory
    }

    private func body(_ path: String, _ cache: MediaCache) throws -> String {
        let folder = try folder(path, cache)
        return try #require(stage.memory.paths.first { $0.hasPrefix(folder + "/body.") })
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed], [true, false])
    func `inv05 damaged blocks are dropped and fetched again, also of what is being read`(
        kind: BlockIntegrity, isOpen: Bool
    ) async throws {
        let cache = try await filled(kind, ["/a", "/b"])
        var handle: ReaderHandle?
        if isOpen {
            try await stage.read("/a", from: cache)
            handle = try cache.resource(for: stage.url("/a")).makeHandle(in: .from(0))
        }
        for offset in [40_000, 100_000, 100_001] as [Int64] { try stage.memory.flip(body("/a", cache), at: offset) }
        let sent = stage.origin.bodyBytes
        // So that the reader does not have them again before all is counted.
        stage.origin.setDown(true)
        let report = try await cache.repair()
        stage.origin.setDown(false)
        #expect(report.entries == 2 && report.removed.isEmpty && report.unavailable.isEmpty)
        #expect(report.repaired.map(\.droppedBlocks) == [2] && report.repaired.first?.key.hasSuffix("/a") == true)
        #expect(report.verifiedBytes == 2 * Self.length - 2 * 32_768)
        #expect(cache.statistics.damagedBlocks == 2)
        #expect(try await stage.read("/a", from: cache) == Self.length)
        #expect(stage.origin.bodyBytes - sent == 2 * 32_768, "what was dropped, and no more")
        #expect(try await cache.repair().isSound)
        handle?.leave()
        await cache.close()
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed], ["info.json", "blocks.1", "body.1"])
    func `an entry that cannot be read any more is absent afterwards, the others are as they were`(
        kind: BlockIntegrity, file: String
    ) async throws {
        let cache = try await filled(kind, ["/a.mp3", "/b.mp3"])
        let folder = try folder("/a.mp3", cache)
        let path = try #require(stage.memory.paths.first { $0.hasPrefix(folder + "/" + file) })
        if file == "info.json" { try stage.memory.flip(path, at: 30) } else { try stage.memory.removeFile(path) }
        let report = try await cache.repair()
        #expect(report.removed.count == 1 && report.entries == 1 && report.repaired.isEmpty)
        #expect(stage.memory.paths.allSatisfy { !$0.hasPrefix(folder) })
        stage.put("/a.mp3", length: Self.length, generation: 2)
        #expect(try await stage.read("/a.mp3", from: cache, generation: 2) == Self.length)
        stage.origin.setDown(true)
        #expect(try await stage.read("/b.mp3", from: cache) == Self.length)
        await cache.close()
    }

    @Test func `what was never finished goes, what is being made or was put there by others stays`() async throws {
        let cache = try await filled(.hashed, ["/a"])
        let store = try #require(cache.environment.store)
        let info = ImportDescription()
        let resource = try cache.resource(for: stage.url("/b"))
        _ = try store.stage(info.info(resource.request, path: "/b", identity: 9, now: 1))
        let report = try await cache.repair()
        #expect(report.removed == [store.entryName(key: resource.key.text)])
        // A session that is there may be making it.
        try await resource.remove()
        _ = try store.stage(info.info(resource.request, path: "/b", identity: 9, now: 1))
        let handle = resource.makeHandle(in: .from(0))
        #expect(try await cache.repair().removed.isEmpty)
        handle.leave()
        await cache.close()
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed], [FileError.inputOutput, FileError.accessDenied])
    func `inv30 a disk that cannot be read now costs nothing`(kind: BlockIntegrity, code: Int32) async throws {
        let cache = try await filled(kind, ["/a"])
        let before = stage.memory.paths
        stage.files.setRule { operation, path, _ in
            operation == .read && path.contains("/body.") ? .error(code) : nil
        }
        let report = try await cache.repair()
        #expect(report.unavailable.count == 1 && report.removed.isEmpty && report.repaired.isEmpty)
        stage.files.setRule(nil)
        #expect(stage.memory.paths == before)
        stage.origin.setDown(true)
        #expect(try await stage.read("/a", from: cache) == Self.length)
        await cache.close()
    }

    @Test func `a repair ends with its task, also within an entry`() async throws {
        let cache = try open(.hashed)
        stage.put("/a", length: 40_000_000)
        try await cache.complete(stage.url("/a")).value
        let (task, reads) = (Shared<Task<RepairReport, any Error>?>(nil), Shared(0))
        stage.files.setRule { operation, path, _ in
            guard operation == .read, path.contains("/body.") else { return nil }
            reads.change { $0 += 1 }
            task.value?.cancel()
            return nil
        }
        _ = try await cache.repair()
        let all = reads.value
        reads.set(0)
        task.set(Task { try await cache.repair() })
        let error = await #expect(throws: CacheError.self) { try await task.value?.value }
        #expect(error?.code == .closed)
        #expect(reads.value > 0 && reads.value < all / 2)
        stage.files.setRule(nil)
        await cache.close()
    }

    @Test func `one resource is repaired alone, and a closed cache says so`() async throws {
        let cache = try await filled(.hashed, ["/a", "/b"])
        for path in ["/a", "/b"] { try stage.memory.flip(body(path, cache), at: 1000) }
        let report = try await cache.repair(stage.url("/b"))
        #expect(report.entries == 1 && report.repaired.map(\.droppedBlocks) == [1])
        #expect(try await cache.repair(stage.url("/none")) == RepairReport())
        #expect(try await cache.resource(for: stage.url("/a")).verify().damaged == [ByteRange(0, 32_768)])
        await cache.close()
        await #expect(throws: CacheError.self) { try await cache.repair() }
    }
}
