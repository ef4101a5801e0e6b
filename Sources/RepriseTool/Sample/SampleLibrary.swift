#if Server
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseTesting

    /// A small origin on loopback with music that is computed: needs no network and no licence.
    struct SampleLibrary {
        /// Bytes a second, as a slow line gives.
        static let rate: Int64 = 1_000_000

        let server: LoopbackOrigin
        let urls: [OriginURL]

        /// - Parameter port: Where to listen if it is free, so that what is stored is found again after a restart.
        static func start(
            rate: Int64 = SampleLibrary.rate, seconds: [Int] = [180, 120], port: Int = 0
        ) async throws -> SampleLibrary {
            let origin = ScriptedOrigin()
            var behaviour = OriginBehaviour()
            behaviour.bytesPerSecond = rate
            behaviour.contentType = "audio/wav"
            var paths: [String] = []
            for (index, length) in seconds.enumerated() {
                let path = "/music/prelude-\(index + 1).wav"
                let song = SynthesisedMusic(seconds: length, transposition: index * 5)
                origin.put(.init(literal: song.wave(), behaviour), at: path)
                paths.append(path)
            }
            let server: LoopbackOrigin
            do { server = try await LoopbackOrigin.start(origin, port: port) } catch {
                server = try await LoopbackOrigin.start(origin)
            }
            return SampleLibrary(server: server, urls: paths.compactMap { OriginURL(server.url($0)) })
        }

        func stop() async { await server.stop() }
    }
#endif
