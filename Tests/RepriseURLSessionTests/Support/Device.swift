import Foundation
import RepriseCore
import ReprisePlatform
import RepriseStorage
import RepriseTesting
import RepriseURLSession

/// A cache on a real directory that fetches by the client under test from a real socket.
final class Device: Sendable {
    let origin = ScriptedOrigin()
    let server: SocketOrigin
    let cache: MediaCache
    private let directory = TemporaryDirectory()

    init(
        _ configuration: URLSessionOriginClient.Configuration = URLSessionOriginClient.Configuration(),
        cache cached: MediaCache.Configuration = MediaCache.Configuration()
    ) throws {
        server = try SocketOrigin(origin)
        cache = try MediaCache(
            directory: directory.path + "/store", client: URLSessionOriginClient(configuration: configuration),
            configuration: cached)
    }

    func put(_ path: String, length: Int64, _ change: (inout OriginBehaviour) -> Void = { _ in }) {
        var behaviour = OriginBehaviour()
        change(&behaviour)
        origin.put(.init(PositionCodedContent(length: length), behaviour), at: path)
    }

    func url(_ path: String) throws -> URL {
        guard let url = URL(string: server.base + path) else { throw CacheFault(path) }
        return url
    }

    struct CacheFault: Error {
        var text: String
        init(_ text: String) { self.text = text }
    }
}
