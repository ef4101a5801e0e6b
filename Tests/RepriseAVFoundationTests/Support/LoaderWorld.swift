import AVFoundation
import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// A scripted origin, a cache on a real disk, real threads, and assets of it whose every byte is checked against its
/// position as it reaches the player.
final class LoaderWorld: Sendable {
    static let url = URL(string: "https://origin.test/media/film.mp4?id=7")!

    let directory = TemporaryDirectory()
    let origin = ScriptedOrigin()
    let queues = SystemWorkQueues()
    let content: PositionCodedContent
    let cache: MediaCache
    private let wrong = Offences()

    /// - Parameter signature: What the first bytes say the file is; an mp4's file type by default.
    init(
        length: Int64, signature: [UInt8] = LoaderWorld.mp4, path: String = "/media/film.mp4",
        configuration: MediaCache.Configuration = .init(), _ change: (inout OriginBehaviour) -> Void = { _ in }
    ) throws {
        content = PositionCodedContent(length: length, signature: signature)
        var behaviour = OriginBehaviour()
        behaviour.contentType = "video/mp4"
        change(&behaviour)
        origin.put(.init(content, behaviour), at: path)
        let store = try Store(root: directory.path + "/store", volume: DiskVolume())
        cache = MediaCache(
            store: store, client: InMemoryOriginClient(origin: origin, queues: queues, pieceSize: 64 * 1024),
            configuration: configuration, queues: queues)
    }

    static let mp4: [UInt8] = [0, 0, 0, 16] + Array("ftypisom".utf8)

    /// An asset of the content, its responds checked.
    func asset(_ url: URL = LoaderWorld.url, _ behaviour: SimulatedBehaviour = .init()) -> AVURLAsset {
        let asset = cache.asset(for: url)
        asset.resourceLoader.simulationBehaviour = behaviour
        asset.resourceLoader.simulationOnRespond { [content, wrong] offset, data in
            if let place = content.firstMismatch(data, at: offset) { wrong.add(place) }
        }
        return asset
    }

    /// An asset whose loader's clock stands still until it is moved: what is paced waits.
    func asset(clock: ManualQueues) throws -> (asset: AVURLAsset, loader: AssetLoader) {
        let asset = AVURLAsset(url: try #require(AssetAddress.mediated(Self.url)))
        let loader = AssetLoader(
            resource: try cache.resource(for: Self.url), url: Self.url, headers: [:], clock: clock, router: nil)
        asset.resourceLoader.setDelegate(loader, queue: loader.queue)
        return (asset, loader)
    }

    /// Brings everything to the disk, as a first play does.
    func fill() async throws {
        for try await chunk in try cache.resource(for: Self.url).bytes() { _ = chunk }
        #expect(await settle())
    }

    /// Bytes that a player was given, each counted once.
    func given(_ asset: AVURLAsset) -> Int64 {
        var ranges = ByteRangeSet()
        for request in asset.resourceLoader.simulationRecord.requests where request.received > 0 {
            ranges.insert(ByteRange(offset: request.offset, count: request.received))
        }
        return ranges.count
    }

    /// What may be bought for each place that a player begins at, beyond what it takes: the read-ahead, what is on its
    /// way when it leaves, and the first request of a look.
    static let aheadOfOnePlace: Int64 = (384 + 128 + 256) * 1024

    /// Where a byte reached a player that was not the content's.
    var wrongBytes: [Int64] { wrong.all }

    /// Waits until the bytes on their way to the disk have arrived there and nobody reads or fetches.
    func settle() async -> Bool {
        await eventually { [cache] in cache.activity == (0, 0) && cache.openEntries.allSatisfy { !$0.isWriting } }
    }

    /// What the player saw of the asset must be whole: no wrong byte, no trap, each ended request ended once.
    func check(_ asset: AVURLAsset, sourceLocation: SourceLocation = #_sourceLocation) {
        let record = asset.resourceLoader.simulationRecord
        #expect(wrongBytes.isEmpty, sourceLocation: sourceLocation)
        #expect(record.traps.isEmpty, sourceLocation: sourceLocation)
        for request in record.requests {
            #expect(request.finishes <= 1, "request \(request.identifier)", sourceLocation: sourceLocation)
            #expect(request.emptyResponds == 0, sourceLocation: sourceLocation)
            #expect(request.excess == 0, "request \(request.identifier)", sourceLocation: sourceLocation)
            #expect(request.largestRespond <= 262_144, sourceLocation: sourceLocation)
            #expect(!request.isAbandoned, "request \(request.identifier)", sourceLocation: sourceLocation)
            if request.outcome == .finished, request.kind == .media {
                let (wanted, overflows) = request.offset.addingReportingOverflow(Int64(request.length))
                let end = overflows ? content.length : min(content.length, wanted)
                #expect(request.currentOffset == end, "request \(request.identifier)", sourceLocation: sourceLocation)
            }
        }
    }
}

/// Offsets at which a player got a wrong byte.
private final class Offences: Sendable {
    private let places = Lock<[Int64]>([])

    func add(_ place: Int64) { places.withLock { $0.append(place) } }
    var all: [Int64] { places.withLock { $0 } }
}

/// A step of a trace: what a player did, and how much it had by then.
enum TraceStep: Sendable {
    /// Asks for `length` bytes from `offset`, or to the end; named by `id` from here on.
    case ask(Int, Int64, Int?)
    /// Has got at least so many bytes.
    case got(Int, Int64)
    /// Wants no more.
    case cancel(Int)
    /// Has got all.
    case end(Int)
}

/// What came of a trace.
struct TraceResult: Sendable {
    var requests: [Int: SimulatedRequest] = [:]

    func record(_ id: Int) -> SimulatedLoaderRecord.Request? { requests[id]?.record }
}

extension LoaderWorld {
    /// Replays a trace against an asset. Every wait ends: with the bytes, or with the test failing on a request that hangs.
    @discardableResult
    func replay(
        _ steps: [TraceStep], on asset: AVURLAsset, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TraceResult {
        var result = TraceResult()
        for step in steps {
            switch step {
            case .ask(let id, let offset, let length):
                result.requests[id] = asset.resourceLoader.simulateRequest(
                    offset: offset, length: length, keepsBytes: false)
            case .got(let id, let count):
                let request = try #require(result.requests[id])
                let isThere = await eventually { request.record.received >= count || request.record.outcome != nil }
                #expect(isThere, "request \(id) hangs", sourceLocation: sourceLocation)
            case .cancel(let id): result.requests[id]?.cancel()
            case .end(let id):
                let request = try #require(result.requests[id])
                let hasEnded = await eventually { request.record.outcome != nil }
                #expect(hasEnded, "request \(id) hangs", sourceLocation: sourceLocation)
                #expect(request.record.outcome == .finished, "request \(id)", sourceLocation: sourceLocation)
            }
        }
        return result
    }
}
