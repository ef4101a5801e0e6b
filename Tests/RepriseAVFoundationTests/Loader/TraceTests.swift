import AVFoundation
import Foundation
import RepriseAVFoundation
import RepriseCore
import RepriseTesting
import Testing

/// What players were seen to ask for, replayed. Numbers and orders are those of the recordings; what was only told in
/// words has our numbers.
@Suite struct TraceTests {
    private static let block = 65_536

    @Test
    func
        `R0, R1: a probe, then all to the end: one length, one information, one pass over the origin, mistake05 mistake07 bug10 bug11`()
        async throws
    {
        let world = try LoaderWorld(length: 4_093_201)
        let asset = world.asset()
        let result = try await world.replay(
            [.ask(1, 0, 2), .end(1), .ask(2, 0, nil), .end(2)], on: asset)
        world.check(asset)
        let probe = try #require(result.record(1))
        #expect(probe.asksInformation && probe.received == 2)
        #expect(probe.information?.contentLength == 4_093_201)
        #expect(probe.information?.contentType == "public.mpeg-4")
        #expect(probe.information?.isByteRangeAccessSupported == true)
        let whole = try #require(result.record(2))
        #expect(!whole.asksInformation && whole.isToEnd && whole.length == 4_093_201)
        #expect(await world.settle())
        #expect(world.origin.bodyBytes == 4_093_201)
        // The second play, of a new asset: nothing goes to the origin.
        world.origin.resetLog()
        let again = world.asset()
        let replayed = try await world.replay([.ask(1, 0, 2), .end(1), .ask(2, 0, nil), .end(2)], on: again)
        world.check(again)
        #expect(replayed.record(1)?.information?.isEntireLengthAvailableOnDemand == true)
        #expect(world.origin.requestCount == 0)
    }

    @Test func `R2: stop and go pays for each byte once`() async throws {
        let world = try LoaderWorld(length: 15_000_000)
        let asset = world.asset()
        var steps: [TraceStep] = [.ask(1, 0, 2), .end(1)]
        // The recording's scaled units, by a hundred: the next request begins where the last had come to.
        for (id, (start, stop)) in [(0, 70_000), (70_000, 150_000), (150_000, 200_000), (500_000, 900_000)].enumerated()
        {
            steps.append(.ask(id + 2, Int64(start), nil))
            steps.append(.got(id + 2, Int64(stop - start)))
            steps.append(.cancel(id + 2))
        }
        try await world.replay(steps, on: asset)
        world.check(asset)
        #expect(await world.settle())
        // What was asked ahead of the last cancel is bounded; nothing is paid for twice.
        #expect(world.origin.bodyBytes <= world.given(asset) + 2 * LoaderWorld.aheadOfOnePlace)
    }

    @Test func `R3: an older system's small blocks, then the rest`() async throws {
        let world = try LoaderWorld(length: 17_793_761)
        let asset = world.asset()
        try await world.replay(
            [
                .ask(1, 0, 2), .end(1), .ask(2, 65_536, 65_536), .end(2), .ask(3, 131_072, 65_536), .end(3),
                .ask(4, 786_432, 17_007_329), .got(4, 4_000_000), .cancel(4),
            ], on: asset)
        world.check(asset)
        #expect(asset.resourceLoader.simulationRecord.requests.last?.isToEnd == true)
        #expect(await world.settle())
    }

    /// Order and numbers of the recording, total 61,574,237.
    static let interleaved: [(Int64, Int, isToEnd: Bool)] = [
        (4_849_664, 65_536, false), (30_129_037, 31_445_200, true), (30_146_560, 31_427_677, true),
        (32_112_640, 29_461_597, true), (7_798_784, 720_896, false), (8_650_752, 65_536, false),
        (8_847_360, 65_536, false), (8_978_432, 65_536, false), (9_109_504, 65_536, false),
        (9_240_576, 131_072, false), (9_437_184, 65_536, false), (9_633_792, 65_536, false),
        (9_764_864, 196_608, false), (10_027_008, 65_536, false), (10_289_152, 65_536, false),
        (10_551_296, 65_536, false), (10_813_440, 131_072, false), (11_075_584, 65_536, false),
        (11_206_656, 65_536, false), (11_403_264, 65_536, false), (11_665_408, 65_536, false),
    ]

