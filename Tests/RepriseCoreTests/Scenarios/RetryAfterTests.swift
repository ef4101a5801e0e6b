import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// `Retry-After` is kept to by the host it came from, whoever asks next.
@Suite struct RetryAfterTests {
    /// 429 counts for the host, 503 for the resource.
    @Test(arguments: [429, 503], [0, 40])
    func `new readers wait as long as the host asked, bug03`(status: Int, pause: Int64) throws {
        let world = try World()
        for path in ["/a", "/b"] {
            world.put(path, length: 300_000) {
                $0.status = status; $0.retryAfter = 120
            }
        }
        for number in 0..<(pause == 0 ? 10 : 3) {
            let player = world.play(number % 2 == 0 ? "/a" : "/b")
            #expect(player.failure?.code == .originRefused(status: status))
            #expect(player.failure?.retryAfter != nil)
            world.queues.advance(second + pause * second)
        }
        #expect(world.origin.requestCount == (status == 429 ? 1 : 2))
        for path in ["/a", "/b"] { world.put(path, length: 300_000) }
        world.queues.advance(120 * second)
        world.play("/a").expectWhole(300_000)
    }

    @Test func `one user's 429 is not another's where many share the cache, inv29`() throws {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: 300_000) {
            $0.status = 429; $0.retryAfter = 3600
        }
        world.put("/b", length: 300_000) { $0.extraFields["Cache-Control"] = "max-age=60" }
        #expect(world.play("/a", fields: ["Authorization": "a"]).failure?.code == .originRefused(status: 429))
        world.play("/b").expectWhole(300_000)
        world.queues.advance(70 * second)
        #expect(world.play("/a", fields: ["Cookie": "a"]).failure?.code == .originRefused(status: 429))
        let requests = world.origin.requestCount
        world.play("/b").expectWhole(300_000)
        #expect(world.origin.requestCount > requests, "it was asked whether that is still so")
    }

    @Test func `one user's 429 is not that of who waits beside, inv29`() throws {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: 300_000) {
            $0.extraFields["Cache-Control"] = "public, max-age=60"
            $0.refusals = ["2": 429]
            $0.retryAfter = 3600
            $0.firstByteDelay = 100 * millisecond
        }
        let limited = world.player("/a", fields: ["Authorization": "2"])
        let other = world.player("/a", fields: ["Authorization": "1"])
        limited.take()
        other.take()
        other.finish()
        other.expectWhole(300_000)
        limited.finish()
        #expect(limited.failure?.code == .originRefused(status: 429))
    }

    @Test func `what is stored is read while its host asked to wait`() throws {
        let world = try World()
        world.put("/a", length: 300_000)
        world.play("/a").expectWhole(300_000)
        world.put("/b", length: 300_000) {
            $0.status = 503; $0.retryAfter = 120
        }
        _ = world.play("/b")
        world.play("/a").expectWhole(300_000)
    }
}
