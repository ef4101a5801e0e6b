import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Giving the store away and taking it back.
@Suite struct SuspensionTests {
    static let length: Int64 = 2_000_001

    private func handle(_ cache: MediaCache, _ path: String = "/a") -> ReaderHandle {
        cache.resource(for: OriginURL("http://origin.test" + path)!).makeHandle(in: .from(0))
    }

    /// Another process's store on the same root.
    private func other(_ stage: Stage) throws -> MediaCache { try stage.open() }

    @Test func `while it is suspended another process writes the store, and readers wait, inv25 inv26`() async throws {
        let stage = Stage()
        stage.put("/a", length: Self.length)
        let cache = try stage.open()
        let resource = try cache.resource(for: stage.url("/a"))
        var reader = resource.reader()
        let first = try await reader.next(limit: 70_000)
        var position = Int64(first?.bytes.count ?? 0)
        await cache.suspend()
        #expect(cache.status == .suspended)
        #expect(cache.activity.transfers == 0, "what came is on disk, nothing more is fetched")
        let waiting = handle(cache)
        guard case .pending = waiting.step(limit: 100, wake: {}) else {
            Issue.record("a reader must wait")
            return
        }
        let second = try other(stage)
        #expect(try await stage.read("/a", ByteRange(0, 1_000_000), from: second) == 1_000_000)
        await second.close()
        let bytes = stage.origin.bodyBytes
        await cache.resume()
        #expect(cache.status == .ready)
        while let chunk = try await reader.next() {
            #expect(chunk.offset == position)
            #expect(PositionCodedContent(length: .max).firstMismatch(chunk.bytes, at: position) == nil)
            position += Int64(chunk.bytes.count)
        }
        #expect(position == Self.length)
        #expect(stage.origin.bodyBytes - bytes <= Self.length - 1_000_000 + 32_768, "what the other stored is read")
        waiting.leave()
        await cache.close()
    }

    @Test func `who came while it was away reads what is stored, and shares it with who comes later, inv11 inv21`()
        async throws
    {
        let stage = Stage()
        stage.put("/a", length: Self.length)
        let first = try stage.open()
        try await stage.read("/a", from: first)
        await first.close()
        let cache = try stage.open()
        await cache.suspend()
        let early = handle(cache)
        guard case .pending = early.step(limit: 100, wake: {}) else {
            Issue.record("a reader must wait")
            return
        }
        await cache.resume()
        let late = handle(cache)
        #expect(cache.openEntries.count == 1, "there are two entries with the same files")
        stage.origin.setDown(true)
        #expect(try await stage.read("/a", from: cache) == Self.length)
        early.leave()
        late.leave()
        await cache.close()
    }

    @Test func `what was in memory is on disk when suspending is done, inv04`() async throws {
        let stage = Stage()
        stage.put("/a", length: Self.length)
        let cache = try stage.open()
        var reader = try cache.resource(for: stage.url("/a")).reader(in: ByteRange(0, 300_000))
        while try await reader.next() != nil {}
        await cache.suspend()
        // The system ends the process now. Another one finds everything.
        let again = try stage.open()
        stage.origin.setDown(true)
        #expect(try await stage.read("/a", ByteRange(0, 300_000), from: again) == 300_000)
        await again.close()
    }

    @Test func `a store that another process keeps is not waited for: bytes come from the origin, inv22 inv25`()
        async throws
    {
        let stage = Stage()
        stage.put("/a", length: Self.length)
        let cache = try stage.open()
        var reader = try cache.resource(for: stage.url("/a")).reader()
        var position = Int64(try await reader.next()?.bytes.count ?? 0)
        await cache.suspend()
        let second = try other(stage)
        guard case .passingThrough(let reason) = await cache.resume() else {
            Issue.record("it says \(cache.status)")
            return
        }
        #expect(reason.contains("process"))
        while let chunk = try await reader.next() {
            #expect(chunk.offset == position)
            #expect(PositionCodedContent(length: .max).firstMismatch(chunk.bytes, at: position) == nil)
            position += Int64(chunk.bytes.count)
        }
        #expect(position == Self.length)
        #expect(try await stage.read("/a", ByteRange(0, 100_000), from: cache) == 100_000)
        await #expect(throws: CacheError.self) { try await cache.remove(stage.url("/a")) }
        await second.close()
        await cache.resume()
        #expect(cache.status == .ready)
        #expect(try await stage.read("/a", from: cache) == Self.length)
        stage.origin.setDown(true)
        #expect(try await stage.read("/a", from: cache) == Self.length)
        await cache.close()
    }

    /// What another process may do to an entry that is being read here.
    enum Meddling: String, CaseIterable {
        case removes, replaces, damages, deletesBody, deletesAll
    }

