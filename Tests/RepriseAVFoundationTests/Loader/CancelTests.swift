import AVFoundation
import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// How requests end from the player's side, told or not, and what is left of them.
@Suite struct CancelTests {
    @Test func `an asset that is let go with requests open leaves nothing running, mistake14`() async throws {
        let world = try LoaderWorld(length: 60_000_000) { $0.bytesPerSecond = 4_000_000 }
        do {
            let asset = world.asset()
            try await world.replay([.ask(0, 0, 2), .end(0), .ask(1, 0, nil), .got(1, 100_000)], on: asset)
        }
        #expect(await world.settle())
        // Long before the end: how much came until then is the machine's affair.
        #expect(world.origin.bodyBytes < 50_000_000)
    }

    @Test func `a cancel that the system leaves out stops the download all the same, mistake14 bug12`() async throws {
        var behaviour = SimulatedBehaviour()
        behaviour.deliversCancel = false
        let world = try LoaderWorld(length: 60_000_000) { $0.bytesPerSecond = 4_000_000 }
        let asset = world.asset(LoaderWorld.url, behaviour)
        try await world.replay([.ask(0, 0, 2), .end(0), .ask(1, 0, nil), .got(1, 100_000), .cancel(1)], on: asset)
        #expect(await world.settle())
        // Long before the end: how much came until then is the machine's affair.
        #expect(world.origin.bodyBytes < 50_000_000)
    }

    @Test(arguments: [20_000_000, 19_000_000])
    func `an asset's bytes are of one version, whatever its origin has by then, inv01`(length: Int64) async throws {
        let world = try LoaderWorld(length: 20_000_000)
        let asset = world.asset()
        try await world.replay([.ask(0, 0, 2), .end(0), .ask(1, 0, 100_000), .end(1)], on: asset)
        #expect(await world.settle())
        var behaviour = OriginBehaviour()
        behaviour.contentType = "video/mp4"
        let next = PositionCodedContent(length: length, generation: 2, signature: LoaderWorld.mp4)
        world.origin.put(.init(next, behaviour), at: "/media/film.mp4")
        for offset in [15_000_000, 16_000_000, 0] as [Int64] {
            let request = asset.resourceLoader.simulateRequest(offset: offset, length: nil, keepsBytes: false)
            #expect(await eventually { request.record.outcome != nil }, "it hangs")
            #expect(request.record.outcome != .finished)
        }
        world.check(asset)
        let fresh = world.cache.asset(for: LoaderWorld.url)
        let request = fresh.resourceLoader.simulateRequest(offset: 0, length: 2)
        #expect(await eventually { request.record.outcome == .finished })
    }

    @Test func `a cancel that nobody tells is noticed although no byte comes that could be refused, mistake14`()
        async throws
    {
        let queues = ManualQueues()
        let origin = ScriptedOrigin()
        var silent = OriginBehaviour()
        silent.firstByteDelay = 3_600_000_000_000
        origin.put(.init(PositionCodedContent(length: 1_000_000), silent), at: "/media/film.mp4")
        let cache = MediaCache(
            store: try MemoryStoreFixture.make(), client: InMemoryOriginClient(origin: origin, queues: queues),
            queues: queues)
        let asset = cache.asset(for: LoaderWorld.url)
        asset.resourceLoader.simulationBehaviour.deliversCancel = false
        let queue = try #require(asset.resourceLoader.delegateQueue)
        func settle() {
            for _ in 0..<3 {
                queue.sync {}
                queues.settle()
            }
        }
        let request = asset.resourceLoader.simulateRequest(length: 2)
        #expect(await eventually { request.record.answer == true })
        settle()
        #expect(cache.activity == (1, 1))
        request.cancel()
        settle()
        #expect(cache.activity.readers == 1)
        queues.advance(1_000_000_000)
        settle()
        #expect(cache.activity.readers == 0)
        #expect(
            await eventually {
                queues.advance(1_000_000_000)
                return cache.activity.transfers == 0
            })
        withExtendedLifetime(asset) {}
    }

    @Test func `requests are told apart by identity, not by URL or range: one cancel ends one, bug12 mistake12`()
        async throws
    {
        let world = try LoaderWorld(length: 9_000_000)
        try await world.fill()
        // Paced by a clock that stands still: none of them ends before the cancel has come.
        let clock = ManualQueues()
        let (asset, loader) = try world.asset(clock: clock)
        try await world.replay([.ask(0, 0, 2), .end(0)], on: asset)
        let ranges: [(Int64, Int)] = [(4_000_000, 3_000_000), (4_000_000, 3_000_000), (0, 4_000_000)]
        let requests = ranges.map {
            asset.resourceLoader.simulateRequest(offset: $0.0, length: $0.1, keepsBytes: false)
        }
        #expect(await eventually { requests.allSatisfy { $0.record.received >= LoadingPlan.burst } })
        requests[0].cancel()
        #expect(await eventually { requests[0].record.cancelWasDelivered })
        loader.queue.sync {}
        #expect(
            await eventually {
                clock.advance(20_000_000)
                return requests[1...].allSatisfy { $0.record.outcome == .finished }
            })
        #expect(requests[0].record.outcome == .cancelled)
        world.check(asset)
        withExtendedLifetime(loader) {}
    }

    @Test func `of two requests that share a transfer one cancel ends one, bug12 mistake12`() async throws {
        let world = try LoaderWorld(length: 30_000_000) { $0.firstByteDelay = 300_000_000 }
        let asset = world.asset()
        let queue = try #require(asset.resourceLoader.delegateQueue)
        try await world.replay([.ask(0, 0, 2), .end(0)], on: asset)
        let ranges: [(Int64, Int)] = [(4_000_000, 65_536), (4_000_000, 65_536), (8_000_000, 300_000)]
        let requests = ranges.map {
            asset.resourceLoader.simulateRequest(offset: $0.0, length: $0.1, keepsBytes: false)
        }
        // All three are under way before the cancel comes, and with that delay none has been answered.
        #expect(await eventually { requests.allSatisfy { $0.record.answer == true } })
        queue.sync {}
        requests[0].cancel()
        #expect(await eventually { requests[1...].allSatisfy { $0.record.outcome == .finished } })
        world.check(asset)
        #expect(requests.map(\.record.received)[1...] == [65_536, 300_000])
    }

    @Test func `bytes that had come before a cancel are not bought again, mistake13`() async throws {
        // When the cancel comes nothing else happens: the request has what there is, and waits for the rest.
        let world = try LoaderWorld(length: 4_000_000) { $0.body = .stall(at: 1_500_000) }
        let asset = world.asset()
        let queue = try #require(asset.resourceLoader.delegateQueue)
        let result = try await world.replay([.ask(0, 0, nil), .got(0, 1_500_000), .cancel(0)], on: asset)
        #expect(await eventually { result.record(0)?.cancelWasDelivered == true })
        queue.sync {}
        #expect(await world.settle())
        let (requests, bytes) = (world.origin.requestCount, world.origin.bodyBytes)
        try await world.replay([.ask(1, 0, 1_000_000), .end(1)], on: asset)
        #expect(world.origin.requestCount == requests && world.origin.bodyBytes == bytes)
        world.origin.change("/media/film.mp4") { $0.behaviour.body = .none }
        for round in 2..<6 {
            try await world.replay([.ask(round, 0, nil), .got(round, 1_000_000), .cancel(round)], on: asset)
        }
        #expect(await world.settle())
        world.check(asset)
        #expect(world.origin.bodyBytes <= 4_000_000)
    }
}
