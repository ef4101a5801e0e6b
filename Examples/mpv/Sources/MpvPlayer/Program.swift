import Dispatch
import Foundation
import RepriseCore
import RepriseURLSession

/// Plays a URL with libmpv, which reads from the cache: no HTTP between.
@main
struct Program {
    private static let usage = """
        usage: MpvPlayer [--null] [--directory DIRECTORY] [--set NAME=VALUE ...] URL
          --null        no picture, no sound, as fast as it can
          --directory   where what is played is kept
          --set         an option of mpv, for example start=30

        """

    private var isNull = false
    private var directory = FileManager.default.temporaryDirectory.appendingPathComponent("reprise-mpv").path
    private var options: [(name: String, value: String)] = []
    private var address = ""

    static func main() async {
        guard let program = Program(CommandLine.arguments.dropFirst()) else {
            FileHandle.standardError.write(Data(usage.utf8))
            exit(64)
        }
        do { exit(try await program.run()) } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private init?(_ words: some Sequence<String>) {
        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "--null": isNull = true
            case "--directory":
                guard let value = words.next() else { return nil }
                directory = value
            case "--set":
                guard let parts = words.next()?.split(separator: "=", maxSplits: 1).map(String.init), parts.count == 2
                else { return nil }
                options.append((parts[0], parts[1]))
            case _ where !word.hasPrefix("-") && address.isEmpty: address = word
            default: return nil
            }
        }
        if address.isEmpty { return nil }
    }

    /// The exit status: 0 at the end of the media, 130 where it was stopped.
    private func run() async throws -> Int32 {
        let cache = try MediaCache(directory: directory, client: URLSessionOriginClient())
        let end = await play(from: cache)
        await cache.close()
        let sums = cache.statistics
        tell(
            "from the origin: \(sums.fromOrigin) bytes in \(sums.originRequests) requests; stored: \(sums.stored) bytes"
        )
        return try end.get() == .finished ? 0 : 130
    }

    /// Plays on a thread of its own: libmpv's event loop blocks it.
    private func play(from cache: MediaCache) async -> Result<Player.End, any Error> {
        await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: Result { try play(from: cache) }) }
        }
    }

    private func play(from cache: MediaCache) throws -> Player.End {
        let silent = [("vo", "null"), ("ao", "null"), ("untimed", "yes"), ("ao-null-untimed", "yes"), ("ytdl", "no")]
        let streams = CacheStreams(cache)
        defer { withExtendedLifetime(streams) {} }
        let player = try Player(
            options: (isNull
                ? silent : [("osc", "yes"), ("input-default-bindings", "yes"), ("input-vo-keyboard", "yes")]) + options)
        defer { player.destroy() }
        try player.register(streams)
        return try player.play("\(CacheStreams.scheme)://\(address)") { position, length in
            tell("position \(Int(position)) of \(Int(length)) s")
        }
    }
}
