#if Server
    import Logging
    import RepriseHTTP
    import RepriseProxy

    /// What `serve` needs, checked.
    struct ServeSettings {
        let root: String
        /// Bytes of memory that the store is in; `nil` for a store in the directory.
        let memory: Int64?
        let port: Int
        let host: String
        let hasToken: Bool
        let isSample: Bool
        /// The preferred one first.
        let origins: [OriginURL]
        let edge: EdgeRole?
        let adminPort: Int?
        let logLevel: Logger.Level
        /// How it listens and what it bears; its token is the store's.
        let proxy: ProxyConfiguration

        /// - Throws: A `Failure` that names the setting, where it was set and what was expected.
        init(_ settings: Settings) throws {
            let ports = 0...65_535
            root = settings.text(.directory) ?? StoreOptions.standardRoot
            memory = try settings.memory()
            port = try settings.number(.port, in: ports) ?? 0
            host = settings.text(.host) ?? "127.0.0.1"
            hasToken = !settings.isTrue(.noToken)
            isSample = settings.isTrue(.sample)
            let threads = try settings.number(.threads, in: 1...1024)
            adminPort = try settings.number(.adminPort, in: ports)
            guard let level = Logger.Level(rawValue: settings.text(.logLevel) ?? "notice") else {
                throw settings.wrong(.logLevel)
            }
            logLevel = level
            let node = settings.text(.node) ?? "reprise"
            let isToken = node.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
            }
            if node.isEmpty || !isToken { throw settings.wrong(.node) }
            let origins = try settings.texts(.origin).map { text in
                guard let origin = OriginURL(text) else { throw settings.wrong(.origin) }
                return origin
            }
            self.origins = origins
            let allowedOrigins = try settings.texts(.allowOrigin).map { text in
                guard let origin = OriginURL(text), origin.origin.octets == text.octets else {
                    throw settings.wrong(.allowOrigin)
                }
                return text
            }
            edge = origins.first.map { EdgeRole(origin: $0, name: node, mirrors: Array(origins.dropFirst())) }
            // Wrong rules are found before anything is opened.
            _ = try settings.upstreamRules()
            _ = try settings.cacheConfiguration()
            var proxy = ProxyConfiguration()
            (proxy.host, proxy.port, proxy.threads) = (host, port, threads)
            (proxy.edge, proxy.allowedOrigins) = (edge, allowedOrigins)
            try settings.limit(&proxy)
            self.proxy = proxy
        }

        /// A log to standard error.
        func makeLog() -> Logger {
            var log = Logger(label: "reprise") { StreamLogHandler.standardError(label: $0) }
            log.logLevel = logLevel
            return log
        }
    }
#endif
