import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// Keys, hosts and fields are compared by their bytes: what Unicode calls equal is not one resource.
@Suite struct ResourceKeyTests {
    static let pairs = [
        ("http://h.test/\u{212A}ing.mp4", "http://h.test/King.mp4"),
        ("http://h.test/a\u{37E}b", "http://h.test/a;b"),
        ("http://h.test/caf\u{E9}", "http://h.test/cafe\u{301}"),
        ("http://h.test/\u{2126}", "http://h.test/\u{3A9}"),
    ]

    @Test(arguments: pairs)
    func `keys whose bytes differ are two keys, inv01 bug21`(one: String, other: String) {
        #expect(one == other, "Unicode calls them equal")
        #expect(ResourceKey(one) != ResourceKey(other))
        #expect(Set([ResourceKey(one), ResourceKey(other)]).count == 2)
    }

    @Test(arguments: pairs)
    func `resources whose keys Unicode calls equal never share bytes, inv01 bug21`(one: String, other: String) throws {
        let world = try World()
        world.put("/one", length: 100_000, generation: 1)
        world.put("/other", length: 100_000, generation: 2)
        func play(_ key: String, _ path: String) -> Player {
            let resource = world.cache.resource(
                for: OriginURL("http://origin.test" + path)!, key: ResourceKey(key))
            let player = Player(world, path, .from(0), resource: resource)
            player.finish()
            return player
        }
        for _ in 0..<2 {
            #expect(play(one, "/one").generation == 1)
            #expect(play(other, "/other").generation == 2)
            try world.restart()
        }
    }
}
