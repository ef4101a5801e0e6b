#if Server
    import ArgumentParser
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import ReprisePlatform
    import RepriseProxy
    import RepriseRanges
    import RepriseStorage
    import RepriseTesting

    struct Demo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what the cache does, without network and player.",
            discussion: """
                Plays synthesised music from a loopback origin limited to 1 MB/s: an aborted play, an aborted seek, the \
                whole, the whole again, and once more with the origin stopped. Checks every byte, prints the requests \
                and bytes of each step, and exits with 1 if a goal is missed.
                """)

        func run() async throws {
            try await RepriseTool.run { try await DemoRun().run() }
        }
    }

    /// The demo's script and its table.
    private struct DemoRun {
        struct Row {
            var step: String
            var requests: Int
            var originBytes: Int64
            var delivered: Int64
            var firstByte: Double
        }

        func run() async throws {
            let directory = SystemCalls.temporaryDirectory + "/reprise-demo-\(SystemCalls.processID)"
            let library = try await SampleLibrary.start(seconds: [150])
            let origin = library.server.origin
            guard let url = library.urls.first, let song = origin.resource(at: url.path)?.literal else { return }
            print("an origin on loopback, \(Size(Int64(song.count))) of music, 1 MB/s\n")
            defer { DiskVolume().removeTree(directory) }
            let length = Int64(song.count)
            var rows: [Row] = []
            var unique = ByteRangeSet()
            var wrong = 0

            var stack = try await Stack.start(directory: directory)
            func play(_ step: String, _ from: Int64, limit: Int64) async throws {
                let requests = origin.requestCount
                let bytes = origin.bodyBytes
                let start = SystemCalls.monotonicNanoseconds()
                let answer = try await LoopbackPlayer.play(stack.proxy.address(for: url), from: from, limit: limit)
                let end = min(length, from + limit)
                if answer.bytes != Array(song[Int(from)..<Int(end)]) { wrong += 1 }
                unique.insert(ByteRange(from, end))
                // An aborted transfer takes what is on its way, then stops within a second.
                while stack.cache.activity.transfers > 0, SystemCalls.monotonicNanoseconds() - start < 30_000_000_000 {
                    try await Task.sleep(for: .milliseconds(20))
                }
                rows.append(
                    Row(
                        step: step, requests: origin.requestCount - requests, originBytes: origin.bodyBytes - bytes,
                        delivered: Int64(answer.bytes.count), firstByte: Double(answer.firstByte - start) / 1e6))
            }
            try await play("first play, aborted after 1.5 MB", 0, limit: 1_500_000)
            try await play("seek to 4.5 MB, aborted after 0.5 MB", 4_500_000, limit: 500_000)
            try await play("the whole", 0, limit: length)
            try await play("the whole again", 0, limit: length)
            await stack.stop()
            origin.setDown(true)
            await library.stop()
            stack = try await Stack.start(directory: directory)
            try await play("restarted, the origin gone", 0, limit: length)
            await stack.stop()
            report(rows, unique: unique, wrong: wrong)
            let amplification = Double(rows.reduce(0) { $0 + $1.originBytes }) / Double(unique.count)
            let second = rows.suffix(2).reduce(0) { $0 + $1.requests }
            guard wrong == 0, amplification <= 1.01, second == 0 else { throw ExitCode(1) }
        }

        private func report(_ rows: [Row], unique: ByteRangeSet, wrong: Int) {
            func line(_ columns: [String]) {
                let widths = [36, 8, 12, 12, 14]
                let cells = zip(columns, widths).enumerated().map { index, cell in
                    index == 0
                        ? cell.0 + String(repeating: " ", count: max(0, cell.1 - cell.0.count)) : padded(cell.0, cell.1)
                }
                print(cells.joined(separator: " "))
            }
            line(["step", "requests", "origin bytes", "delivered", "first byte ms"])
            for row in rows {
                line([
                    row.step, "\(row.requests)", "\(row.originBytes)", "\(row.delivered)", milliseconds(row.firstByte),
                ])
            }
            let origin = rows.reduce(0) { $0 + $1.originBytes }
            let amplification = Double(origin) / Double(unique.count)
            let second = rows.suffix(2).reduce(0) { $0 + $1.requests }
            print("\nunique bytes delivered  \(unique.count)")
            print("origin body bytes       \(origin)")
            print(
                "amplification           \(thousandths(amplification))   goal 1.01 or less: \(amplification <= 1.01 ? "met" : "MISSED")"
            )
            print("requests when stored    \(second)       goal 0: \(second == 0 ? "met" : "MISSED")")
            print("answers with a wrong byte  \(wrong)    goal 0: \(wrong == 0 ? "met" : "MISSED")")
        }

        private func milliseconds(_ value: Double) -> String {
            let tenths = Int((value * 10).rounded())
            return "\(tenths / 10).\(tenths % 10)"
        }

        private func thousandths(_ value: Double) -> String {
            let number = Int((value * 1000).rounded())
            return "\(number / 1000)." + String("\(1000 + number % 1000)".dropFirst())
        }
    }

    /// A cache and a proxy over one directory.
    private struct Stack {
        let client: AsyncHTTPOriginClient
        let cache: MediaCache
        let proxy: MediaProxy

        static func start(directory: String) async throws -> Stack {
            let client = AsyncHTTPOriginClient()
            let cache: MediaCache
            do throws(StoreError) { cache = try MediaCache(directory: directory, client: client) } catch {
                throw Failure(error)
            }
            return Stack(client: client, cache: cache, proxy: try await MediaProxy.start(cache: cache))
        }

        func stop() async {
            await proxy.stop()
            await cache.close()
            try? await client.shutdown()
        }
    }
#endif
