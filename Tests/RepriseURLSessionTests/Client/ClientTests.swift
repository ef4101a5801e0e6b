import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The client beyond the contract, on real sockets.
@Suite struct ClientTests {
    private let origin = ScriptedOrigin()
    private let server: SocketOrigin
    private let content = PositionCodedContent(length: 3_000_001)

    init() throws { server = try SocketOrigin(origin) }

    private func put(_ path: String = "/a", _ change: (inout OriginBehaviour) -> Void = { _ in }) {
        var behaviour = OriginBehaviour()
        change(&behaviour)
        origin.put(.init(content, behaviour), at: path)
    }

    private func client(
        _ change: (inout URLSessionOriginClient.Configuration) -> Void = { _ in }
    ) -> URLSessionOriginClient {
        var configuration = URLSessionOriginClient.Configuration()
        configuration.partSize = 1 << 20
        change(&configuration)
        return URLSessionOriginClient(configuration: configuration)
    }

    // MARK: Parts

    @Test func `an open range comes in parts that look like one answer, inv01`() async throws {
        put()
        let exchange = try Exchange(client(), server.base + "/a", ["Range": "bytes=1000-"])
        let taken = await exchange.take()
        #expect(taken.failure == nil)
        #expect(taken.isDelimited == true)
        #expect(taken.head?.fields["Content-Range"] == "bytes 1000-3000000/3000001")
        #expect(taken.head?.fields["Content-Length"] == "2999001")
        #expect(taken.bytes.count == 2_999_001)
        #expect(content.firstMismatch(taken.bytes, at: 1000) == nil)
        #expect(
            origin.log.map { $0.fields["Range"] } == [
                "bytes=1000-1049575", "bytes=1049576-2098151", "bytes=2098152-3000000",
            ])
        let conditions = origin.log.dropFirst().map { $0.fields["If-Range"] }
        #expect(conditions.allSatisfy { $0?.hasPrefix("\"") == true })
        #expect(server.accepted == 1)
    }

    @Test func `no more than a part comes before somebody asks for it, bug14`() async throws {
        put()
        let exchange = try Exchange(client(), server.base + "/a", ["Range": "bytes=0-"])
        await exchange.take(200_000)
        #expect(await eventually { origin.bodyBytes == 1 << 20 })
        let other = try Exchange(client(), server.base + "/a", ["Range": "bytes=0-99"])
        #expect(await other.take().bytes.count == 100)
        #expect(origin.bodyBytes == 1 << 20 + 100)
        exchange.cancel()
    }

    @Test func `an object replaced between two parts ends the exchange, and no wrong byte comes, inv01 bug03`()
        async throws
    {
        put()
        let exchange = try Exchange(client(), server.base + "/a", ["Range": "bytes=0-"])
        await exchange.take(500_000)
        origin.put(.init(PositionCodedContent(length: 3_000_001, generation: 2)), at: "/a")
        let taken = await exchange.take()
        #expect(taken.failure?.kind == .interrupted)
        #expect(taken.bytes.count == 1 << 20)
        #expect(content.firstMismatch(taken.bytes, at: 0) == nil)
    }

    @Test func `an origin without ranges sends everything, and that is the answer, bug02`() async throws {
        put { $0.ranges = .ignored }
        let taken = await (try Exchange(client(), server.base + "/a", ["Range": "bytes=5-"])).take()
        #expect(taken.head?.status == 200)
        #expect(taken.bytes.count == 3_000_001)
        #expect(content.firstMismatch(taken.bytes, at: 0) == nil)
    }

    // MARK: Fields and redirects

    @Test func `another origin never sees what proves who asks`() async throws {
        let otherOrigin = ScriptedOrigin()
        let other = try SocketOrigin(otherOrigin)
        otherOrigin.put(.init(content), at: "/there")
        put("/same") { $0.redirect = "/back" }
        put("/back") { $0.redirect = other.base + "/there" }
        let fields: HTTPFields = [
            "Range": "bytes=0-9", "Authorization": "Bearer secret", "Cookie": "id=1", "X-Own": "kept",
        ]
        let taken = await (try Exchange(client(), server.base + "/same", fields)).take()
        #expect(taken.bytes == content.bytes(in: .init(0, 10)))
        for logged in origin.log {
            #expect(logged.fields["Authorization"] == "Bearer secret")
            #expect(logged.fields["Cookie"] == "id=1")
        }
        let there = try #require(otherOrigin.log.first)
        #expect(there.fields["Authorization"] == nil)
        #expect(there.fields["Cookie"] == nil)
        #expect(there.fields["X-Own"] == nil)
        #expect(there.fields["Range"] == "bytes=0-9")
    }

    @Test func `nor do the fields of the client's configuration, but for the user agent`() async throws {
        let otherOrigin = ScriptedOrigin()
        let other = try SocketOrigin(otherOrigin)
        otherOrigin.put(.init(content), at: "/there")
        put("/away") { $0.redirect = other.base + "/there" }
        let client = client { $0.fields = ["X-Api-Key": "k", "User-Agent": "app/1"] }
        _ = await (try Exchange(client, server.base + "/away", ["Range": "bytes=0-9"])).take()
        #expect(origin.log.first?.fields["X-Api-Key"] == "k")
        let there = try #require(otherOrigin.log.first)
        #expect(there.fields["X-Api-Key"] == nil && there.fields["User-Agent"] == "app/1")
    }

    @Test func `a relative redirect is resolved as RFC 3986 says`() async throws {
        put("/a/b/c") { $0.redirect = "../d?x=%2F" }
        put("/a/d")
        let taken = await (try Exchange(client(), server.base + "/a/b/c", ["Range": "bytes=0-9"])).take()
        #expect(taken.bytes.count == 10)
        #expect(origin.log.last?.target == "/a/d?x=%2F")
    }

    @Test func `the client's own fields go where the request has none of that name`() async throws {
        put()
        let client = client { $0.fields = ["User-Agent": "Mine/1", "X-Both": "client"] }
        _ = await (try Exchange(client, server.base + "/a", ["Range": "bytes=0-9", "X-Both": "caller"])).take()
        let logged = try #require(origin.log.first)
        #expect(logged.fields.values(of: "User-Agent") == ["Mine/1"])
        #expect(logged.fields.values(of: "X-Both") == ["caller"])
    }

    @Test func `cookies are neither kept nor sent unless a storage is given`() async throws {
        put { $0.extraFields = ["Set-Cookie": "session=42; Path=/"] }
        let plain = client()
        for _ in 0..<2 { _ = await (try Exchange(plain, server.base + "/a", ["Range": "bytes=0-9"])).take() }
        #expect(origin.log.allSatisfy { !$0.fields.contains("Cookie") })
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let keeping = URLSessionOriginClient(cookies: storage)
        for _ in 0..<2 { _ = await (try Exchange(keeping, server.base + "/a", ["Range": "bytes=0-9"])).take() }
        #expect(origin.log.last?.fields["Cookie"] == "session=42")
    }

    @Test func `nothing below the cache keeps an answer, bug33 mistake17`() async throws {
        put { $0.extraFields = ["Cache-Control": "max-age=3600"] }
        let client = client()
        for range in ["bytes=0-1", "bytes=0-1", "bytes=0-99"] {
            let taken = await (try Exchange(client, server.base + "/a", ["Range": range])).take()
            #expect(taken.head?.fields["Content-Range"]?.hasPrefix("bytes \(range.dropFirst(6))/") == true)
        }
        #expect(origin.requestCount == 3)
        // What a cache keeps, and for whom, differs between systems: there is to be none.
        let table = SessionTable(URLSessionOriginClient.Configuration(), cookies: nil)
        #expect(table.template.urlCache == nil)
        #expect(table.template.requestCachePolicy == .reloadIgnoringLocalCacheData)
    }

    @Test func `an origin that asks who comes there is answered by nobody, bug19`() async throws {
        put {
            $0.status = 401
            $0.extraFields = [:]
        }
        let exchange = try Exchange(client(), server.base + "/a", ["Range": "bytes=0-9"])
        let taken = await exchange.take()
        #expect(taken.head?.status == 401)
        #expect(taken.failure == nil)
    }

    // MARK: The end

    @Test func `closing ends what is under way, lets every session go, and refuses what comes later, bug24`()
        async throws
    {
        put { $0.body = .stall(at: 100_000) }
        let client = client()
        let exchange = try Exchange(client, server.base + "/a")
        #expect(await exchange.head()?.status == 200)
        #expect(client.openSessions == 1)
        client.close()
        client.close()
        #expect(client.openSessions == 0)
        let taken = await exchange.take()
        #expect(taken.failure?.kind == .interrupted)
        let late = await (try Exchange(client, server.base + "/a")).take()
        #expect(late.failure?.kind == .interrupted)
    }

    @Test func `a client that is let go of closes its connections, bug24`() async throws {
        put { $0.body = .stall(at: 100_000) }
        var kept: URLSessionOriginClient? = client()
        weak let client = kept
        let exchange = try Exchange(try #require(kept), server.base + "/a", isKeeping: false)
        #expect(await exchange.head()?.status == 200)
        kept = nil
        #expect(client == nil)
        #expect(await exchange.take().failure?.kind == .interrupted)
        #expect(await eventually { server.openConnections == 0 })
    }

    @Test func `each network rule has a session of its own, made when it is used`() async throws {
        put()
        let client = client { $0.networkRule = .unmetered }
        #expect(client.openSessions == 0)
        for rule in [NetworkRule.unmetered, .any, .unmetered, NetworkRule(allowsConstrained: false)] {
            client.networkRule = rule
            #expect(await (try Exchange(client, server.base + "/a", ["Range": "bytes=0-9"])).take().failure == nil)
        }
        #expect(client.openSessions == 3)
        #expect(client.networkRule == NetworkRule(allowsConstrained: false))
        client.close()
    }

    @Test func `every request is told of with what it took`() async throws {
        put()
        let told = Lock<[OriginMetrics]>([])
        let client = client { $0.onMetrics = { metrics in told.withLock { $0.append(metrics) } } }
        _ = await (try Exchange(client, server.base + "/a", ["Range": "bytes=0-1999999"])).take()
        #expect(await eventually { told.withLock { $0.count } == 2 })
        let metrics = told.withLock { $0 }
        #expect(metrics.map(\.bodyBytes) == [1_048_576, 951_424])
        #expect(metrics.allSatisfy { $0.url.path == "/a" })
    }

    @Test func `a thousand exchanges cancelled at every moment leave nothing behind, inv23`() async throws {
        put("/moved") { $0.redirect = "/a" }
        put()
        let client = client()
        var random = SeededGenerator(seed: 3)
        for _ in 0..<1000 {
            let path = Bool.random(using: &random) ? "/a" : "/moved"
            let exchange = try Exchange(client, server.base + path, ["Range": "bytes=0-"])
            if Bool.random(using: &random) { exchange.demand() }
            if Int.random(in: 0..<4, using: &random) == 0 { _ = await exchange.head() }
            exchange.cancel()
        }
        let taken = await (try Exchange(client, server.base + "/a", ["Range": "bytes=0-9"])).take()
        #expect(taken.bytes.count == 10)
        client.close()
        #expect(await eventually { server.openConnections == 0 })
    }
}
