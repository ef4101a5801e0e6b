#if Server
    import ArgumentParser
    import Configuration
    import RepriseProxy

    /// What `serve` bears of its clients and its origins.
    struct LimitOptions: ParsableArguments {
        @Option(
            help: """
                Clients' connections at a time; a further one takes the place of one that waits, or is told 503. \
                (default: 1024, or half of the descriptors where those are fewer)
                """)
        var connections: Int?
        @Option(help: "How long a connection may stay open without a request. (default: 75s)")
        var idleTimeout: String?
        @Option(help: "How long a request may take to come, with its body; then it is told 408. (default: 20s)")
        var requestTimeout: String?
        @Option(help: "How long a client may take no byte of its answer, as one that pauses does. (default: 1h)")
        var clientTimeout: String?
        @Option(help: "How long an origin may take to begin its answer; then it counts as failed. (default: 30s)")
        var originTimeout: String?
        @Option(help: "Most bytes of a request's line and fields; a longer one is told 431. (default: 32KiB)")
        var headLimit: String?

        /// What of it the command line says.
        var flags: [SettingName: ConfigContent?] {
            [
                .connections: connections.map { .int($0) }, .idleTimeout: idleTimeout.map { .string($0) },
                .requestTimeout: requestTimeout.map { .string($0) }, .clientTimeout: clientTimeout.map { .string($0) },
                .originTimeout: originTimeout.map { .string($0) }, .headLimit: headLimit.map { .string($0) },
            ]
        }
    }

    extension Settings {
        /// Puts what is set into what a server bears.
        /// - Throws: A `Failure` that names the setting that is none.
        func limit(_ proxy: inout ProxyConfiguration) throws {
            if let number = try number(.connections, in: 1...1_000_000) { proxy.connectionLimit = number }
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