    @Test(arguments: Meddling.allCases)
    func `an entry that was changed meanwhile gives right bytes or none, inv01 inv05 inv26`(what: Meddling) async throws
    {
        let stage = Stage()
        stage.put("/a", length: Self.length)
        let cache = try stage.open()
        try await stage.read("/a", ByteRange(0, 1_500_000), from: cache)
        var reader = try cache.resource(for: stage.url("/a")).reader()
        var position = Int64(try await reader.next()?.bytes.count ?? 0)
        await cache.suspend()
        let second = try other(stage)
        var generation = 1
        switch what {
        case .removes: try await second.remove(stage.url("/a"))
        case .replaces:
            generation = 2
            try await second.remove(stage.url("/a"))
            stage.put("/a", length: Self.length, generation: 2)
            try await stage.read("/a", from: second, generation: 2)
        case .damages:
            let body = try #require(stage.memory.paths.first { $0.contains("/body.") })
            for offset in stride(from: Int64(10), to: 1_500_000, by: 100_000) {
                try stage.memory.flip(body, at: offset)
            }
        case .deletesBody, .deletesAll:
            for path in stage.memory.paths where path.contains(what == .deletesAll ? "/entries/" : "/body.") {
                try stage.memory.removeFile(path)
            }
        }
        await second.close()
        await cache.resume()
        let content = PositionCodedContent(length: .max)
        do {
            while let chunk = try await reader.next() {
                #expect(chunk.offset == position)
                #expect(content.firstMismatch(chunk.bytes, at: position) == nil)
                position += Int64(chunk.bytes.count)
            }
            #expect(position == Self.length)
        } catch let error as CacheError {
            #expect(what == .replaces && error.code == .changed, "\(error)")
        }
        #expect(try await stage.read("/a", from: cache, generation: generation) == Self.length)
        await cache.close()
        let again = try stage.open()
        stage.origin.setDown(true)
        #expect(try await stage.read("/a", from: again, generation: generation) == Self.length)
        await again.close()
    }

    @Test func `calls in any order do no harm, and a closed cache stays closed`() async throws {
        let stage = Stage()
        stage.put("/a", length: 1000)
        let cache = try stage.open()
        await cache.resume()
        await cache.suspend()
        await cache.suspend()
        await #expect(throws: CacheError.self) { try await cache.pin(stage.url("/a")) }
        await cache.resume()
        await cache.resume()
        #expect(try await stage.read("/a", from: cache) == 1000)
        await cache.suspend()
        await cache.close()
        #expect(cache.status == .closed)
        await cache.suspend()
        #expect(cache.status == .closed)
        #expect(await cache.resume() == .closed)
        await (try stage.open()).close()
    }

    @Test func `a cache that could not open at first opens at resume`() async throws {
        let stage = Stage()
        stage.put("/a", length: 1000)
        stage.files.setRule { _, _, _ in .error(FileError.notPermitted) }
        let opener = StoreOpener(location: .caches(), volume: stage.files, folders: stage.folders)
        let cache = MediaCache(trying: opener, client: stage.client, queues: stage.queues)
        #expect(try await stage.read("/a", from: cache) == 1000)
        #expect(await cache.resume() != .ready)
        stage.files.setRule(nil)
        await cache.resume()
        #expect(cache.status == .ready)
        #expect(try await stage.read("/a", from: cache) == 1000)
        stage.origin.setDown(true)
        #expect(try await stage.read("/a", from: cache) == 1000)
        await cache.close()
    }

    @Test(arguments: UInt64(1)...6)
    func `many readers over many suspensions get every byte once and right, inv06 inv26`(seed: UInt64) async throws {
        let stage = Stage()
        stage.put("/a", length: 400_000) { $0.bytesPerSecond = 4_000_000 }
        stage.put("/b", length: 300_000) {
            $0.ranges = .ignored; $0.bytesPerSecond = 4_000_000
        }
        let cache = try stage.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            var random = SeededGenerator(seed: seed)
            for number in 0..<12 {
                let (path, length) = number % 2 == 0 ? ("/a", Int64(400_000)) : ("/b", 300_000)
                let start = Int64.random(in: 0..<length, using: &random)
                group.addTask {
                    let count = try await stage.read(path, .from(start), from: cache)
                    #expect(count == length - start)
                }
                if number % 3 == 2 {
                    await cache.suspend()
                    let second = try stage.open()
                    await second.close()
                    await cache.resume()
                }
            }
            try await group.waitForAll()
        }
        await cache.close()
        let again = try stage.open()
        #expect(try await stage.read("/a", from: again) == 400_000)
        #expect(try await stage.read("/b", from: again) == 300_000)
        await again.close()
    }
}
