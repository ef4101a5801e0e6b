#if Server
    import Foundation
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseTesting

    /// Three nodes `reprise serve --origin … --node edge-N` behind a real HAProxy with the configuration that is shipped.
    final class EdgeCluster {
        static let size = 3

        let origin = ScriptedOrigin()
        let upstream: LoopbackOrigin
        private(set) var nodes: [Program.Server?] = []
        private let ports: [Int]
        private let balancer: Balancer
        private let directory: WorkDirectory

        /// Runs `body` with a cluster and takes it down afterwards.
        static func run(_ body: (EdgeCluster) async throws -> Void) async throws {
            let cluster = try await EdgeCluster()
            let outcome = await Outcome {
                try await cluster.balancer.waitUntilReady(cluster.directory)
                try await body(cluster)
            }
            cluster.balancer.stop()
            for node in cluster.nodes { node?.stop() }
            await cluster.upstream.stop()
            try outcome.get()
        }

        private init() async throws {
            upstream = try await LoopbackOrigin.start(origin)
            directory = try WorkDirectory()
            for number in 1...EdgeCluster.size { nodes.append(try Self.start(number, 0, upstream, directory)) }
            ports = nodes.map { $0?.port ?? 0 }
            balancer = try await Balancer(nodes: ports, log: directory.path + "/balancer.log")
        }

        private static func start(
            _ number: Int, _ port: Int, _ upstream: LoopbackOrigin, _ directory: WorkDirectory
        ) throws -> Program.Server {
            try Program.Server(
                directory: directory.path + "/edge-\(number)", port: port,
                arguments: ["--origin", upstream.url(""), "--node", "edge-\(number)", "--threads", "1"])
        }

        /// Where a player plays `path`.
        func url(_ path: String) -> String { "http://127.0.0.1:\(balancer.port)\(path)" }

        /// The nodes, by their numbers from 1 on, that asked the origin for `path`.
        func askers(of path: String) -> Set<Int> {
            Set(
                origin.log.filter { $0.path == path }.compactMap { request in
                    request.fields["Via"]?.split(separator: "-").last.flatMap { Int($0) }
                })
        }

        /// `kill -9`, in the middle of whatever it does.
        func kill(_ number: Int) {
            guard let node = nodes[number - 1] else { return }
            _ = Foundation.kill(node.processIdentifier, SIGKILL)
            node.waitUntilExit()
            nodes[number - 1] = nil
        }

        /// Starts a killed node again, where it was and with what it had stored.
        func restart(_ number: Int) throws {
            nodes[number - 1] = try Self.start(number, ports[number - 1], upstream, directory)
        }
    }

    /// A running HAProxy.
    final class Balancer {
        struct NotReady: Error { let log: String }

        private let process = Process()
        private let log: String
        let port: Int

        init(nodes: [Int], log: String) async throws {
            // A port that was free a moment ago.
            let place = try await LoopbackOrigin.start(ScriptedOrigin())
            await place.stop()
            port = place.port
            self.log = log
            let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../deploy/haproxy.cfg")
            var environment = ProcessInfo.processInfo.environment
            environment["REPRISE_LISTEN"] = "127.0.0.1:\(port)"
            for (index, node) in nodes.enumerated() { environment["REPRISE_EDGE_\(index + 1)"] = "127.0.0.1:\(node)" }
            process.executableURL = try Command.path(of: "haproxy")
            process.arguments = ["-db", "-f", file.standardized.path]
            process.environment = environment
            try Data().write(to: URL(fileURLWithPath: log))
            process.standardOutput = FileHandle(forWritingAtPath: log)
            process.standardError = FileHandle(forWritingAtPath: log)
            try process.run()
        }

        /// Waits until it takes requests and has nodes to send them to.
        func waitUntilReady(_ directory: WorkDirectory) async throws {
            let deadline = ContinuousClock.now + .seconds(60)
            repeat {
                let health = ["-s", "-f", "-o", "/dev/null", "http://127.0.0.1:\(port)/.reprise/health"]
                if try await Command.run("curl", health, in: directory.path).status == 0 { return }
            } while process.isRunning && ContinuousClock.now < deadline
            throw NotReady(log: try String(contentsOfFile: log, encoding: .utf8))
        }

        func stop() {
            process.terminate()
            process.waitUntilExit()
        }
    }
#endif
