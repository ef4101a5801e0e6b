import AVFoundation
import Foundation
import RepriseTesting
import Testing

@testable import RepriseAVFoundation

/// A caching player on a clock that a test moves, with songs on a scripted origin: real loaders, real threads, real files.
/// A second of a song is 128,000 bytes.
@MainActor
final class PlayerWorld {
    let media: LoaderWorld
    let clock = SimulatedClock()
    let player: CachingPlayer
    /// How items ended so far.
    private(set) var ends: [PlaybackEnd.Reason] = []
    private var collector: Task<Void, Never>?

    nonisolated static let second: Int64 = 128_000

    /// - Parameters:
    ///   - songs: How many; they are at /0.mp4, /1.mp4 and so on.
    ///   - seconds: How long each of them is.
    init(songs: Int = 1, seconds: Int64 = 10, _ configuration: CachingPlayer.Configuration = .init()) throws {
        let media = try LoaderWorld(length: seconds * Self.second, path: "/0.mp4")
        for number in 1..<max(2, songs) where number < songs {
            var behaviour = OriginBehaviour()
            behaviour.contentType = "video/mp4"
            media.origin.put(.init(media.content, behaviour), at: Self.path(number))
        }
        self.media = media
        player = SimulatedClock.$shared.withValue(clock) {
            CachingPlayer(cache: media.cache, configuration: configuration)
        }
        let stream = player.ends()
        collector = Task { [weak self] in for await end in stream { self?.ends.append(end.reason) } }
    }

    deinit { collector?.cancel() }

    nonisolated static func path(_ number: Int) -> String { "/\(number).mp4" }
    nonisolated static func url(_ number: Int) -> URL { URL(string: "https://origin.test/\(number).mp4")! }
    nonisolated static func songs(_ count: Int) -> [PlaybackSource] { (0..<count).map { .url(url($0)) } }

    /// Lets no byte of a song from `offset` on through, or all again.
    func hold(_ number: Int = 0, at offset: Int64?) {
        media.origin.change(Self.path(number)) { $0.behaviour.body = offset.map { .reset(at: $0) } ?? .none }
    }

    /// Waits until the condition holds.
    func until(
        _ condition: @escaping @MainActor @Sendable () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let holds = await eventually { MainActor.assumeIsolated { condition() } }
        #expect(
            holds, "\(player.state) at \(player.position) of \(player.currentIndex ?? -1)",
            sourceLocation: sourceLocation)
    }

    /// Lets so many seconds pass, but none in which the player would want for bytes.
    func play(_ seconds: Double, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        await until({ [player] in player.state == .playing }, sourceLocation: sourceLocation)
        try await player.player.simulatePlaying(seconds: seconds)
    }

    /// How often a song was asked for at the origin.
    func requests(_ number: Int) -> Int { media.origin.log.count { $0.path == Self.path(number) } }

    var traps: [SimulatedTrap] {
        player.player.simulationTraps + player.player.items().flatMap(\.simulationTraps)
    }
}

extension AVURLAsset {
    /// Whether the readers of the asset ask for nothing.
    var isCachingPaused: Bool {
        guard let loader = routeHolder?.loader else { return false }
        return loader.queue.sync { loader.isPaused }
    }
}
