import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// Several users of one shared cache: an answer reaches the users it may reach, and a refusal only the user it refuses.
@Suite struct UserTests {
    /// A shared cache whose origin has one object without credentials and one each for the users A and B.
    private func twoUsers(
        control: String = "max-age=60", _ change: (inout OriginBehaviour) -> Void = { _ in }
    ) throws -> World {
        let world = try World {
            $0.freshness = .http
        } through: { _, client in
            PerUserClient(client)
        }
        for (path, generation) in [("/x", 3), ("/x-A", 1), ("/x-B", 2)] {
            world.put(path, length: 200_000, generation: generation) { behaviour in
                behaviour.firstByteDelay = 100 * millisecond
                behaviour.extraFields = ["Cache-Control": control]
                if path == "/x-A" { change(&behaviour) }
            }
        }
        return world
    }

    private func player(_ world: World, _ user: String, _ range: ByteRange = .from(0)) -> Player {
        let player = world.player("/x", range, fields: ["Authorization": user])
        player.take()
        world.queues.advance(20 * millisecond)
        return player
    }

    @Test func `a private answer whose user left before it came reaches no other user, inv29`() throws {
        let world = try twoUsers()
        let a = player(world, "A")
        let b = player(world, "B")
        a.leave()
        b.finish()
        b.expectWhole(200_000)
        #expect(b.generation == 2)
    }

    @Test(arguments: [403, 410]) func `where no fresh URL can be had, one user's refusal is not another's, inv29`(
        status: Int
    ) throws {
        let world = try World {
            $0.freshness = .http
            $0.urlRefresher = URLRefresher { _, answer in answer(.success(nil)) }
        } through: { _, client in
            PerUserClient(client)
        }
        for (path, generation) in [("/x", 3), ("/x-A", 1), ("/x-B", 2)] {
            world.put(path, length: 200_000, generation: generation) { behaviour in
                behaviour.firstByteDelay = 100 * millisecond
                behaviour.extraFields = ["Cache-Control": "private"]
                if path == "/x-A" { behaviour.status = status }
            }
        }
        let (a, b) = (player(world, "A"), player(world, "B"))
        b.finish()
        b.expectWhole(200_000)
        a.finish()
        #expect(a.failure?.code == .originRefused(status: status))
    }

    @Test(arguments: [true, false]) func `what one user is refused ahead of what it plays is nothing to others, inv29`(
        hasRefresher: Bool
    ) throws {
        let world = try World {
            $0.freshness = .http
            if hasRefresher { $0.urlRefresher = URLRefresher { _, answer in answer(.success(nil)) } }
        }
        let length: Int64 = 3_000_000
        world.put("/x", length: length) { $0.extraFields = ["Cache-Control": "public, max-age=600"] }
        let a = world.player("/x", fields: ["Authorization": "A"])
        a.play(to: 200_000)
        world.origin.change("/x") { resource in
            resource.behaviour.refusals = ["A": 403]
            resource.behaviour.firstByteDelay = 100 * millisecond
        }
        a.play(to: 210_000, patience: 10 * millisecond)
        for _ in 0..<100 where world.origin.log.count < 2 { world.queues.advance(10 * millisecond) }
        #expect(world.origin.log.count == 2, "it is refused in a moment")
        world.origin.change("/x") { $0.behaviour.firstByteDelay = 2500 * millisecond }
        let b = world.player("/x", .from(1_000_000), fields: ["Authorization": "B"])
        b.take()
        world.queues.advance(100 * millisecond)
        b.finish()
        b.expectWhole(length, from: 1_000_000)
        #expect(a.failure == nil)
        a.finish()
        #expect(a.failure == nil || a.failure?.code == .originRefused(status: 403))
    }

    @Test func `a redirect that is not followed is its reader's, with its place`() throws {
        let world = try World {
            $0.freshness = .http
            $0.followsRedirects = false
        }
        world.put("/me", length: 1000) { $0.redirect = "/of/alice" }
        world.put("/of/alice", length: 1000)
        let events = Recorder<CacheEvent>()
        let subscription = world.cache.onEvent { events.add($0) }
        let player = world.play("/me", fields: ["Cookie": "user=bob"])
        withExtendedLifetime(subscription) {}
        #expect(!events.all.contains { if case .originError = $0 { true } else { false } })
        #expect(player.failure?.code == .originRefused(status: 302) && player.failure?.location == "/of/alice")
        #expect(player.received == 0 && world.origin.log.map(\.target) == ["/me"])
    }

    @Test func `users of a redirect do not wait for each other`() throws {
        let world = try World {
            $0.freshness = .http
            $0.followsRedirects = false
        }
        world.put("/latest", length: 1000) {
            $0.redirect = "/film"
            $0.firstByteDelay = 300 * millisecond
        }
        let players = (0..<4).map { world.player("/latest", fields: ["Cookie": "user=\($0)"]) }
        for player in players { player.take() }
        // The first is told, and then all others at once.
        world.drive(players, for: 700 * millisecond)
        #expect(players.allSatisfy { $0.failure?.location == "/film" })
        #expect(world.origin.requestCount == 4)
    }

