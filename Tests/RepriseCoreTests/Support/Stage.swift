import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// A cache on real threads over a scripted origin, for what is asynchronous: files in memory, or in a directory.
final class Stage: Sendable {
    let origin = ScriptedOrigin()
    let queues = UnhurriedQueues()
    let memory = SimulatedDisk()
    let files: FaultyVolume
    let folders = RecordingFolders()

    init() { files = FaultyVolume(memory) }

    func open(_ location: StoreLocation = .offline()) throws -> MediaCache {
        let opener = StoreOpener(location: location, volume: files, folders: folders)
        var configuration = MediaCache.Configuration()
        // What a busy machine does not finish in time is no disk that hangs: that is another test's matter.
        configuration.tuning.diskTimeout = 3600 * TransferTuning.second
        configuration.tuning.spaceTimeout = 3600 * TransferTuning.second
        return try MediaCache(opener: opener, client: client, configuration: configuration, queues: queues)
    }

    var client: InMemoryOriginClient { InMemoryOriginClient(origin: origin, queues: queues) }

    func url(_ path: String) -> URL { URL(string: "http://origin.test" + path)! }

    func put(_ path: String, length: Int64, generation: Int = 1, _ change: (inout OriginBehaviour) -> Void = { _ in }) {
        var behaviour = OriginBehaviour()
        change(&behaviour)
        origin.put(.init(PositionCodedContent(length: length, generation: generation), behaviour), at: path)
    }

    /// Reads a range to its end and checks every byte; answers how many came.
    @discardableResult
    func read(
        _ path: String, _ range: ByteRange = .from(0), from cache: MediaCache, generation: Int = 1,
        location: SourceLocation = #_sourceLocation
    ) async throws -> Int64 {
        let content = PositionCodedContent(length: .max, generation: generation)
        var position = range.lowerBound
        for try await chunk in try cache.resource(for: url(path)).bytes(in: range) {
            #expect(chunk.offset == position, sourceLocation: location)
            #expect(content.firstMismatch(chunk.bytes, at: chunk.offset) == nil, sourceLocation: location)
            position += Int64(chunk.bytes.count)
        }
        return position - range.lowerBound
    }
}
