#if Server
    import ArgumentParser
    import Configuration
    import RepriseProxy

    /// Limits of `serve` toward its clients and origins.
    struct LimitOptions: ParsableArguments {
        @Option(
            help: """
                Maximum number of client connections; a further one displaces an idle one, or is answered 503. \
                (default: 1024, or half of the file descriptors if that is less)
                """)
        var connections: Int?
        @Option(
            help: """
                Maximum number of requests forwarded at a time; a further one is answered 503. (default: 1024, or an \
                eighth of the file descriptors if that is less)
                """)
        var forwarded: Int?
        @Option(help: "Time after which a connection without a request is closed. (default: 75s)")
        var idleTimeout: String?
        @Option(help: "Time to receive a request with its body; then it is answered 408. (default: 20s)")
        var requestTimeout: String?
        @Option(help: "Time after which a client that reads nothing is disconnected. (default: 1h)")
        var clientTimeout: String?
        @Option(help: "Time to the first byte of an origin's response; then the request has failed. (default: 30s)")
        var originTimeout: String?
        @Option(help: "Maximum size of request line and fields; a longer request is answered 431. (default: 32KiB)")
        var headLimit: String?

        /// The flags that were given.
        var flags: [SettingName: ConfigContent?] {
            [
                .connections: connections.map { .int($0) }, .forwarded: forwarded.map { .int($0) },
                .idleTimeout: idleTimeout.map { .string($0) },
                .requestTimeout: requestTimeout.map { .string($0) }, .clientTimeout: clientTimeout.map { .string($0) },
                .originTimeout: originTimeout.map { .string($0) }, .headLimit: headLimit.map { .string($0) },
            ]
        }
    }

    extension Settings {
        /// Sets the limits of a server.
        /// - Throws: A `Failure` that names the malformed setting.
        func limit(_ proxy: inout ProxyConfiguration) throws {
            if let number = try number(.connections, in: 1...1_000_000) { proxy.connectionLimit = number }
            if let number = try number(.forwarded, in: 1...1_000_000) { proxy.forwardedLimit = number }
            if let time = try seconds(.idleTimeout) { proxy.idleTimeout = time }
            if let time = try seconds(.requestTimeout) { proxy.requestTimeout = time }
            if let time = try seconds(.clientTimeout) { proxy.slowClientTimeout = time }
            if let text = text(.headLimit) {
                // What is below it no browser's request fits into; a head is held whole in memory.
                guard let size = Size(text), (1 << 10...1 << 20).contains(size.bytes) else { throw wrong(.headLimit) }
                proxy.headLimit = Int(size.bytes)
            }
        }

        /// A time of one second to a day, in whole seconds.
        func seconds(_ name: SettingName) throws -> Int? {
            guard let text = text(name) else { return nil }
            guard let time = Duration(text: text), (1...86_400).contains(time.components.seconds) else {
                throw wrong(name)
            }
            return Int(time.components.seconds)
        }
    }
#endif
