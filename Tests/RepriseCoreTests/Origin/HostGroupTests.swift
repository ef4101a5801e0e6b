import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

/// Several hosts that serve the same.
@Suite struct HostGroupTests {
    private static let length: Int64 = 1_000_000
    private let other = ScriptedOrigin()

    private func makeWorld() throws -> World {
        let other = other
        return try World(configure: { $0.hostGroups = [HostGroup(["origin.test", "other.test:8080"])!] }) {
            HostsClient(["origin.test": $1, "other.test": InMemoryOriginClient(origin: other, queues: $0)])
        }
    }

    private func put(
        _ world: World, generation: Int = 1, _ change: (inout OriginBehaviour) -> Void = { _ in }
    ) {
        world.put("/a", length: Self.length)
        var behaviour = OriginBehaviour()
        change(&behaviour)
        other.put(.init(PositionCodedContent(length: Self.length, generation: generation), behaviour), at: "/a")
    }

    private func url(_ text: String) -> OriginURL { OriginURL(text)! }

    @Test func `the hosts of a group have one key, other hosts and ports their own, bug21`() throws {
        let group = try #require(HostGroup(["a.test", "B.test:8443", "[::1]:80"]))
        let groups = [group]
        func canonical(_ text: String) -> String { groups.canonical(url(text)).description }
        #expect(canonical("https://b.test:8443/x?y=%2F#z") == "https://a.test/x?y=%2F")
        #expect(canonical("https://A.test:443/x") == "https://a.test/x")
        #expect(canonical("http://[::1]/x") == "http://a.test/x")
        #expect(canonical("https://me@b.test:8443/x") == "https://me@a.test/x")
        for text in ["https://b.test/x", "https://a.test:8443/x", "https://c.test/x", "https://[::1]/x"] {
            #expect(canonical(text) == text)
        }
        #expect(group.url(url("https://a.test/x"), at: 1).description == "https://b.test:8443/x")
        #expect(group.url(url("https://b.test:8443/x"), at: 0).description == "https://a.test/x")
        var configuration = MediaCache.Configuration()
        configuration.hostGroups = groups
        #expect(
            configuration.key(for: url("https://b.test:8443/x?id=1"))
                == configuration.key(for: url("https://a.test/x?id=1")))
        #expect(
            configuration.key(for: url("https://b.test:8443/x?id=1"))
                != configuration.key(for: url("https://a.test/x?id=2")))
    }

    @Test(arguments: [
        [], ["a"], ["a", "a"], ["a", "b/c"], ["a", "b/"], ["a", ""], ["a", "u@b"], ["a", "b:x"], ["a", "b c"],
    ])
    func `what is no group is none`(hosts: [String]) { #expect(HostGroup(hosts) == nil) }

    @Test func `what one host brought plays from the store under the other's URL`() throws {
        let world = try makeWorld()
        put(world)
        world.play("/a").expectWhole(Self.length)
        let resource = world.cache.resource(for: url("http://other.test:8080/a"))
        #expect(resource.key == world.player("/a").resource.key)
        #expect(other.requestCount == 0)
    }

    @Test func `where the named host fails the next one is asked, and the other way round`() throws {
        let world = try makeWorld()
        put(world)
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
        #expect(other.bodyBytes == Self.length)
        #expect(other.log.first?.fields["Host"] == nil)
        world.origin.setDown(false)
        world.put("/b", length: 1000)
        let handle = world.cache.resource(for: url("http://other.test:8080/b")).makeHandle(in: .from(0))
        other.setDown(true)
        world.queues.advance(second)
        _ = handle.info {}
        world.queues.advance(5 * second)
        #expect(world.origin.log.map(\.path) == ["/b"])
        handle.leave()
    }

    /// Hosts of different makers have different tags and dates for the same bytes.
    @Test(arguments: [OriginBehaviour.Tag.weak, .none, .perRequest], [true, false])
    func `tags and dates of another host prove nothing: length and an overlap of bytes do, inv01`(
        tag: OriginBehaviour.Tag, hasDate: Bool
    ) throws {
        let world = try makeWorld()
        put(world) {
            $0.tag = tag
            $0.hasLastModified = hasDate
            if hasDate { $0.extraFields["Last-Modified"] = "Thu, 01 Jan 1970 00:00:07 GMT" }
        }
        let player = world.player("/a")
        player.play(to: 200_000)
        world.origin.setDown(true)
        player.finish()
        player.expectWhole(Self.length)
        #expect(player.generation == 1)
        // Whatever had come is not asked for again, but for the overlaps.
        let waste = world.origin.bodyBytes + other.bodyBytes - Self.length
        #expect(waste <= 10 * 4096 + world.blockSize, "\(waste) bytes came twice")
        #expect(world.play("/a").failure == nil)
    }

    @Test func `other bytes of the same length at another host are never mixed in, inv01`() throws {
        let world = try makeWorld()
        put(world, generation: 2) { $0.tag = .none }
        let player = world.player("/a")
        player.play(to: 200_000)
        world.origin.setDown(true)
        player.finish()
        #expect(player.violation == nil)
        #expect(player.failure?.code == .changed)
    }
}