    @Test
    func `R4: interleaved small reads beside to-end requests, all open together, at their real sizes, bug05 bug12`()
        async throws
    {
        let world = try LoaderWorld(length: 61_574_237)
        let asset = world.asset()
        var steps: [TraceStep] = [.ask(0, 0, 2), .end(0)]
        for (index, (offset, length, _)) in Self.interleaved.enumerated() {
            steps.append(.ask(index + 1, offset, length))
        }
        for (index, (_, length, isToEnd)) in Self.interleaved.enumerated() {
            steps.append(isToEnd ? .got(index + 1, 17_523) : .got(index + 1, Int64(length)))
            steps.append(isToEnd ? .cancel(index + 1) : .end(index + 1))
        }
        let result = try await world.replay(steps, on: asset)
        world.check(asset)
        for (index, (_, length, isToEnd)) in Self.interleaved.enumerated() {
            let record = try #require(result.record(index + 1))
            #expect(record.isToEnd == isToEnd)
            // A to-end request may have been answered whole before its cancel came.
            #expect(record.outcome == .finished || (isToEnd && record.outcome == .cancelled))
            if !isToEnd { #expect(record.received == Int64(length)) }
        }
        #expect(await world.settle())
        // The gaps between the small reads are smaller than what a request asks ahead, so they are bought too.
        #expect(world.origin.bodyBytes <= world.given(asset) + 3 * LoaderWorld.aheadOfOnePlace + 4_000_000)
    }

    @Test func `R5: the index behind three gigabytes: head, a jump, two more, at the real size, bug06`() async throws {
        let total: Int64 = 3_008_417_572
        let world = try LoaderWorld(length: total)
        let asset = world.asset()
        let result = try await world.replay(
            [
                .ask(0, 0, 2), .end(0), .ask(1, 0, nil), .got(1, 8293), .cancel(1),
                .ask(2, 3_003_580_416, nil), .got(2, 65_536), .cancel(2),
                .ask(3, 1_500_000_256, 65_536), .end(3), .ask(4, total - 1192, 1192), .end(4),
            ], on: asset)
        world.check(asset)
        #expect(result.record(4)?.isToEnd == true && result.record(4)?.received == 1192)
        #expect(await world.settle())
        #expect(world.origin.bodyBytes <= world.given(asset) + 4 * LoaderWorld.aheadOfOnePlace)
    }

    @Test func `R6: a small file with its index at the end is ready before the middle has come`() async throws {
        let world = try LoaderWorld(length: 10_000)
        let asset = world.asset()
        try await world.replay(
            [.ask(1, 0, 2), .end(1), .ask(2, 9_900, 100), .end(2), .ask(3, 2, nil), .end(3)], on: asset)
        world.check(asset)
        #expect(await world.settle())
        #expect(world.origin.bodyBytes <= 20_000)
    }

    @Test func `R7: a second request while the first is open does not wait for it`() async throws {
        let world = try LoaderWorld(length: 808_789) { $0.bytesPerSecond = 2_000_000 }
        let asset = world.asset()
        try await world.replay(
            [
                .ask(0, 0, 2), .end(0), .ask(1, 0, 65_536), .ask(2, 109_976, 808_789 - 109_976), .end(2), .end(1),
            ], on: asset)
        world.check(asset)
        #expect(await world.settle())
        #expect(world.origin.bodyBytes <= 808_789 + 2 * 32 * 1024)
    }

    @Test func `R8: seeks towards the end of an mp3, the last for 1192 bytes, end promptly`() async throws {
        let total: Int64 = 38_075_437
        let world = try LoaderWorld(length: total, signature: PositionCodedContent.mp3Signature) {
            $0.contentType = "audio/mpeg"
        }
        let asset = world.asset()
        let result = try await world.replay(
            [
                .ask(0, 0, 2), .end(0), .ask(1, 28_704_768, nil), .got(1, 200_000), .cancel(1),
                .ask(2, 32_178_176, 5_897_261), .got(2, 300_000), .cancel(2), .ask(3, 38_074_245, 1192), .end(3),
            ], on: asset)
        world.check(asset)
        #expect(result.record(0)?.information?.contentType == "public.mp3")
        #expect(result.record(3)?.received == 1192)
    }

    @Test func `R9: the same range again and again is answered without the network`() async throws {
        let world = try LoaderWorld(length: 2_879_868_271)
        let asset = world.asset()
        try await world.replay([.ask(0, 0, 2), .end(0), .ask(1, 1_638_400, 262_144), .end(1)], on: asset)
        #expect(await world.settle())
        world.origin.resetLog()
        for _ in 0..<20 { try await world.replay([.ask(1, 1_638_400, 262_144), .end(1)], on: asset) }
        world.check(asset)
        #expect(world.origin.requestCount == 0)
    }

    @Test func `R11: the new request comes before the cancel of the old one, bug12`() async throws {
        let world = try LoaderWorld(length: 20_000_000)
        let asset = world.asset()
        let result = try await world.replay(
            [
                .ask(0, 0, 2), .end(0), .ask(1, 0, nil), .got(1, 100_000), .ask(2, 12_000_000, nil), .cancel(1),
                .got(2, 500_000), .cancel(2),
            ], on: asset)
        world.check(asset)
        #expect(result.record(1)?.outcome != nil)
        #expect(try #require(result.record(2)).received >= 500_000)
    }

    @Test func `R12: cancelLoading ends all without a callback, and the downloads stop, mistake14`() async throws {
        let world = try LoaderWorld(length: 60_000_000) { $0.bytesPerSecond = 4_000_000 }
        let asset = world.asset()
        let result = try await world.replay(
            [.ask(0, 0, 2), .end(0), .ask(1, 0, nil), .ask(2, 30_000_000, nil), .got(1, 10_000), .got(2, 10_000)],
            on: asset)
        asset.cancelLoading()
        #expect(await world.settle())
        for id in [1, 2] {
            let record = try #require(result.record(id))
            #expect(record.error?.code == 3072 && record.finishes == 0 && !record.cancelWasDelivered)
        }
        let bytes = world.origin.bodyBytes
        #expect(bytes < 50_000_000)
        world.check(asset)
    }

    @Test func `R17: a failure ends the request with a flat error, and the next one for the same place succeeds`()
        async throws
    {
        let world = try LoaderWorld(length: 38_075_437)
        let asset = world.asset()
        try await world.replay([.ask(0, 0, 2), .end(0)], on: asset)
        #expect(await world.settle())
        world.origin.change("/media/film.mp4") { $0.behaviour.status = 404 }
        let failed = try await world.replay([.ask(1, 28_704_768, nil), .got(1, 1)], on: asset)
        let error = try #require(failed.record(1)?.error)
        #expect(error.domain == NSURLErrorDomain && error.code == -1100)
        #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
        world.origin.change("/media/film.mp4") { $0.behaviour.status = nil }
        try await world.replay([.ask(2, 28_704_768, 65_536), .end(2)], on: asset)
        world.check(asset)
    }

    @Test func `R18, bug33: an answer to another range than asked is not taken`() async throws {
        let world = try LoaderWorld(length: 9_587_590) { $0.contentRange = .wrongEnd }
        let asset = world.asset()
        let result = try await world.replay([.ask(0, 0, 2), .got(0, 2)], on: asset)
        #expect(result.record(0)?.error != nil)
        world.origin.change("/media/film.mp4") { $0.behaviour.contentRange = .none }
        let again = world.asset()
        try await world.replay([.ask(0, 0, 2), .end(0), .ask(1, 0, nil), .end(1)], on: again)
        world.check(again)
    }

    @Test func `R19: a player's own way over HTTP, a pull from ever higher starts, pays once`() async throws {
        let world = try LoaderWorld(length: 6_000_000)
        let asset = world.asset()
        var steps: [TraceStep] = [.ask(0, 0, 2), .end(0)]
        for id in 1...10 {
            let start = Int64(id - 1) * 600_000
            steps.append(.ask(id, start, Int(6_000_000 - start)))
            steps.append(.got(id, 600_000))
            steps.append(.cancel(id))
        }
        try await world.replay(steps, on: asset)
        world.check(asset)
        #expect(await world.settle())
        #expect(world.origin.bodyBytes <= 6_000_000 + 10 * 32 * 1024)
    }
}
