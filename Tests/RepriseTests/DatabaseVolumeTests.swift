import Foundation
import Reprise
import ReprisePlatform
import RepriseTesting
import Testing

struct DatabaseVolumeTests {
    // snippet: volume-contract
    @Test(arguments: StoreVolumeContract.Rule.allCases)
    func `my volume keeps the contract`(rule: StoreVolumeContract.Rule) throws {
        try StoreVolumeContract { (DatabaseVolume(InMemoryDatabase()), "/contract") }.check(rule)
    }
    // end

    private let origin = ScriptedOrigin()

    private func client() -> InMemoryOriginClient { InMemoryOriginClient(origin: origin, queues: SystemWorkQueues()) }

    private func play(_ cache: MediaCache) async throws {
        let url = try #require(URL(string: "http://origin.test/a.mp3"))
        let content = PositionCodedContent(length: 400_000)
        var count: Int64 = 0
        for try await chunk in try cache.resource(for: url).bytes() {
            #expect(content.firstMismatch(chunk.bytes, at: chunk.offset) == nil)
            count += Int64(chunk.bytes.count)
        }
        #expect(count == 400_000)
    }

    @Test func `what a database keeps is played after a restart without the origin`() async throws {
        origin.put(.init(PositionCodedContent(length: 400_000)), at: "/a.mp3")
        let database = InMemoryDatabase()
        for _ in 0..<2 {
            let cache = try MediaCache(on: DatabaseVolume(database), client: client())
            try await play(cache)
            await cache.close()
        }
        #expect(origin.bodyBytes == 400_000)
    }

    @Test func `a database that loses bytes costs a fetch, and no wrong byte`() async throws {
        origin.put(.init(PositionCodedContent(length: 400_000)), at: "/a.mp3")
        let database = InMemoryDatabase()
        let cache = try MediaCache(on: DatabaseVolume(database), client: client())
        try await play(cache)
        await cache.close()
        for key in database.keys(withPrefix: "page/") {
            guard let value = database.value(for: key), value.count == 16_384 else { continue }
            database.set(Data(value.reversed()), for: key)
        }
        let again = try MediaCache(on: DatabaseVolume(database), client: client())
        try await play(again)
        #expect(origin.bodyBytes > 400_000)
        await again.close()
    }

    @Test func `a cache opens on a volume by one line`() async throws {
        do {
            // snippet: memory-volume
            let cache = try MediaCache(on: MemoryVolume(capacity: 200_000_000))
            // end
            #expect(cache.status == .ready)
            await cache.close()
        }
        let database = InMemoryDatabase()
        // snippet: own-volume
        let cache = try MediaCache(on: DatabaseVolume(database))
        // end
        #expect(cache.status == .ready)
        await cache.close()
        #expect(!database.keys(withPrefix: "file/").isEmpty)
    }
}
