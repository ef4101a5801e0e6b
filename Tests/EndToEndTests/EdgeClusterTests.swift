#if Server
    import Foundation
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Three nodes behind the balancer that `deploy/` ships, and one of them dies.
    @Suite(.serialized) struct EdgeClusterTests {
        /// A show in pieces, as streams have them.
        private static let pieces = (1...24).map { "/show/piece-\($0).m4s" }
        private static let pieceLength: Int64 = 300_000

        private func put(_ cluster: EdgeCluster) -> PositionCodedContent {
            var behaviour = OriginBehaviour()
            behaviour.contentType = "video/mp4"
            behaviour.extraFields["Cache-Control"] = "public, max-age=3600"
            let content = PositionCodedContent(length: Self.pieceLength)
            for path in Self.pieces { cluster.origin.put(.init(content, behaviour), at: path) }
            return content
        }

        /// Every other piece is signed: the node is the piece's, whatever the query.
        private func address(_ cluster: EdgeCluster, _ path: String) -> String {
            cluster.url(path) + (path.utf8.count % 2 == 0 ? "" : "?token=1")
        }

        private func playAll(_ cluster: EdgeCluster, _ content: PositionCodedContent) async throws {
            let directory = try WorkDirectory()
            for path in Self.pieces {
                let answer = try await Command.run("curl", ["-sS", "-f", address(cluster, path)], in: directory.path)
                #expect(answer.status == 0, "\(path): \(answer.errors)")
                #expect(Int64(answer.output.count) == Self.pieceLength)
                #expect(content.firstMismatch(answer.output, at: 0) == nil, "\(path)")
            }
        }

        @Test func `each object is fetched once by its one owner, and a dead node's share alone moves`() async throws {
            try await EdgeCluster.run { cluster in
                let origin = cluster.origin
                let content = put(cluster)
                try await playAll(cluster, content)
                let unique = Int64(Self.pieces.count) * Self.pieceLength
                #expect(origin.bodyBytes == unique, "the origin sent what nobody needed")
                let owners = try Dictionary(
                    uniqueKeysWithValues: Self.pieces.map { path in
                        let askers = cluster.askers(of: path)
                        #expect(askers.count == 1, "\(path) was asked for by \(askers)")
                        return (path, try #require(askers.first))
                    })
                #expect(Set(owners.values) == [1, 2, 3], "a node has nothing to do")

                origin.resetLog()
                try await playAll(cluster, content)
                #expect(origin.requestCount == 0, "the second play cost the origin something")

                cluster.kill(2)
                try await playAll(cluster, content)
                for path in Self.pieces {
                    let askers = cluster.askers(of: path)
                    if owners[path] == 2 {
                        #expect(askers.count == 1 && askers != [2], "\(path) was fetched by \(askers)")
                    } else {
                        #expect(askers.isEmpty, "\(path) has not moved, and was fetched again by \(askers)")
                    }
                }
                let moved = Int64(owners.values.count { $0 == 2 }) * Self.pieceLength
                #expect(origin.bodyBytes == moved, "more than the dead node's share was fetched")

                // It comes back to the same place on the ring, with its store.
                try cluster.restart(2)
                let its = try #require(Self.pieces.first { owners[$0] == 2 })
                try await waitUntil(cluster, 2, answersFor: its)
                // Until then its piece may be asked of a node that has not got it: what was sent to a dead node goes to any
                // other, and only once it is known to be dead to the next on the ring.
                origin.resetLog()
                try await playAll(cluster, content)
                #expect(origin.requestCount == 0, "\(origin.log.map(\.target)) were fetched again")
            }
        }

        private func waitUntil(_ cluster: EdgeCluster, _ node: Int, answersFor path: String) async throws {
            let directory = try WorkDirectory()
            let deadline = ContinuousClock.now + .seconds(60)
            while true {
                let answer = try await Command.run("curl", ["-sS", "-I", address(cluster, path)], in: directory.path)
                if String(decoding: answer.output, as: UTF8.self).contains("edge-\(node); hit") { return }
                try #require(ContinuousClock.now < deadline, "the balancer has not taken node \(node) back")
            }
        }

        @Test func `players play on when the node they play from is killed`() async throws {
            let sample = MediaSample.flac
            let bytes = try await MediaLibrary.shared().bytes(of: sample)
            try await EdgeCluster.run { cluster in
                let origin = cluster.origin
                var behaviour = OriginBehaviour()
                behaviour.contentType = sample.contentType
                behaviour.extraFields["Cache-Control"] = "public, max-age=3600"
                origin.put(.init(literal: bytes, behaviour), at: "/direct.flac")
                // No more than the half comes until the node is dead, however late that is.
                let half = Int64(bytes.count) / 2
                behaviour.body = .stall(at: half)
                origin.put(.init(literal: bytes, behaviour), at: "/film.flac")
                let direct = try await MediaPlayer.ffmpeg.play(cluster.upstream.url("/direct.flac"))
                origin.resetLog()

                let address = cluster.url("/film.flac")
                async let decoded = decode(address)
                let directory = try WorkDirectory()
                let file = directory.path + "/film"
                async let downloaded = download(address, to: file, in: directory.path)
                let isPlaying = { @Sendable in
                    origin.bodyBytes > half / 2 && FileManager.default.contents(atPath: file)?.isEmpty == false
                }
                #expect(await eventually(isPlaying), "nothing is played")
                let owner = try #require(cluster.askers(of: "/film.flac").first)
                origin.change("/film.flac") { $0.behaviour.body = .none }
                cluster.kill(owner)

                #expect(try await decoded == direct)
                #expect(try await downloaded == Data(bytes))
                let askers = cluster.askers(of: "/film.flac")
                #expect(askers.count == 2, "one node after the other, not \(askers)")
                // What the dead node had, and what was on its way to it, is paid for twice; nothing else is.
                #expect(origin.bodyBytes < 2 * Int64(bytes.count))
            }
        }

        /// A player that opens the film again where it was cut off.
        private func decode(_ address: String) async throws -> Playback {
            let directory = try WorkDirectory()
            let file = directory.path + "/out"
            let reconnecting = ["-reconnect", "1", "-reconnect_on_network_error", "1"]
            let result = try await Command.run(
                "ffmpeg",
                ["-nostdin", "-v", "error"] + reconnecting + ["-i", address, "-map", "0:a:0", "-f", "framemd5", file],
                in: directory.path)
            #expect(result.status == 0, "\(result.errors)")
            return Playback(FileManager.default.contents(atPath: file) ?? Data())
        }

        /// A download that goes on with a Range where it was cut off.
        private func download(_ address: String, to file: String, in directory: String) async throws -> Data {
            var cuts = 0
            while true {
                let result = try await Command.run("curl", ["-sS", "-C", "-", "-o", file, address], in: directory)
                if result.status == 0 { break }
                cuts += 1
                try #require(cuts <= 5, "\(result.errors)")
            }
            #expect(cuts > 0, "the node died behind its back")
            return FileManager.default.contents(atPath: file) ?? Data()
        }
    }
#endif
