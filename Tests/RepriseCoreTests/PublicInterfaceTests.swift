import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// The interface an app writes, on real threads and a real directory.
@Suite struct PublicInterfaceTests {
    private let directory = TemporaryDirectory()
    private let origin = ScriptedOrigin()
    private let queues = SystemWorkQueues()
    private let content = PositionCodedContent(length: 700_001)
    private let url = URL(string: "http://origin.test/song.mp3")!

    private func open() throws -> MediaCache {
        let store = try Store(root: directory.path + "/store", volume: DiskVolume())
        return MediaCache(store: store, client: InMemoryOriginClient(origin: origin, queues: queues), queues: queues)
    }

    private func put(_ change: (inout OriginBehaviour) -> Void = { _ in }) {
        var behaviour = OriginBehaviour()
        change(&behaviour)
        origin.put(.init(content, behaviour), at: "/song.mp3")
    }

    private func readAll(_ chunks: ByteChunks, from start: Int64 = 0) async throws -> Int64 {
        var position = start
        for try await chunk in chunks {
            #expect(chunk.offset == position)
            #expect(content.firstMismatch(chunk.bytes, at: chunk.offset) == nil)
            position += Int64(chunk.bytes.count)
        }
        return position
    }

    @Test func `a reader brings every byte in order, and a second play costs the origin nothing, inv13 bug10`()
        async throws
    {
        put()
        let cache = try open()
        let resource = try cache.resource(for: url)
        var reader = resource.reader()
        var position: Int64 = 0
        while let chunk = try await reader.next(limit: 100_000) {
            #expect(chunk.offset == position)
            #expect(chunk.bytes.count <= 100_000)
            #expect(content.firstMismatch(chunk.bytes, at: position) == nil)
            position += Int64(chunk.bytes.count)
        }
        #expect(position == content.length)
        await cache.close()

        origin.setDown(true)
        let again = try open()
        #expect(try await readAll(try again.resource(for: url).bytes()) == content.length)
        #expect(try await readAll(try again.resource(for: url).bytes(in: ByteRange(999, 70_000)), from: 999) == 70_000)
        #expect(again.statistics.fromOrigin == 0)
        await again.close()
    }

    @Test func `info tells length and type without reading the object, bug25`() async throws {
        put()
        let cache = try open()
        let info = try await cache.resource(for: url).info()
        #expect(info.length == content.length)
        #expect(info.contentType == "audio/mpeg")
        #expect(info.servesRanges)
        #expect(origin.bodyBytes <= 400_000)
        await cache.close()
    }

    @Test func `20 tasks at once get every byte, and the origin sends it once, inv11 bug11`() async throws {
        put { $0.bytesPerSecond = 10_000_000 }
        let cache = try open()
        let resource = try cache.resource(for: url)
        let sums = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<20 { group.addTask { try await readAll(resource.bytes()) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums == Array(repeating: content.length, count: 20))
        #expect(origin.bodyBytes <= content.length + 4 * 32_768)
        await cache.close()
    }

    @Test func `a task that is cancelled while it waits ends at once, inv26`() async throws {
        put { $0.body = .stall(at: 100_000) }
        let cache = try open()
        let resource = try cache.resource(for: url)
        let (reached, signal) = AsyncStream<Void>.makeStream()
        let task = Task {
            var position: Int64 = 0
            for try await chunk in resource.bytes() {
                position += Int64(chunk.bytes.count)
                if position == 100_000 { signal.finish() }
            }
        }
        for await _ in reached {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await cache.close()
    }

    @Test func `closing ends whoever waits, and bounded, inv26 bug18`() async throws {
        put { $0.body = .stall(at: 100_000) }
        let cache = try open()
        let resource = try cache.resource(for: url)
        let (reached, signal) = AsyncStream<Void>.makeStream()
        let task = Task {
            var position: Int64 = 0
            for try await chunk in resource.bytes() {
                position += Int64(chunk.bytes.count)
                if position == 100_000 { signal.finish() }
            }
        }
        for await _ in reached {}
        await cache.close()
        let error = await #expect(throws: CacheError.self) { try await task.value }
        #expect(error?.code == .closed)
    }

    @Test func `a URL that is none is told, not trapped`() throws {
        let cache = try open()
        for text in ["file:///a.mp3", "song.mp3", "ftp://a.test/b"] {
            let error = #expect(throws: CacheError.self) { try cache.resource(for: URL(string: text)!) }
            #expect(error?.code == .badURL)
        }
    }

    @Test func `a second cache on the same directory is refused while the first is open, inv25 bug13`() async throws {
        let cache = try open()
        #expect(throws: StoreError.self) { try open() }
        await cache.close()
        await (try open()).close()
    }

    @Test func `an origin that is gone is an error in time, and the next try works, inv26`() async throws {
        put()
        origin.setDown(true)
        let cache = try open()
        let resource = try cache.resource(for: url)
        let error = await #expect(throws: CacheError.self) { try await resource.info() }
        #expect(error?.code == .originUnreachable)
        origin.setDown(false)
        #expect(try await readAll(resource.bytes()) == content.length)
        await cache.close()
    }
}
