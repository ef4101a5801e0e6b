import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

/// What an app says may be stored.
@Suite struct AdmissionTests {
    private static let mega: Int64 = 1 << 20

    private func entries(_ world: World) -> Int { world.memory.paths.count { $0.hasSuffix("/info.json") } }

    private func play(_ world: World, _ path: String, length: Int64) {
        world.put(path, length: length)
        world.play(path).expectWhole(length)
        world.queues.advance(40 * second)
    }

    @Test func `what is not admitted plays, is fetched once for two, and is not kept`() throws {
        let world = try World { $0.admission = Admission.upTo(Self.mega).and(.types(["audio/*"])) }
        let length = 2 * Self.mega
        world.put("/long.mp3", length: length) { $0.bytesPerSecond = 1_000_000 }
        let one = world.player("/long.mp3")
        let other = world.player("/long.mp3")
        world.drive([one, other], for: 60 * second)
        one.expectWhole(length)
        other.expectWhole(length)
        #expect(world.origin.bodyBytes == length)
        #expect(entries(world) == 0)
        play(world, "/short.mp3", length: 1000)
        #expect(entries(world) == 1)
        world.put("/film.mp4", length: 1000) { $0.contentType = "video/mp4" }
        world.play("/film.mp4").expectWhole(1000)
        world.queues.advance(40 * second)
        #expect(entries(world) == 1)
    }

    @Test(arguments: ["*/*", "a*o/*", "audio/m*", "*"]) func `a star stands for a whole subtype and nothing else`(
        type: String
    ) throws {
        let world = try World { $0.admission = .types([type]) }
        play(world, "/song.mp3", length: 1000)
        #expect(entries(world) == 0)
    }

    @Test func `the app may look at the cache before it answers, inv26`() throws {
        let asked = Shared<(world: World?, count: Int)>((nil, 0))
        let world = try World {
            $0.admission = Admission { _ in
                asked.change { $0.count += 1 }
                return asked.value.world?.cache.openEntries.map(\.report.readers.count) == [1]
            }
        }
        asked.change { $0.world = world }
        play(world, "/song.mp3", length: 100_000)
        #expect(entries(world) == 1)
        #expect(asked.value.count == 1)
        asked.change { $0.world = nil }
    }

    @Test func `what is first read by those who keep nothing is asked about when one comes who does`() throws {
        let world = try World { $0.admission = Admission { _ in false } }
        world.put("/a", length: Self.mega) { $0.bytesPerSecond = 500_000 }
        let url = try #require(OriginURL("http://origin.test/a"))
        let passing = Player(world, "/a", .from(0), resource: world.cache.resource(for: url, storing: .doNotStore))
        passing.take()
        world.queues.advance(500 * millisecond)
        let keeping = world.player("/a")
        world.drive([passing, keeping], for: 60 * second)
        passing.expectWhole(Self.mega)
        keeping.expectWhole(Self.mega)
        world.queues.advance(40 * second)
        #expect(entries(world) == 0)
        #expect(world.memory.allocatedBytes < 100_000)
    }
}
