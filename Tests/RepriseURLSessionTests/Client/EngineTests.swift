import Foundation
import RepriseCore
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import RepriseURLSession
import Testing

/// The engine on top of the client: what is played once is not paid for again.
@Suite struct EngineTests {
    private func read(_ device: Device, _ path: String, _ range: ByteRange? = nil, length: Int64) async throws -> Int64
    {
        let content = PositionCodedContent(length: length)
        var count: Int64 = 0
        for try await chunk in try device.cache.resource(for: device.url(path)).bytes(in: range) {
            #expect(content.firstMismatch(chunk.bytes, at: chunk.offset) == nil)
            count += Int64(chunk.bytes.count)
        }
        return count
    }

    @Test func `a film comes over the network once, byte for byte, and the second play costs nothing, inv10 inv13`()
        async throws
    {
        let device = try Device()
        device.put("/film.mp4", length: 6_000_000)
        #expect(try await read(device, "/film.mp4", length: 6_000_000) == 6_000_000)
        #expect(device.origin.bodyBytes == 6_000_000)
        device.origin.resetLog()
        #expect(try await read(device, "/film.mp4", length: 6_000_000) == 6_000_000)
        #expect(device.origin.requestCount == 0)
        #expect(device.server.accepted <= 4)
        await device.cache.close()
    }

    @Test func `a connection that breaks in the middle is gone on from there, bug09`() async throws {
        let device = try Device()
        device.put("/a", length: 4_000_000) { behaviour in
            behaviour.body = .reset(at: 900_000)
            behaviour.faultyRequests = 3
        }
        #expect(try await read(device, "/a", length: 4_000_000) == 4_000_000)
        // A reset throws away what the client had not taken out of its socket yet, of a request that began at 262,144 or later;
        // to begin anew each time would cost 900,000.
        #expect(device.origin.bodyBytes <= 4_000_000 + 3 * (900_000 - 262_144))
        await device.cache.close()
    }

    @Test func `an origin without ranges is played and kept`() async throws {
        let device = try Device()
        device.put("/a", length: 2_000_000) { $0.ranges = .ignored }
        #expect(try await read(device, "/a", length: 2_000_000) == 2_000_000)
        device.origin.setDown(true)
        #expect(try await read(device, "/a", ByteRange(5, 700_000), length: 2_000_000) == 699_995)
        await device.cache.close()
    }

    @Test func `a seek costs the origin little more than what was read, inv10`() async throws {
        let device = try Device()
        device.put("/a", length: 50_000_000)
        for start in [Int64(0), 40_000_000, 20_000_000] {
            #expect(
                try await read(device, "/a", ByteRange(start, start + 100_000), length: 50_000_000) == 100_000)
        }
        #expect(device.origin.bodyBytes < 3 * 400_000)
        await device.cache.close()
    }

    @Test func `when the path returns the cache tries at once, and the watch ends with the cache, bug24`()
        async throws
    {
        let path = ManualNetworkPath()
        let port = try LoopbackPort.unused()
        var configuration = MediaCache.Configuration()
        // No try comes by itself, and the reader does not give up before the last.
        configuration.tuning.firstRetry = 600 * TransferTuning.second
        configuration.tuning.longestRetry = 600 * TransferTuning.second
        configuration.tuning.openDeadline = 600 * TransferTuning.second
        var kept: MediaCache? = try MediaCache(
            directory: TemporaryDirectory().path + "/store", client: URLSessionOriginClient(),
            configuration: configuration)
        kept?.retryAtOnce(whenReturns: path)
        path.pathReturned()
        let failures = Lock(0)
        let subscription = kept?.onEvent { event in
            if case .originError = event { failures.withLock { $0 += 1 } }
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/a"))
        let resource = try kept?.resource(for: url)
        let reading = Task {
            for try await _ in try #require(resource).bytes() {}
        }
        for round in 1...6 {
            try #require(await eventually { failures.withLock { $0 } >= round })
            path.pathReturned()
        }
        reading.cancel()
        await #expect(throws: (any Error).self) { try await reading.value }
        _ = subscription
        await kept?.close()
        kept = nil
        path.pathReturned()
    }
}
