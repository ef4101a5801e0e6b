import AVFoundation
import Foundation
import RepriseCore
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// Ten thousand random seeks in one run: cancels early, late and left out, requests open together, small reads between.
@Suite struct SeekStormTests {
    @Test func `ten thousand seeks: every byte right, nothing hangs, nothing is bought twice, inv06 inv10 inv26 bug12`()
        async throws
    {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["REPRISE_SEED"].flatMap { UInt64($0) } ?? 20_261
        let seeks = environment["REPRISE_SEEKS"].flatMap { Int($0) } ?? 10_000
        let length: Int64 = 8_000_000
        let world = try LoaderWorld(length: length)
        let asset = world.asset()
        var random = SeededGenerator(seed: seed)
        var open: [SimulatedRequest] = []
        try await world.replay([.ask(0, 0, 2), .end(0)], on: asset)
        for number in 0..<seeks {
            // Positions are those of a player: whole blocks, now and then a sample in the middle of one.
            var offset = Int64.random(in: 0..<length / 65_536, using: &random) * 65_536
            if number % 10 == 0 { offset += Int64.random(in: 1..<65_536, using: &random) }
            let isToEnd = number % 4 == 0
            let isCancelLate = number % 3 == 0
            if !isCancelLate { for request in open { request.cancel() } }
            let before = open
            open = []
            let request = asset.resourceLoader.simulateRequest(
                offset: offset, length: isToEnd ? nil : Int(min(65_536, length - offset)), keepsBytes: false)
            if isCancelLate { for request in before { request.cancel() } }
            open.append(request)
            // Most seeks wait for the first bytes, some are over before any have come.
            if number % 7 != 0 {
                let wanted = Int64(isToEnd ? 16_384 : 1)
                let count = try await request.received(atLeast: min(wanted, length - offset))
                #expect(count >= min(wanted, length - offset), "seed \(seed), seek \(number) at \(offset)")
            }
        }
        for request in open { request.cancel() }
        world.check(asset)
        #expect(await world.settle(), "seed \(seed)")
        #expect(world.origin.bodyBytes <= length + length / 8, "seed \(seed)")
        print("seeks: \(seeks), seed \(seed), origin \(world.origin.bodyBytes) of \(length) bytes")
    }
}