    @Test func `a private answer reaches the user who asked, not the one who reads from an earlier byte, inv29`() throws
    {
        let world = try twoUsers()
        let a = player(world, "A", .from(1000))
        let b = player(world, "B")
        b.finish()
        a.finish()
        b.expectWhole(200_000)
        a.expectWhole(200_000, from: 1000)
        #expect(a.generation == 1)
        #expect(b.generation == 2)
    }

    @Test func `what is no media goes on like media for one user, inv29`() throws {
        func isPlaylist(_ behaviour: inout OriginBehaviour) {
            behaviour.contentType = "application/vnd.apple.mpegurl"
            behaviour.dropValidators()
        }
        let world = try twoUsers(isPlaylist)
        world.put("/x-B", length: 600_000, generation: 2) {
            $0.firstByteDelay = 100 * millisecond
            isPlaylist(&$0)
        }
        let a = player(world, "A")
        let b = player(world, "B")
        a.finish()
        b.finish()
        b.expectWhole(600_000)
        #expect(b.generation == 2)
    }

    @Test(arguments: [401, 403, 404])
    func `a refusal ends the wait of the user it was for, and of no other, inv29`(status: Int) throws {
        let world = try twoUsers { $0.status = status }
        let a = player(world, "A")
        let b = player(world, "B")
        b.finish()
        a.finish()
        #expect(a.failure?.code == .originRefused(status: status))
        b.expectWhole(200_000)
        #expect(b.generation == 2)
    }

    @Test(arguments: [401, 403, 404])
    func `a refusal to one user who confirms ends no other user's wait, inv29`(status: Int) throws {
        let world = try World {
            $0.freshness = .http
        } through: { _, client in
            PerUserClient(client)
        }
        for path in ["/x", "/x-A", "/x-B"] {
            world.put(path, length: 200_000) { behaviour in
                behaviour.firstByteDelay = 100 * millisecond
                behaviour.extraFields = ["Cache-Control": "public, max-age=10"]
            }
        }
        world.play("/x", fields: ["Authorization": "B"]).expectWhole(200_000)
        world.queues.advance(20 * second)
        world.origin.change("/x-A") { $0.behaviour.status = status }
        let a = player(world, "A")
        let b = player(world, "B")
        b.finish()
        a.finish()
        #expect(a.failure?.code == .originRefused(status: status))
        b.expectWhole(200_000)
    }

    @Test(arguments: [FreshnessPolicy.http, .immutable])
    func `a paused player whose credentials ran out keeps nobody from what it is ahead of`(
        policy: FreshnessPolicy
    ) throws {
        let world = try World { $0.freshness = policy }
        world.put("/x", length: 2_000_000) { $0.extraFields = ["Cache-Control": "public, max-age=600"] }
        world.play("/x", ByteRange(0, 300_000)).expectWhole(300_000)
        let a = world.player("/x", .from(200_000), fields: ["Authorization": "A"])
        a.take(1000)
        world.origin.change("/x") { $0.behaviour.refusals = ["A": 401] }
        let b = world.player("/x", .from(310_000))
        b.finish()
        b.expectWhole(2_000_000, from: 310_000)
        a.leave()
    }

    @Test func `in an app's cache a request that one caller's credentials refuse goes on with another's`() throws {
        let world = try World { _ in
        } through: { _, client in
            PerUserClient(client)
        }
        for path in ["/x", "/x-A", "/x-B"] {
            world.put(path, length: 200_000) { $0.firstByteDelay = 100 * millisecond }
        }
        world.origin.change("/x-A") { $0.behaviour.status = 401 }
        let b = player(world, "B")
        let a = player(world, "A")
        b.finish()
        a.finish()
        b.expectWhole(200_000)
    }

    @Test func `an answer that must be validated before each use is given to its asker only, the others validate`()
        throws
    {
        let world = try World { $0.freshness = .http }
        world.put("/x", length: 20_000) { behaviour in
            behaviour.firstByteDelay = 100 * millisecond
            behaviour.extraFields = ["Cache-Control": "no-cache"]
        }
        let a = world.player("/x")
        a.take()
        world.queues.advance(30 * millisecond)
        let b = world.player("/x")
        b.take()
        a.finish()
        b.finish()
        a.expectWhole(20_000)
        b.expectWhole(20_000)
        #expect(world.origin.log.filter { $0.fields.contains("If-None-Match") }.count == 1)
    }

    @Test func `credentials stay with the host they were given for when the URL is refreshed`() throws {
        let requests = Recorder<OriginRequest>()
        let world = try World { configuration in
            configuration.urlRefresher = URLRefresher(asking: { _, answer in
                answer(.success(OriginURL("http://cdn.other.test/b")!))
            })
        } through: { _, client in
            RecordingClient(client, requests)
        }
        world.put("/a", length: 300_000) { $0.status = 403 }
        world.put("/b", length: 300_000)
        let player = world.player(
            "/a",
            fields: [
                "Authorization": "Bearer secret", "Cookie": "session=1", "X-Api-Key": "secret", "User-Agent": "player",
            ])
        player.finish()
        let elsewhere = requests.all.filter { $0.url.host == "cdn.other.test" }
        #expect(!elsewhere.isEmpty)
        for request in elsewhere {
            #expect(!request.fields.lines.contains { $0.value.contains("secret") || $0.name == "Cookie" })
            #expect(request.fields["User-Agent"] == "player")
        }
        #expect(player.received == 300_000)
    }
}
