import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// Download, then play.
@Suite struct FileLeaseTests {
    static let length: Int64 = 2_000_001
    private let directory = TemporaryDirectory()
    private let stage = Stage()

    private func open() throws -> MediaCache {
        try MediaCache(at: .directory(directory.path + "/store"), client: stage.client)
    }

    private func leases() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.path + "/store/leases")) ?? []
    }

    private func expect(_ lease: FileLease, has count: Int, generation: Int = 1) throws {
        let bytes = Array(try Data(contentsOf: lease.url))
        #expect(bytes.count >= count)
        let content = PositionCodedContent(length: .max, generation: generation)
        #expect(content.firstMismatch(bytes.prefix(count), at: 0) == nil)
    }

    @Test func `the whole resource is a playable file at its path, and what was stored is not fetched again`()
        async throws
    {
        stage.put("/song.mp3", length: Self.length)
        let cache = try open()
        try await stage.read("/song.mp3", ByteRange(0, 500_000), from: cache)
        let lease = try await cache.resource(for: stage.url("/song.mp3")).fileURL()
        #expect(lease.url.pathExtension == "mp3")
        #expect(lease.progress.isComplete && lease.progress.fraction == 1)
        try expect(lease, has: Int(Self.length))
        #expect(try Data(contentsOf: lease.url).count == Int(Self.length))
        #expect(stage.origin.bodyBytes == Self.length)
        #expect(cache.statistics.served == 500_000, "fetching ahead serves nobody")
        await cache.close()
    }

    @Test func `a file is given once its first bytes are there, and the rest comes while it is held`() async throws {
        stage.put("/song.mp3", length: Self.length) { $0.body = .stall(at: 1_000_000) }
        let cache = try open()
        let lease = try await cache.resource(for: stage.url("/song.mp3")).fileURL(afterBytes: 300_000)
        #expect(lease.progress.stored >= 300_000)
        #expect(lease.progress.expected == Self.length)
        #expect(!lease.progress.isComplete)
        try expect(lease, has: 300_000)
        #expect(try Data(contentsOf: lease.url).count == Int(Self.length), "it has its length from the start")
        stage.put("/song.mp3", length: Self.length)
        try await lease.waitUntilComplete()
        try expect(lease, has: Int(Self.length))
        await cache.close()
        let again = try open()
        stage.origin.setDown(true)
        #expect(try await stage.read("/song.mp3", from: again) == Self.length)
        await again.close()
    }

    @Test func `letting go ends the fetch and the path, not the entry, inv14`() async throws {
        stage.put("/song.mp3", length: 50_000_000) { $0.bytesPerSecond = 5_000_000 }
        let cache = try open()
        do {
            let lease = try await cache.resource(for: stage.url("/song.mp3")).fileURL(afterBytes: 100_000)
            #expect(leases().count == 1)
            withExtendedLifetime(lease) {}
        }
        _ = await eventually { leases().isEmpty && cache.activity == (0, 0) }
        #expect(leases().isEmpty)
        #expect(stage.origin.bodyBytes < 5_000_000)
        #expect(await cache.entries().count == 1)
        await cache.close()
    }

    @Test func `a file whose resource changes before it is complete says so, and one that is complete stays so, inv01`()
        async throws
    {
        stage.put("/song.mp3", length: Self.length) { $0.body = .stall(at: 1_000_000) }
        let cache = try open()
        let song = try cache.resource(for: stage.url("/song.mp3"))
        let lease = try await song.fileURL(afterBytes: 0)
        stage.put("/song.mp3", length: Self.length, generation: 2)
        let error = await #expect(throws: CacheError.self) { try await lease.waitUntilComplete() }
        #expect(error?.code == .changed)
        let newer = try await song.fileURL(afterBytes: 100)
        try await newer.waitUntilComplete()
        try expect(newer, has: Int(Self.length), generation: 2)
        try await cache.remove(stage.url("/song.mp3"))
        await cache.close()
        #expect(newer.progress.isComplete)
        try await newer.waitUntilComplete()
    }

    @Test func `a file is complete only where what was fetched is what it has, inv01`() async throws {
        let cache = try open()
        var fetches: [RangeFetch] = []
        for path in ["/song.mp3", "/other.mp3"] {
            stage.put(path, length: 1000)
            let fetch = RangeFetch(try cache.resource(for: stage.url(path)), .from(0))
            try await fetch.run()
            fetches.append(fetch)
        }
        let other = try await fetches[1].kept(atLeast: .max).generation
        let lease = FileLease(
            path: directory.path, fetch: fetches[0], generation: other, task: Task {}, hold: nil,
            environment: cache.environment
        ) { () throws(StoreError) in }
        let error = await #expect(throws: CacheError.self) { try await lease.waitUntilComplete() }
        #expect(error?.code == .changed)
        for fetch in fetches { fetch.leave() }
        await cache.close()
    }

    @Test func `the path stays good when the entry is removed or replaced, and is swept at the next open, inv17 inv27`()
        async throws
    {
        stage.put("/song.mp3", length: Self.length)
        let cache = try open()
        let lease = try await cache.resource(for: stage.url("/song.mp3")).fileURL()
        try await cache.remove(stage.url("/song.mp3"))
        try expect(lease, has: Int(Self.length))
        stage.put("/song.mp3", length: Self.length, generation: 2)
        let newer = try await cache.resource(for: stage.url("/song.mp3")).fileURL()
        try expect(newer, has: Int(Self.length), generation: 2)
        try expect(lease, has: Int(Self.length))
        // Processes that end without letting go leave names behind; a lease that is held keeps its own.
        let live = Set(leases())
        #expect(live.count == 2)
        for name in ["2147483646-dead.mp3", "\(ProcessInfo.processInfo.processIdentifier)-dead.mp3", "unknown.mp3"] {
            try Data().write(to: URL(fileURLWithPath: directory.path + "/store/leases/" + name))
        }
        await cache.close()
        let again = try open()
        #expect(Set(leases()) == live)
        try expect(lease, has: Int(Self.length))
        await again.close()
        withExtendedLifetime((lease, newer)) {}
    }

    private func box(_ type: String, _ size: Int) -> [UInt8] {
        let head = [UInt8(size >> 24 & 255), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
        return head + Array(type.utf8) + [UInt8](repeating: 9, count: size - 8)
    }

    private func put(_ film: [UInt8], stallsAt offset: Int64? = nil) {
        var behaviour = OriginBehaviour()
        if let offset { behaviour.body = .stall(at: offset) }
        stage.origin.put(.init(literal: film, behaviour), at: "/film.mp4")
    }

    @Test func `a film whose index comes last is refused until it is complete`() async throws {
        let film = box("ftyp", 32) + box("mdat", 800_000) + box("moov", 5000)
        put(film, stallsAt: 500_000)
        let cache = try open()
        let resource = try cache.resource(for: stage.url("/film.mp4"))
        let error = await #expect(throws: CacheError.self) { try await resource.fileURL(afterBytes: 100_000) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("fileURL()") == true)
        put(film)
        let whole = try await resource.fileURL()
        #expect(Array(try Data(contentsOf: whole.url)) == film)
        let early = try await resource.fileURL(afterBytes: 100_000)
        #expect(early.progress.isComplete, "what is complete is not refused")
        await cache.close()
    }

    @Test func `a film whose index comes first waits for the index`() async throws {
        let film = box("ftyp", 32) + box("moov", 400_000) + box("mdat", 3_000_000)
        put(film, stallsAt: 500_000)
        let cache = try open()
        let lease = try await cache.resource(for: stage.url("/film.mp4")).fileURL(afterBytes: 1000)
        #expect(lease.progress.stored >= 400_032)
        #expect(!lease.progress.isComplete)
        await cache.close()
    }

    @Test func `without a store, a kept body or an origin there is no file, and it says why, inv20 inv22`() async throws
    {
        stage.origin.put(.init(literal: Array("<html><body>sign in</body></html>".utf8)), at: "/page")
        let bare = MediaCache(store: nil, client: stage.client, queues: stage.queues)
        let none = await #expect(throws: CacheError.self) { try await bare.resource(for: stage.url("/page")).fileURL() }
        #expect(none?.code == .store)
        let cache = try open()
        let page = await #expect(throws: CacheError.self) {
            try await cache.resource(for: stage.url("/page")).fileURL()
        }
        #expect(page?.code == .store)
        stage.origin.setDown(true)
        let down = await #expect(throws: CacheError.self) {
            try await cache.resource(for: stage.url("/a")).fileURL(afterBytes: 10)
        }
        #expect(down?.code == .originUnreachable)
        #expect(leases().isEmpty)
        await cache.close()
    }

    @Test func `waiting for a file ends with the task, inv26`() async throws {
        stage.put("/song.mp3", length: Self.length) { $0.body = .stall(at: 100_000) }
        let cache = try open()
        let resource = try cache.resource(for: stage.url("/song.mp3"))
        let task = Task { try await resource.fileURL() }
        _ = await eventually { cache.statistics.stored >= 90_000 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await cache.close()
    }

    @Test(arguments: [BlockIntegrity.sealed, .hashed])
    func `a sealed store gives no files away`(kind: BlockIntegrity) {
        let ready = FileReadiness(asked: 10, head: Array("ID3abcdefghijklmnop".utf8), length: 1000, integrity: kind)
        if kind == .hashed {
            #expect(ready == .give(bytes: 10))
        } else if case .never(let reason) = ready {
            #expect(reason.contains("encrypted"))
        } else {
            Issue.record("\(ready)")
        }
    }

    @Test func `the first bytes are looked at until they tell, and a small whole file is given`() {
        func ready(_ head: [UInt8], _ length: Int64? = 9000) -> FileReadiness {
            FileReadiness(asked: 100, head: head, length: length, integrity: .hashed)
        }
        #expect(ready([]) == .look(bytes: 16))
        #expect(ready(box("ftyp", 32)) == .look(bytes: 48))
        #expect(ready(box("ftyp", 32) + box("moov", 16)) == .give(bytes: 100))
        #expect(ready([1, 2, 3], 3) == .give(bytes: 3))
        #expect(ready([1, 2, 3], nil) == .look(bytes: 16))
        guard case .refuse = ready(box("ftyp", 32) + box("free", 2 << 20), nil) else {
            Issue.record("an index far away counts as last")
            return
        }
    }
}
