#if Server
    import Foundation
    import NIOCore
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// The listener for administrators, over real sockets.
    @Suite struct AdminServerTests {
        private static let secret = "s3cret"

        private struct Desk {
            let fixture: ProxyFixture
            let server: AdminServer
            let port: Int

            func ask(_ method: String, _ target: String, secret: String? = AdminServerTests.secret) async throws
                -> RawAnswer
            {
                let client = try await RawClient.connect(port: port)
                let fields = secret.map { [("Authorization", "Bearer \($0)")] } ?? []
                try await client.request(target, method: method, fields)
                let answer = try await client.readAnswer(isBodyless: false)
                await client.close()
                return answer
            }

            func ask(_ request: AdminRequest) async throws -> RawAnswer {
                try await ask(request.line.method, request.line.target)
            }

            func url(_ path: String) throws -> OriginURL { try #require(OriginURL(fixture.server.url(path))) }

            func decode<Report: Decodable>(_ request: AdminRequest, as: Report.Type) async throws -> Report {
                try JSONDecoder().decode(Report.self, from: Data(try await ask(request).body))
            }
        }

        private func withDesk(requestTimeout: Int64 = 10, _ body: (Desk) async throws -> Void) async throws {
            try await ProxyFixture.run { fixture in
                let proxy = fixture.proxy
                let service = AdminService(
                    fixture.cache, connections: { proxy.connectionCount }, metrics: { "reprise_x 1\n" },
                    onDrain: { proxy.drain() })
                let server = try await AdminServer.start(
                    service, at: .tcp(host: "127.0.0.1", port: 0), secret: AdminServerTests.secret,
                    requestTimeout: requestTimeout)
                guard case .tcp(_, let port) = server.address else { return }
                let desk = Desk(fixture: fixture, server: server, port: port)
                do { try await body(desk) } catch {
                    await server.stop()
                    throw error
                }
                await server.stop()
            }
        }

        @Test func `a head that is too large ends the connection, with the secret or without`() async throws {
            try await withDesk { desk in
                let client = try await RawClient.connect(port: desk.port)
                let padding = String(repeating: "x", count: 40_000)
                try? await client.request("/health", [("X-Large", padding)])
                try await client.waitUntilClosed()
                await #expect(throws: RawClientError.self) { try await client.readHead() }
                #expect(try await desk.ask("GET", "/health").status == 200)
            }
        }

        @Test func `a request without the secret is refused before its body has come`() async throws {
            try await withDesk { desk in
                let client = try await RawClient.connect(port: desk.port)
                try await client.send("POST /sweep HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
                #expect(try await client.readAnswer(isBodyless: false).status == 401)
                try await client.waitUntilClosed()
            }
        }

        @Test func `a request that never ends is ended, however often a byte of it comes`() async throws {
            try await withDesk(requestTimeout: 1) { desk in
                let client = try await RawClient.connect(port: desk.port)
                try await client.send("GET /health HTTP/1.1\r\nX: ")
                // Fewer than a field may have.
                let dripping = Task {
                    try await client.send(Array(repeating: "x", count: 1000), every: .milliseconds(50))
                }
                try await client.waitUntilClosed()
                #expect(client.unreadCount == 0, "it was not answered")
                _ = await dripping.result
            }
        }

        @Test func `connections without the secret keep no administrator out, however many they are`() async throws {
            try await withDesk(requestTimeout: 600) { desk in
                var clients: [RawClient] = []
                for _ in 0..<AdminServer.connectionLimit + 10 { clients.append(try await .connect(port: desk.port)) }
                #expect(try await desk.ask("GET", "/statistics").status == 200)
                for client in clients.prefix(10) { try await client.waitUntilClosed() }
                for client in clients { await client.close() }
            }
        }

        @Test func `without the secret only health is told`() async throws {
            try await withDesk { desk in
                for secret in [nil, "", "s3cre", "s3cretx"] {
                    #expect(try await desk.ask("GET", "/health", secret: secret).status == 200)
                    for target in ["/entries", "/metrics", "/nothing", "/prefetches?url=http%3A%2F%2Fx%2F"] {
                        let answer = try await desk.ask("GET", target, secret: secret)
                        #expect(answer.status == 401)
                        #expect(answer.fields["WWW-Authenticate"] == "Bearer")
                    }
                    #expect(try await desk.ask("DELETE", "/entries?all=1", secret: secret).status == 401)
                }
            }
        }

        @Test func `entries are listed, shown with their ranges, pinned and removed`() async throws {
            try await withDesk { desk in
                desk.fixture.put("/a.mp3", length: 100_000)
                _ = try await desk.fixture.ask("/a.mp3", [("Range", "bytes=0-39999")])
                await desk.fixture.waitUntilQuiet()
                let url = try desk.url("/a.mp3")
                let list = try await desk.decode(.entries, as: [EntryReport].self)
                #expect(list.map(\.key) == [url.description])
                #expect(try await desk.ask(.pin(url)).status == 200)
                let entry = try await desk.decode(.entry(url), as: EntryReport.self)
                #expect(entry.isPinned && !entry.isComplete)
                #expect(entry.length == 100_000)
                #expect(entry.ranges?.first?.start == 0)
                #expect(entry.stored >= 40_000)
                #expect(try await desk.ask(.remove(url)).status == 200)
                #expect(try await desk.decode(.entries, as: [EntryReport].self).isEmpty)
                #expect(try await desk.ask(.entry(url)).status == 404)
            }
        }

        @Test func `what is fetched ahead is not fetched again by a player, inv10`() async throws {
            try await withDesk { desk in
                let content = desk.fixture.put("/film.mp4", length: 700_000)
                let url = try desk.url("/film.mp4")
                let begun = try await desk.ask(.prefetch(url, .whole))
                #expect(begun.status == 202)
                let id = try JSONDecoder().decode(PrefetchReport.self, from: Data(begun.body)).id
                var report = try await desk.decode(.prefetchProgress(id), as: PrefetchReport.self)
                while !report.hasEnded {
                    report = try await desk.decode(.prefetchProgress(id), as: PrefetchReport.self)
                }
                #expect(report.isComplete && report.stored == 700_000 && report.failure == nil)
                desk.fixture.origin.resetLog()
                try await desk.fixture.ask("/film.mp4").expect(ByteRange(0, 700_000), of: content, status: 200)
                #expect(desk.fixture.origin.requestCount == 0)
                #expect(try await desk.decode(.prefetches, as: [PrefetchReport].self).map(\.id) == [id])
            }
        }

        @Test func `a fetch ahead that cannot be says why, and one that is cancelled ends`() async throws {
            try await withDesk { desk in
                let missing = try await desk.decode(
                    .prefetch(try desk.url("/missing"), .whole), as: PrefetchReport.self)
                var report = missing
                while !report.hasEnded {
                    report = try await desk.decode(.prefetchProgress(missing.id), as: PrefetchReport.self)
                }
                #expect(!report.isComplete)
                #expect(report.failure?.contains("404") == true)
                desk.fixture.put("/slow.mp4", length: 50_000_000) { $0.bytesPerSecond = 100_000 }
                let slow = try await desk.decode(.prefetch(try desk.url("/slow.mp4"), .whole), as: PrefetchReport.self)
                #expect(try await desk.ask(.cancelPrefetch(slow.id)).status == 200)
                report = slow
                while !report.hasEnded {
                    report = try await desk.decode(.prefetchProgress(slow.id), as: PrefetchReport.self)
                }
                #expect(!report.isComplete)
                await desk.fixture.waitUntilQuiet()
                #expect(try await desk.ask(.cancelPrefetch(99)).status == 404)
            }
        }

        @Test func `sums are told of the cache, of its store and of each entry, and with them the last error`()
            async throws
        {
            try await withDesk { desk in
                desk.fixture.put("/a.mp3", length: 100_000)
                for _ in 0..<2 {
                    _ = try await desk.fixture.ask("/a.mp3", [("Range", "bytes=0-39999")])
                    await desk.fixture.waitUntilQuiet()
                }
                let page = try await desk.fixture.ask("/none.mp3").body.count
                await desk.fixture.waitUntilQuiet()
                let sums = try await desk.decode(.statistics, as: StatisticsReport.self)
                #expect([sums.hits, sums.misses, sums.partials] == [1, page > 0 ? 2 : 1, 0])
                #expect(sums.servedBytes == 80_000 + page && sums.total.servedBytes == sums.servedBytes)
                #expect(sums.hitRatio == sums.total.hitRatio && sums.total.since > 0)
                let entry = try await desk.decode(.entry(try desk.url("/a.mp3")), as: EntryReport.self)
                #expect(entry.servedBytes == 80_000 && entry.originBytes == sums.originBytes - Int64(page))
                #expect(entry.savedBytes == 80_000 - entry.originBytes && entry.lastError == nil)
                let none = try desk.url("/none.mp3").description
                let busy = try await desk.decode(.activity, as: [ResourceReport].self)
                let error = try #require(busy.first { $0.key == none }?.lastError)
                #expect(error.code == "originRefused 404" && error.message.contains("404") && error.time > 0)
            }
        }

        @Test func `activity shows who reads and what is fetched`() async throws {
            try await withDesk { desk in
                desk.fixture.put("/slow.mp3", length: 10_000_000) { $0.bytesPerSecond = 100_000 }
                let client = try await desk.fixture.connect()
                try await client.request(desk.fixture.target("/slow.mp3"), method: "GET", [])
                let key = try desk.url("/slow.mp3").description
                var seen: ResourceReport?
                while seen?.transfers.isEmpty ?? true {
                    seen = try await desk.decode(.activity, as: [ResourceReport].self).first { $0.key == key }
                }
                #expect(seen?.readers.count == 1)
                #expect(seen?.readers.first?.isFetch == false)
                let sums = try await desk.decode(.statistics, as: StatisticsReport.self)
                #expect(sums.originRequests >= 1 && sums.connections == 1)
                #expect(try await desk.ask(.metrics).text == "reprise_x 1\n")
                await client.close()
            }
        }

        @Test func `draining turns health to 503 and ends connections with their answers`() async throws {
            try await withDesk { desk in
                let content = desk.fixture.put("/a.mp3", length: 1000)
                #expect(try await desk.ask(.drain).status == 202)
                #expect(try await desk.ask(.health).status == 503)
                let client = try await desk.fixture.connect()
                try await client.request("/.reprise/health", method: "GET", [])
                let health = try await client.readAnswer(isBodyless: false)
                #expect(health.status == 503)
                #expect(health.fields["Connection"] == "close")
                await client.close()
                try await desk.fixture.ask("/a.mp3").expect(ByteRange(0, 1000), of: content, status: 200)
            }
        }
    }
#endif
