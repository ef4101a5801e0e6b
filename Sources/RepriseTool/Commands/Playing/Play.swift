#if Server
    import ArgumentParser
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseProxy
    import UnixSignals
    import RepriseStorage

    struct Play: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Play a URL through the cache with an installed player.",
            discussion: """
                Runs --player, else the first installed one of mpv, ffplay and vlc. The player uses the server that holds \
                the store; if there is none, one runs as long as the player. Arguments after -- go to the player. Exits \
                with the player's exit code.
                """)

        /// Players that are looked for, in this order.
        private static let players = ["mpv", "ffplay", "vlc"]

        @OptionGroup var store: StoreOptions
        @OptionGroup var upstreams: UpstreamOptions
        @Option(help: "Name or path of the player.")
        var player: String?
        @Argument(help: "URL of the media.")
        var url: String
        @Argument(parsing: .postTerminator, help: "Arguments for the player.")
        var arguments: [String] = []

        func run() async throws {
            try await RepriseTool.run {
                let source = try parseURL(url)
                let rules = try store.configuration()
                let program = try findPlayer()
                switch try store.hold() {
                case .server(let server):
                    let token = server.file.hasToken ? try store.token() : nil
                    try await start(program, server.file.media + RequestTarget.target(for: source, token: token))
                case .us(let opened):
                    let client = try upstreams.makeClient(store)
                    try await play(
                        source, MediaCache(store: opened, client: client, configuration: rules), client, program)
                case .memory(let bytes):
                    let client = try upstreams.makeClient(store)
                    let cache = try MediaCache(on: MemoryVolume(capacity: bytes), client: client, configuration: rules)
                    try await play(source, cache, client, program)
                }
            }
        }

        private func play(
            _ source: OriginURL, _ cache: MediaCache, _ client: AsyncHTTPOriginClient, _ program: URL
        ) async throws {
            let proxy = try await MediaProxy.start(cache: cache)
            let failure = await caught { try await start(program, proxy.address(for: source)) }
            await proxy.stop()
            await cache.close()
            try await client.shutdown()
            if let failure { throw failure }
        }

        private func findPlayer() throws -> URL {
            let names = player.map { [$0] } ?? Play.players
            for name in names {
                if name.contains("/") {
                    if FileManager.default.isExecutableFile(atPath: name) { return URL(fileURLWithPath: name) }
                    continue
                }
                for folder in (SystemCalls.environment("PATH") ?? "").split(separator: ":") {
                    let path = folder + "/" + name
                    if FileManager.default.isExecutableFile(atPath: path) { return URL(fileURLWithPath: path) }
                }
            }
            throw Failure(
                69,
                player.map { "\($0) is not installed or not executable" }
                    ?? "none of \(Play.players.joined(separator: ", ")) is installed; name a player with --player")
        }

        private func start(_ program: URL, _ address: String) async throws {
            let process = Process()
            process.executableURL = program
            process.arguments = arguments + [address]
            // An interrupt reaches the player by itself; this program ends after it, in order.
            let signals = Task {
                for await signal in await UnixSignalsSequence(trapping: [.sigint, .sigterm]) where signal == .sigterm {
                    process.terminate()
                }
            }
            defer { signals.cancel() }
            let status: Int32 = try await withCheckedThrowingContinuation { done in
                process.terminationHandler = { done.resume(returning: $0.terminationStatus) }
                do { try process.run() } catch { done.resume(throwing: error) }
            }
            if status != 0 { throw ExitCode(status) }
        }
    }
#endif
