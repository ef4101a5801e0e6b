#if Server
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// Two processes and one root: an app's cache here, the real program beside it.
    @Suite struct SharedRootTests {
        private static let content = PositionCodedContent(length: 700_001)

        private struct App {
            let directory: WorkDirectory
            let origin: ScriptedOrigin
            let server: LoopbackOrigin
            let client: AsyncHTTPOriginClient
            let cache: MediaCache

            var store: String { directory.path + "/store" }

            static func run(_ body: (App) async throws -> Void) async throws {
                let directory = try WorkDirectory()
                let origin = ScriptedOrigin()
                for path in ["/a.mp3", "/b.mp3", "/c.mp3"] { origin.put(.init(content), at: path) }
                let server = try await LoopbackOrigin.start(origin)
                let client = AsyncHTTPOriginClient()
                let cache = try MediaCache(directory: directory.path + "/store", client: client)
                let app = App(directory: directory, origin: origin, server: server, client: client, cache: cache)
                let outcome = await Outcome { try await body(app) }
                await cache.close()
                try await client.shutdown()
                await server.stop()
                try outcome.get()
            }

            /// Plays all of it.
            func play(_ path: String) async throws {
                var position: Int64 = 0
                let url = try #require(URL(string: server.url(path)))
                for try await chunk in try cache.resource(for: url).bytes() {
                    #expect(content.firstMismatch(Array(chunk.bytes), at: position) == nil)
                    position += Int64(chunk.bytes.count)
                }
                #expect(position == content.length)
            }

            func tool(_ arguments: String...) throws -> Program.Finished {
                try Program.run([arguments[0], "--directory", store] + arguments.dropFirst())
            }
        }

        @Test
        func
            `while the app uses the root the tool is told so; while the app is suspended the tool fills it for the app, inv25`()
            async throws
        {
            try await App.run { app in
                try await app.play("/a.mp3")
                let refused = try app.tool("fetch", app.server.url("/b.mp3"))
                #expect(refused.status == 75 && refused.errors.contains("is used by process"), "\(refused.errors)")
                await app.cache.suspend()
                let fetched = try app.tool("fetch", app.server.url("/b.mp3"), app.server.url("/a.mp3"))
                #expect(fetched.status == 0, "\(fetched.errors)")
                #expect(await app.cache.resume() == .ready)
                app.origin.setDown(true)
                try await app.play("/a.mp3")
                try await app.play("/b.mp3")
                #expect(app.origin.bodyBytes == 2 * SharedRootTests.content.length)
            }
        }

        @Test
        func `a root that another process took meanwhile is passed by, and taken back when it is free, inv22 inv25`()
            async throws
        {
            try await App.run { app in
                try await app.play("/a.mp3")
                await app.cache.suspend()
                let other = try Program.Server(directory: app.store)
                guard case .passingThrough = await app.cache.resume() else {
                    Issue.record("two processes write one root")
                    return
                }
                try await app.play("/c.mp3")
                other.stop()
                #expect(await app.cache.resume() == .ready)
                let bytes = app.origin.bodyBytes
                try await app.play("/a.mp3")
                #expect(app.origin.bodyBytes == bytes)
            }
        }

        @Test func `what the other process was killed over is right and is played, inv04 inv25`() async throws {
            try await App.run { app in
                await app.cache.suspend()
                let other = try Program.Server(directory: app.store)
                let target = app.server.url("/b.mp3").replacingOccurrences(of: "http://", with: "http/")
                let address = "http://127.0.0.1:\(other.port)/\(target)"
                let half = try Program.run("/usr/bin/curl", ["-s", "-r", "0-399999", address])
                #expect(half.bytes.count == 400_000)
                kill(other.processIdentifier, SIGKILL)
                other.waitUntilExit()
                #expect(await app.cache.resume() == .ready)
                try await app.play("/b.mp3")
                app.origin.setDown(true)
                try await app.play("/b.mp3")
            }
        }
    }
#endif
