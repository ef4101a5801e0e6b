#if Server
    import Logging
    import RepriseCore
    import ReprisePlatform
    import RepriseProxy

    /// What a server offers to those who administer it: the control socket, and a port where one was asked for.
    struct Administration: Sendable {
        private let servers: [AdminServer]
        private let root: String

        static func start(
            cache: MediaCache, proxy: MediaProxy, root: String, hasToken: Bool, isInMemory: Bool, port: Int?,
            log: Logger
        ) async throws -> Administration {
            let meters = CacheMeters(cache, proxy)
            let service = AdminService(
                cache, connections: { proxy.connectionCount }, metrics: { meters.text() }, onDrain: { proxy.drain() })
            let secret = ProxyConfiguration.makeToken()
            var servers: [AdminServer] = []
            do {
                let control = try await AdminServer.start(service, at: ControlFile.address(root), secret: secret)
                servers.append(control)
                if let port {
                    servers.append(
                        try await AdminServer.start(service, at: .tcp(host: "127.0.0.1", port: port), secret: secret))
                }
                var file = ControlFile(
                    process: SystemCalls.processID, secret: secret, media: proxy.base,
                    hasToken: hasToken, isInMemory: isInMemory ? true : nil)
                switch control.address {
                case .unix(let path): file.socket = path
                case .tcp(_, let port): file.port = port
                }
                try file.write(root)
            } catch {
                for server in servers { await server.stop() }
                guard port == nil else { throw Failure(69, "no administration: \(error)") }
                // Media comes first: a full disk keeps nobody from playing.
                log.warning("administration is not available", metadata: ["reason": "\(error)"])
                return Administration(servers: [], root: root)
            }
            return Administration(servers: servers, root: root)
        }

        func stop() async {
            if !servers.isEmpty { ControlFile.remove(root) }
            for server in servers { await server.stop() }
        }
    }
#endif
