import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// Answers that are not what was asked for.
@Suite struct AnswerTests {
    static let length: Int64 = 800_001

    @Test(arguments: [OriginBehaviour.ContentRangeFault.absent, .wrongStart, .wrongEnd, .garbage])
    func `nothing of an answer with a wrong Content-Range is used or stored, inv19 bug01`(
        fault: OriginBehaviour.ContentRangeFault
    ) throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.contentRange = fault
            $0.faultyRequests = 3
        }
        world.play("/a").expectWhole(Self.length)
        try world.restart()
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
    }

    @Test(arguments: [OriginBehaviour.ContentRangeFault.absent, .wrongStart, .wrongEnd, .garbage])
    func `an origin that never gets Content-Range right ends in an error in time, inv19 inv26`(
        fault: OriginBehaviour.ContentRangeFault
    ) throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.contentRange = fault }
        let before = world.queues.time
        let player = world.play("/a")
        #expect(player.failure?.code == .originInvalid)
        #expect(player.received == 0)
        #expect(world.queues.time - before < 5 * second)
        #expect(world.origin.requestCount < 10)
    }

    @Test func `a total that is never told is never guessed, inv09`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.contentRange = .unknownTotal }
        let player = world.player("/a")
        player.play(to: 10)
        guard case .success(let info?) = player.handle.info(wake: {}) else { return #expect(Bool(false), "no info") }
        #expect(info.length == nil)
        player.finish()
        player.expectWhole(Self.length)
        world.play("/a", ByteRange(5, 500)).expectWhole(500, from: 5)
    }

    @Test func `a total that changes between two answers is another representation, inv16 bug25`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.contentRange = .changingTotal(from: 2) }
        let player = world.play("/a")
        #expect(player.violation == nil)
        #expect(player.isAtEnd || player.failure?.code == .changed)
    }

    @Test func `a body that is encoded though identity was asked for is never stored, inv20`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.gzipsAnyway = true }
        let player = world.play("/a")
        #expect(player.failure?.code == .originInvalid)
        #expect(player.received == 0)
        #expect(world.origin.log.allSatisfy { $0.fields["Accept-Encoding"] == "identity" })
        world.origin.change("/a") { $0.behaviour.gzipsAnyway = false }
        world.play("/a").expectWhole(Self.length)
    }

    @Test(arguments: [OriginBehaviour.Framing.length, .chunked], [true, false])
    func `a login page in place of a stored file replaces nothing, inv20 inv28`(
        framing: OriginBehaviour.Framing, hasValidators: Bool
    ) throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            if !hasValidators { $0.dropValidators() }
        }
        world.play("/a", ByteRange(0, 300_000)).expectWhole(300_000)
        world.origin.change("/a") { ($0.behaviour.loginPage, $0.behaviour.framing) = (true, framing) }
        let player = world.play("/a")
        #expect(player.violation == nil)
        #expect(player.position >= 300_000)
        #expect(player.failure != nil)
        if framing == .length { try world.restart() }
        world.origin.change("/a") { $0.behaviour.loginPage = false }
        let bytes = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes - bytes <= Self.length - 300_000 + world.blockSize)
    }

    @Test func `a login page where nothing is stored is not kept, inv20 bug04`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.loginPage = true }
        let player = world.player("/a")
        player.play(patience: 30 * second)
        // Passed on as what it is, or an error; never a spinner, never media tomorrow.
        #expect(player.isAtEnd || player.failure != nil || player.received > 0)
        player.leave()
        try world.restart()
        world.origin.change("/a") { $0.behaviour.loginPage = false }
        world.play("/a").expectWhole(Self.length)
    }

    @Test(arguments: [403, 404, 410, 401])
    func `what is stored stays and plays after a refusal, inv18 bug03 bug32`(status: Int) throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.play("/a", ByteRange(0, 300_000)).expectWhole(300_000)
        world.origin.change("/a") { $0.behaviour.status = status }
        let player = world.play("/a")
        #expect(player.violation == nil)
        #expect(player.position >= 300_000)
        #expect(player.failure?.code == .originRefused(status: status))
        try world.restart()
        world.play("/a", ByteRange(0, 300_000)).expectWhole(300_000)
        world.origin.change("/a") { $0.behaviour.status = nil }
        let bytes = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes - bytes <= Self.length - 300_000 + world.blockSize)
    }

    @Test(arguments: [403, 404])
    func `a refusal is told at once and nothing of its page is stored, bug01 bug04`(status: Int) throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.status = status }
        let before = world.queues.time
        let player = world.play("/a")
        #expect(player.failure?.code == .originRefused(status: status))
        #expect(world.queues.time - before < second)
        #expect(!world.memory.paths.contains { $0.contains("/body.") })
    }

    @Test(arguments: [500, 502, 503, 504, 429])
    func `one transient error is waited out and costs nothing, inv18 bug03`(status: Int) throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.status = status
            $0.faultyRequests = 2
        }
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes <= Self.length + 200)
    }

    @Test func `the time an origin asks for is kept to, and past patience told, bug03`() throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.status = 503
            $0.retryAfter = 1
            $0.faultyRequests = 1
        }
        let before = world.queues.time
        world.play("/a").expectWhole(Self.length)
        #expect(world.queues.time - before >= second)
        #expect(world.origin.requestCount >= 2)
        world.put("/b", length: Self.length) {
            $0.status = 503
            $0.retryAfter = 120
        }
        let player = world.play("/b")
        #expect(player.failure?.code == .originRefused(status: 503))
        #expect(player.failure?.retryAfter == 120)
    }

    @Test(arguments: [Int.max, 9_999_999_999_999])
    func `a Retry-After past all reckoning does not trap`(seconds: Int) throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.status = 503
            $0.retryAfter = seconds
        }
        #expect(world.play("/a").failure?.code == .originRefused(status: 503))
    }

    @Test func `a redirect is followed and the key stays that of the first URL`() throws {
        let world = try World()
        world.put("/a", length: 1) { $0.redirect = "/b" }
        world.put("/b", length: Self.length)
        #expect(world.play("/a").received == Self.length)
        let requests = world.origin.requestCount
        #expect(world.play("/a").received == Self.length)
        #expect(world.origin.requestCount == requests)
    }

    @Test func `every continuation carries its condition, inv16`() throws {
        let world = try World()
        world.put("/a", length: 9_000_000)
        world.play("/a").expectWhole(9_000_000)
        world.play("/a", ByteRange(0, 10)).expectWhole(10)
        let log = world.origin.log
        #expect(log.count >= 3)
        #expect(log.dropFirst().allSatisfy { $0.fields["If-Range"] == "\"g1-9000000\"" })
        #expect(log.allSatisfy { $0.fields["Range"] != nil && $0.fields["Icy-MetaData"] == nil })
    }

    @Test func `a small object and one of one byte play at every range, bug05 bug07 bug08`() throws {
        for length in [1, 2, 6, 7, 8, 13, 14, 15] as [Int64] {
            let world = try World(blockSize: 7, pieceSize: 3)
            world.put("/a", length: length)
            for start in 0..<length {
                for end in (start + 1)...(length + 2) {
                    let clipped = min(end, length)
                    world.play("/a", ByteRange(start, end)).expectWhole(clipped, from: start)
                }
            }
            #expect(world.play("/a", .from(length)).received == 0)
        }
    }
}
