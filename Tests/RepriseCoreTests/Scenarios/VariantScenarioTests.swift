import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// `.http`: answers that vary by request fields.
@Suite struct VariantScenarioTests {
    static let length: Int64 = 300_001

    private func world(_ vary: String, maxAge: Int = 600, slow: Bool = false, hosts: [String] = []) throws -> World {
        let world = try World {
            $0.freshness = .http
            $0.hostGroups = [HostGroup(hosts)].compactMap { $0 }
        }
        world.put("/a", length: Self.length) {
            $0.extraFields = ["Cache-Control": "public, max-age=\(maxAge)", "Vary": vary]
            if slow { $0.firstByteDelay = 200 * millisecond }
        }
        return world
    }

    private func german(_ world: World) -> Player { world.player("/a", fields: ["Accept-Language": "de"]) }
    private func english(_ world: World) -> Player { world.player("/a", fields: ["Accept-Language": "en"]) }

    private static let hosts = ["origin.test", "other.test"]

    /// A television plays the whole, and another reader comes to the other host before the entry is open: fields of a caller stay
    /// with the host they were given for.
    private func playOnTelevision(_ world: World) {
        let television = world.player("/a", fields: ["X-Device": "tv"])
        television.take()
        let other = world.cache.resource(for: OriginURL("http://other.test/a")!).makeHandle(in: .from(0))
        television.finish()
        television.expectWhole(Self.length)
        other.leave()
    }

    @Test func `an answer is filed under the fields that were sent for it, RFC 9111 §4.1`() throws {
        let world = try world("X-Device", hosts: Self.hosts)
        playOnTelevision(world)
        #expect(world.origin.log.contains { $0.fields["X-Device"] == "tv" }, "it was given what others are given")
    }

    @Test func `a confirmation that was asked for without the fields of a variant confirms nothing of it, inv29`()
        throws
    {
        let world = try world("X-Device", maxAge: 60, hosts: Self.hosts)
        world.origin.change("/a") { $0.behaviour.tag = .none }
        world.play("/a", fields: ["X-Device": "tv"]).expectWhole(Self.length)
        world.queues.advance(100 * second)
        playOnTelevision(world)
        let requests = world.origin.requestCount
        world.play("/a", ByteRange(0, 1000)).expectWhole(1000)
        #expect(world.origin.requestCount > requests, "what was sent to a television is given to others")
    }

    @Test func `each variant is asked for once and kept, RFC 9111 §4.1`() throws {
        let world = try world("Accept-Language")
        german(world).finish()
        // From now on the origin has other bytes: whoever gets them was answered by it.
        world.origin.change("/a") { $0.content = PositionCodedContent(length: 200_000, generation: 2) }
        let first = english(world)
        first.play()
        #expect(first.handle.outcome?.forward == .varyMiss && first.generation == 2)
        first.leave()
        first.expectWhole(200_000)
        let requests = world.origin.requestCount
        let old = german(world)
        old.finish()
        old.expectWhole(Self.length)
        let new = english(world)
        new.finish()
        new.expectWhole(200_000)
        #expect(old.generation == 1 && new.generation == 2 && world.origin.requestCount == requests)
    }

    @Test func `variants that are asked for at once do not share an answer, RFC 9111 §4.1 and inv01`() throws {
        let world = try world("Accept-Language", slow: true)
        let players = [german(world), english(world), german(world), english(world), world.player("/a")]
        for player in players { player.take() }
        for player in players { player.finish() }
        for player in players { player.expectWhole(Self.length) }
        let languages = Set(world.origin.log.map { $0.fields["Accept-Language"] })
        #expect(languages == ["de", "en", nil])
        #expect(world.origin.bodyBytes <= 4 * Self.length, "two of a kind shared one")
    }

    @Test func `a field that is not named makes no difference, RFC 9111 §4.1`() throws {
        let world = try world("Accept-Language")
        german(world).finish()
        let requests = world.origin.requestCount
        let other = world.player("/a", fields: ["Accept-Language": "de", "User-Agent": "x"])
        other.finish()
        other.expectWhole(Self.length)
        #expect(world.origin.requestCount == requests)
    }

    @Test func `variants are found again after a restart, RFC 9111 §4.1`() throws {
        let world = try world("Accept-Language")
        german(world).finish()
        english(world).finish()
        try world.restart()
        let requests = world.origin.requestCount
        for player in [german(world), english(world)] {
            player.finish()
            player.expectWhole(Self.length)
        }
        #expect(world.origin.requestCount == requests)
    }

    @Test func `what an answer was chosen by is not written down, inv29`() throws {
        let world = try world("Authorization")
        let own = world.player("/a", fields: ["Authorization": "Bearer verysecret"])
        own.finish()
        own.expectWhole(Self.length)
        let other = world.player("/a", fields: ["Authorization": "Bearer another"])
        other.finish()
        other.expectWhole(Self.length)
        let descriptions = world.memory.paths.filter { $0.hasSuffix("/info.json") }
        #expect(descriptions.count == 2)
        for path in descriptions {
            let text = String(decoding: try world.memory.contents(path), as: UTF8.self)
            #expect(!text.contains("verysecret") && !text.contains("another"))
        }
    }

