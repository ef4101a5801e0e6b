import AVFoundation
import Foundation
import RepriseAVFoundation
import RepriseCore
import RepriseHTTP
import RepriseTesting
import Testing

/// Media that their origin delivers encrypted, through the resource loader.
@Suite struct TransformTests {
    private static let length: Int64 = 2_000_003
    private static let keystream = PositionKeystream()

    private func world() throws -> LoaderWorld {
        var configuration = MediaCache.Configuration()
        configuration.contentTransform = { _, url in url.host == "origin.test" ? Self.keystream : nil }
        let world = try LoaderWorld(length: Self.length, configuration: configuration)
        var behaviour = OriginBehaviour()
        behaviour.contentType = "application/octet-stream"
        world.origin.put(.init(world.content, before: Self.keystream, behaviour), at: LoaderWorld.url.path)
        return world
    }

    @Test func `a player gets the decrypted bytes and the type they show, cold and without the origin, inv13`()
        async throws
    {
        let world = try world()
        for isAgain in [false, true] {
            world.origin.setDown(isAgain)
            let asset = world.asset()
            let result = try await world.replay(
                [
                    .ask(1, 0, 2), .end(1), .ask(2, 1_000_001, 65_537), .end(2), .ask(3, 0, nil), .got(3, 500_000),
                    .cancel(3), .ask(4, 499_999, nil), .end(4), .ask(5, 0, nil), .end(5),
                ], on: asset)
            world.check(asset)
            let probe = try #require(result.record(1))
            #expect(probe.information?.contentType == "public.mpeg-4", "as the decrypted first bytes say")
            #expect(probe.information?.contentLength == Self.length)
            #expect(result.record(4)?.received == Self.length - 499_999)
            #expect(await world.settle())
        }
    }

    @Test func `players that come one after another share what one of them brought, inv11`() async throws {
        let world = try world()
        let assets = [world.asset(), world.asset()]
        for asset in assets {
            try await world.replay([.ask(1, 0, 2), .end(1), .ask(2, 0, nil), .end(2)], on: asset)
            world.check(asset)
        }
        #expect(await world.settle())
        #expect(world.origin.bodyBytes == Self.length)
    }
}
