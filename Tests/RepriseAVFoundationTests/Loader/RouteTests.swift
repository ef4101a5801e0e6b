import AVFoundation
import Foundation
import RepriseCore
import RepriseHTTP
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// Which way an asset goes, and what is said of it.
@Suite struct RouteTests {
    private final class Router: StreamRouter {
        func route(for url: URL, headers: [String: String]) -> URL? {
            headers.isEmpty ? URL(string: "http://127.0.0.1:8787/token/" + url.lastPathComponent) : nil
        }
    }

    @Test func `what is not ours falls through to the plain URL, with the reason`() throws {
        let world = try LoaderWorld(length: 10)
        for (text, reason) in [
            ("file:///tmp/a.mp3", DirectReason.file), ("skd://key", .protectedContent),
            ("https://e.example/live.m3u8", .stream), ("rtsp://e.example/a", .unsupportedScheme),
        ] {
            let url = try #require(URL(string: text))
            let asset = world.cache.asset(for: url)
            #expect(asset.cacheRoute == .direct(url, reason))
            #expect(asset.url == url && asset.resourceLoader.delegate == nil)
            #expect(asset.originAsset.url == url)
        }
    }

    @Test func `a stream goes through the server where there is one, R14`() throws {
        let world = try LoaderWorld(length: 10)
        let router = Router()
        world.cache.streamRouter = router
        let url = try #require(URL(string: "https://e.example/film/main.m3u8"))
        let asset = world.cache.asset(for: url)
        #expect(asset.cacheRoute == .proxy(url))
        #expect(asset.url.absoluteString == "http://127.0.0.1:8787/token/main.m3u8")
        // What the server cannot pass on is not sent there.
        #expect(world.cache.asset(for: url, headers: ["Cookie": "a=b"]).cacheRoute == .direct(url, .stream))
    }

    @Test func `a stream that only its answer gives away is redirected there too, R14`() async throws {
        let world = try LoaderWorld(length: 5000) { $0.contentType = "application/vnd.apple.mpegurl" }
        let router = Router()
        world.cache.streamRouter = router
        let asset = world.asset()
        for _ in 0..<2 {
            let request = asset.resourceLoader.simulateRequest(kind: .playlist)
            #expect(await eventually { request.record.outcome != nil })
            let url = try #require(URL(string: "http://127.0.0.1:8787/token/film.mp4"))
            #expect(request.record.outcome == .redirected(url))
        }
    }

    @Test func `without a store the plain URL is played, and the route says why`() throws {
        let queues = ManualQueues()
        let cache = MediaCache(
            store: nil, client: InMemoryOriginClient(origin: ScriptedOrigin(), queues: queues), queues: queues)
        let asset = cache.asset(for: LoaderWorld.url)
        guard case .direct(LoaderWorld.url, .cacheUnavailable(let reason)) = asset.cacheRoute else {
            return #expect(Bool(false), "\(String(describing: asset.cacheRoute))")
        }
        #expect(!reason.isEmpty)
    }

    @Test func `a mediated asset keeps extension and query, and knows what the app asked for`() throws {
        let world = try LoaderWorld(length: 10)
        let asset = world.cache.asset(for: LoaderWorld.url)
        #expect(asset.cacheRoute == .loader(LoaderWorld.url))
        #expect(asset.url.absoluteString == "reprise-https://origin.test/media/film.mp4?id=7")
        #expect(asset.originAsset.url == LoaderWorld.url)
        #expect(AVURLAsset(url: LoaderWorld.url).cacheRoute == nil)
    }

    @Test func `headers go to the origin by our own parameter`() async throws {
        let world = try LoaderWorld(length: 1000)
        let asset = world.cache.asset(for: LoaderWorld.url, headers: ["Authorization": "Bearer x", "X-App": "1"])
        try await world.replay([.ask(0, 0, 2), .end(0)], on: asset)
        let sent = try #require(world.origin.log.first)
        #expect(sent.fields["Authorization"] == "Bearer x" && sent.fields["X-App"] == "1")
        #expect(sent.fields["Accept-Encoding"] == "identity")
    }

    @Test func `two assets of one URL share one transfer; the second is ready while the first plays, R10`() async throws
    {
        let world = try LoaderWorld(length: 3_000_000) { $0.bytesPerSecond = 6_000_000 }
        let first = world.asset()
        let second = world.asset()
        async let one = world.replay([.ask(0, 0, 2), .end(0), .ask(1, 0, nil), .end(1)], on: first)
        async let two = world.replay([.ask(0, 0, 2), .end(0), .ask(1, 0, nil), .end(1)], on: second)
        _ = try await (one, two)
        world.check(first)
        world.check(second)
        #expect(await world.settle())
        #expect(world.origin.bodyBytes <= 3_000_000 + 32 * 1024)
    }
}