    @Test func `an unsafe method reaches variants that were stored before a restart, RFC 9111 §4.4`() throws {
        let world = try world("Accept-Language")
        german(world).finish()
        english(world).finish()
        try world.restart()
        world.queues.settle()
        try world.cache.invalidate([german(world).resource.key])
        world.queues.settle()
        for player in [german(world), english(world)] {
            player.finish()
            #expect(world.origin.log.last?.status == 304)
            world.origin.resetLog()
        }
    }

    @Test func `where nothing varies an unsafe method looks at one entry, however many there are, RFC 9111 §4.4`()
        throws
    {
        let world = try World { $0.freshness = .http }
        for number in 0..<40 {
            world.put("/\(number)", length: 1000) { $0.extraFields["Cache-Control"] = "max-age=600" }
            world.play("/\(number)").expectWhole(1000)
        }
        try world.restart()
        world.queues.settle()
        let before = world.files.count(of: .open)
        try world.cache.invalidate([world.player("/7").resource.key])
        #expect(world.files.count(of: .open) - before < 10)
        world.play("/7").expectWhole(1000)
        #expect(world.origin.log.last?.status == 304)
    }

    @Test func `unsafe methods that wait for the disk look through what is stored together`() throws {
        let world = try world("Accept-Language")
        german(world).finish()
        english(world).finish()
        world.queues.advance(120 * second)
        let (cache, url) = (world.cache, german(world).resource.request.url)
        func opens(by count: Int) -> Int {
            let before = world.files.count(of: .open)
            for _ in 0..<count {
                Task(executorPreference: world.queues) {
                    try await cache.invalidate(after: "POST", at: url, OriginResponseHead(status: 200, fields: [:]))
                }
            }
            world.queues.advance(120 * second)
            return world.files.count(of: .open) - before
        }
        let one = opens(by: 1)
        let many = opens(by: 20)
        #expect(one > 0 && many <= 2 * one, "\(one) files opened for one, \(many) for twenty")
        for player in [german(world), english(world)] {
            let requests = world.origin.requestCount
            player.finish()
            #expect(world.origin.requestCount == requests + 1 && world.origin.log.last?.status == 304)
        }
    }

    @Test func `an unsafe method reaches every variant, RFC 9111 §4.4`() throws {
        let world = try world("Accept-Language")
        german(world).finish()
        english(world).finish()
        try world.cache.invalidate([german(world).resource.key])
        world.queues.settle()
        for player in [german(world), english(world)] {
            let requests = world.origin.requestCount
            player.finish()
            player.expectWhole(Self.length)
            #expect(world.origin.requestCount == requests + 1 && world.origin.log.last?.status == 304)
        }
    }

    @Test func `a file of another variant than the stored one is given away, inv26 inv29`() async throws {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: 100_000) { $0.extraFields = ["Vary": "Authorization", "Cache-Control": "max-age=100"] }
        let other = world.player("/a", fields: ["Authorization": "1"])
        other.play(to: 50_000)
        let resource = world.cache.resource(for: OriginURL("http://origin.test/a")!)
        let queues = world.queues
        let bytes = Shared<Int64?>(nil)
        let task = Task(executorPreference: queues) {
            let lease = try await resource.fileURL(afterBytes: 1000)
            bytes.set(lease.progress.stored)
        }
        queues.advance(60 * second)
        #expect((bytes.value ?? 0) >= 1000)
        task.cancel()
        other.leave()
    }

    @Test func `what is done to a resource is done to the variant its fields choose, RFC 9111 §4.1`() async throws {
        let world = try world("Accept-Language")
        german(world).finish()
        world.origin.change("/a") { $0.content = PositionCodedContent(length: 200_000, generation: 2) }
        let player = english(world)
        player.finish()
        world.queues.advance(second)
        let resource = player.resource
        let done = Task(executorPreference: world.queues) {
            try await resource.pin()
            return try await (resource.storedEntry()?.info.length, resource.verify().verified)
        }
        world.queues.advance(10 * second)
        let (length, verified) = try await done.value
        #expect(length == 200_000 && verified == 200_000)
        let cache = world.cache
        let listed = Task(executorPreference: world.queues) { await cache.entries() }
        world.queues.advance(second)
        let entries = await listed.value
        #expect(entries.filter(\.isPinned).map(\.length) == [200_000] && entries.count == 2)
        // One that is named by its entry, or without fields, is what its key names.
        let unpinned = Task(executorPreference: world.queues) {
            for entry in entries { try await cache.resource(for: entry)?.unpin() }
            let plain = cache.resource(for: OriginURL("http://origin.test/a")!)
            return (await cache.entries().map(\.isPinned), try await plain.storedEntry()?.info.length)
        }
        world.queues.advance(10 * second)
        let (pins, first) = try await unpinned.value
        #expect(pins == [false, false] && first == Self.length)
    }
}
