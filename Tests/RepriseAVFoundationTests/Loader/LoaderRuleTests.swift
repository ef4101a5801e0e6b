import AVFoundation
import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The rules of the loader's contract, and the ways adapters are known to break them.
@Suite struct LoaderRuleTests {
    @Test func `the delegate lives as long as the asset or a copy of it, and no longer, R13 mistake01 bug23 bug24`()
        throws
    {
        let world = try LoaderWorld(length: 100_000)
        weak var loader: AssetLoader?
        do {
            var asset: AVURLAsset? = world.asset()
            loader = asset?.routeHolder?.loader
            let copy = try #require(asset?.copy() as? AVURLAsset)
            asset = nil
            #expect(loader != nil && copy.resourceLoader.delegate === loader)
            // No subclass: what the framework copies is all there is.
            #expect(type(of: copy) == AVURLAsset.self && copy.cacheRoute == .loader(LoaderWorld.url))
        }
        #expect(loader == nil)
    }

    @Test
    func `the delegate is there before anybody can ask, on a serial queue of its own, mistake02 mistake03 mistake20`()
        throws
    {
        let world = try LoaderWorld(length: 100_000)
        let first = world.asset()
        let second = world.asset()
        #expect(first.resourceLoader.delegate != nil)
        let queue = try #require(first.resourceLoader.delegateQueue)
        // Told apart by what is attached to them: one queue may have several objects that stand for it.
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 1)
        #expect(queue.getSpecific(key: key) == 1 && DispatchQueue.main.getSpecific(key: key) == nil)
        #expect(try #require(second.resourceLoader.delegateQueue).getSpecific(key: key) == nil)
        #expect(first.resourceLoader.simulationRecord.traps.isEmpty)
    }

    @Test func `callbacks return at once although disk and network stand still, mistake15`() async throws {
        // Queues that run nothing: whoever waited for a file or for the origin would wait for ever.
        let queues = ManualQueues()
        let origin = ScriptedOrigin()
        let store = try MemoryStoreFixture.make()
        let cache = MediaCache(
            store: store, client: InMemoryOriginClient(origin: origin, queues: queues), queues: queues)
        let asset = cache.asset(for: LoaderWorld.url)
        let loader = asset.resourceLoader
        let requests = [(0, 2), (0, 65_536), (1_000_000, 65_536)].map {
            loader.simulateRequest(offset: Int64($0.0), length: $0.1)
        }
        #expect(await eventually { requests.allSatisfy { $0.record.answer == true } })
    }

    @Test func `a request is held until it has ended, however long the origin takes, mistake04`() async throws {
        let world = try LoaderWorld(length: 300_000) { $0.firstByteDelay = 300_000_000 }
        let asset = world.asset()
        try await world.replay([.ask(0, 0, 2), .end(0), .ask(1, 0, nil), .end(1)], on: asset)
        #expect(asset.resourceLoader.simulationRecord.requests.allSatisfy { !$0.isAbandoned })
    }

    @Test func `information comes before the first byte and once, mistake06`() async throws {
        let world = try LoaderWorld(length: 500_000)
        let asset = world.asset()
        // Two at once, both still without information: each gets it, before its bytes.
        let result = try await world.replay([.ask(1, 0, nil), .ask(2, 100_000, 65_536), .end(1), .end(2)], on: asset)
        world.check(asset)
        // The second asks for none where the first has ended before.
        #expect(result.record(1)?.asksInformation == true)
        for record in [1, 2].compactMap({ result.record($0) }) where record.asksInformation {
            let information = try #require(record.information)
            #expect(information.contentLength == 500_000 && information.isByteRangeAccessSupported)
            #expect(information.contentType == "public.mpeg-4" && information.renewalDate == nil)
        }
        #expect(result.record(1)?.length == Int.max)
        #expect(result.record(1)?.received == 500_000)
    }

    @Test func `a to-end request of unknown length is not taken at its word, mistake09`() async throws {
        let world = try LoaderWorld(length: 300_001)
        let asset = world.asset()
        let result = try await world.replay([.ask(1, 300_000, nil), .end(1)], on: asset)
        world.check(asset)
        #expect(result.record(1)?.received == 1)
    }

    @Test func `a to-end request stays open until all has come, whatever the origin does, mistake10 bug09`()
        async throws
    {
        let world = try LoaderWorld(length: 1_000_000) {
            $0.body = .reset(at: 400_000)
            $0.faultyRequests = 2
        }
        let asset = world.asset()
        let result = try await world.replay([.ask(0, 0, 2), .end(0), .ask(1, 0, nil), .end(1)], on: asset)
        world.check(asset)
        #expect(result.record(1)?.received == 1_000_000)
    }

    @Test func `what is stored in pieces is given in order and once, at its offset, mistake11 bug05 bug06 bug16`()
        async throws
    {
        let world = try LoaderWorld(length: 2_000_000)
        let first = world.asset()
        try await world.replay(
            [.ask(0, 0, 2), .end(0), .ask(1, 500_003, 100_000), .end(1), .ask(2, 1_300_001, 65_536), .end(2)], on: first
        )
        #expect(await world.settle())
        let second = world.asset()
        let result = try await world.replay(
            [.ask(0, 0, 2), .end(0), .ask(1, 400_000, nil), .end(1), .ask(2, 1_300_001, 7), .end(2)], on: second)
        world.check(second)
        #expect(result.record(1)?.received == 1_600_000 && result.record(2)?.received == 7)
        // The same bytes by another door, from an offset in the middle of a block.
        var position: Int64 = 500_009
        for try await chunk in try world.cache.resource(for: LoaderWorld.url).bytes(in: ByteRange(500_009, 700_001)) {
            #expect(chunk.offset == position && world.content.firstMismatch(chunk.bytes, at: position) == nil)
            position += Int64(chunk.bytes.count)
        }
        #expect(position == 700_001)
    }

    @Test func `gigabytes on disk are paced: after the burst nothing comes until time passes, R15 mistake16`()
        async throws
    {
        let world = try LoaderWorld(length: 6_000_000)
        try await world.fill()
        let clock = ManualQueues()
        let (asset, loader) = try world.asset(clock: clock)
        try await world.replay([.ask(0, 0, 2), .end(0)], on: asset)
        let request = asset.resourceLoader.simulateRequest(offset: 0, keepsBytes: false)
        #expect(await eventually { request.record.received >= LoadingPlan.burst })
        loader.queue.sync {}
        let most = LoadingPlan.burst + Int64(LoadingPlan.chunk)
        #expect(request.record.received <= most)
        #expect(request.record.largestRespond <= LoadingPlan.chunk)
        #expect(request.record.information == nil && request.record.outcome == nil)
        #expect(
            await eventually {
                clock.advance(20_000_000)
                return request.record.outcome == .finished
            })
        withExtendedLifetime(loader) {}
    }

    @Test func `a request that a newer one holds back goes on when one like it comes`() async throws {
        let world = try LoaderWorld(length: 20_000_000)
        try await world.fill()
        let clock = ManualQueues()
        let (asset, loader) = try world.asset(clock: clock)
        try await world.replay([.ask(0, 0, 2), .end(0)], on: asset)
        let first = asset.resourceLoader.simulateRequest(offset: 0, keepsBytes: false)
        #expect(await eventually { first.record.received >= LoadingPlan.burst })
        let other = asset.resourceLoader.simulateRequest(offset: 10_000_000, keepsBytes: false)
        #expect(await eventually { other.record.received >= LoadingPlan.burst })
        let graced = first.record.received + LoadingPlan.grace
        #expect(
            await eventually {
                clock.advance(1_000_000)
                return first.record.received >= graced
            })
        let same = asset.resourceLoader.simulateRequest(offset: 0, keepsBytes: false)
        #expect(await eventually { same.record.received >= LoadingPlan.burst })
        #expect(
            await eventually {
                clock.advance(1_000_000)
                return first.record.received >= graced + LoadingPlan.grace
            })
        #expect(other.record.outcome == nil, "it goes on before the one that held it back has gone")
        for request in [first, other, same] { request.cancel() }
        withExtendedLifetime(loader) {}
    }

    @Test func `a paused asset asks for nothing until it is resumed or asked anew`() async throws {
        let world = try LoaderWorld(length: 20_000_000) { $0.bytesPerSecond = 2_000_000 }
        let asset = world.asset()
        let result = try await world.replay([.ask(0, 0, 2), .end(0), .ask(1, 0, nil), .got(1, 300_000)], on: asset)
        asset.pauseCaching()
        #expect(await eventually { world.cache.activity.transfers == 0 })
        let bytes = world.origin.bodyBytes
        #expect(bytes <= world.given(asset) + 2 * LoaderWorld.aheadOfOnePlace)
        #expect(result.record(1)?.outcome == nil)
        asset.resumeCaching()
        let received = try #require(result.record(1)).received
        #expect(await eventually { (result.record(1)?.received ?? 0) > received + 200_000 })
        asset.pauseCaching()
        // A seek in a paused asset: the new request is answered, and the pause is over.
        try await world.replay([.ask(2, 10_000_000, 65_536), .end(2)], on: asset)
        result.requests[1]?.cancel()
        world.check(asset)
    }

    @Test(arguments: [403, 404, 410, 500, 503])
    func
        `an origin that refuses fails the look with a flat error, and no page is taken for media, bug01 bug03 bug04 mistake19`(
            status: Int
        ) async throws
    {
        let world = try LoaderWorld(length: 1_000_000) { $0.status = status }
        let asset = world.asset()
        let result = try await world.replay([.ask(1, 0, 2), .got(1, 1)], on: asset)
        let record = try #require(result.record(1))
        let error = try #require(record.error)
        #expect(error.domain == NSURLErrorDomain && error.userInfo[NSUnderlyingErrorKey] == nil)
        #expect(record.received == 0 && record.finishes == 1)
        // An empty type ends the wait for one; without, `isPlayable` never answers.
        #expect(record.information?.contentType == "")
    }

    @Test func `a login page in the place of a film is an error, not an endless wait, bug01 bug04`() async throws {
        let world = try LoaderWorld(length: 1_000_000) { $0.loginPage = true }
        let asset = world.asset()
        let result = try await world.replay([.ask(1, 0, 2), .got(1, 1)], on: asset)
        #expect(result.record(1)?.error?.domain == NSURLErrorDomain)
    }

    @Test func `an origin without ranges plays, seeks included`() async throws {
        let world = try LoaderWorld(length: 1_500_000) { $0.ranges = .ignored }
        let asset = world.asset()
        try await world.replay(
            [.ask(0, 0, 2), .end(0), .ask(1, 1_000_000, 65_536), .ask(2, 0, nil), .end(1), .end(2)], on: asset)
        world.check(asset)
    }

    @Test func `a length nobody knows sends the player to the plain URL, bug07`() async throws {
        let world = try LoaderWorld(length: 1_500_000) {
            $0.ranges = .ignored
            $0.framing = .chunked
        }
        let asset = world.asset()
        let result = try await world.replay([.ask(1, 0, 2), .got(1, 1)], on: asset)
        #expect(result.record(1)?.outcome == .redirected(LoaderWorld.url))
    }

    @Test func `a renewal is answered like a first look, R16`() async throws {
        let world = try LoaderWorld(length: 100_000)
        let asset = world.asset()
        try await world.replay([.ask(0, 0, 2), .end(0)], on: asset)
        let renewal = asset.resourceLoader.simulateRequest(kind: .renewal)
        #expect(await eventually { renewal.record.outcome != nil })
        #expect(renewal.record.outcome == .finished)
        #expect(renewal.record.information?.contentLength == 100_000)
    }

    @Test func `a type that the request does not allow is never given`() async throws {
        let world = try LoaderWorld(length: 100_000)
        var behaviour = SimulatedBehaviour()
        behaviour.allowedContentTypes = ["public.movie", "public.mp3"]
        let asset = world.asset(LoaderWorld.url, behaviour)
        let result = try await world.replay([.ask(1, 0, 2), .end(1)], on: asset)
        world.check(asset)
        #expect(result.record(1)?.information?.contentType == "public.movie")
    }

    @Test func `a scheme that is not ours is left to the system`() async throws {
        let world = try LoaderWorld(length: 100_000)
        var behaviour = SimulatedBehaviour()
        behaviour.httpReachesDelegate = true
        let asset = world.asset(LoaderWorld.url, behaviour)
        let request = asset.resourceLoader.simulateRequest(length: 2, url: LoaderWorld.url)
        #expect(await eventually { request.record.outcome != nil })
        #expect(request.record.answer == false)
    }
}
