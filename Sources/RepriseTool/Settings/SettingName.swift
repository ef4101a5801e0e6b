#if Server
    import Configuration

    /// What can be set by a flag, a variable of the environment or the settings file. The text is the flag's name without
    /// its dashes, and the key in the file.
    enum SettingName: String, CaseIterable, Sendable {
        case directory, port, host
        case keyFile = "key-file"
        case noToken = "no-token"
        case sample, origin, node, threads
        case adminPort = "admin-port"
        case logLevel = "log-level"
        case limit
        case connections
        case idleTimeout = "idle-timeout"
        case requestTimeout = "request-timeout"
        case clientTimeout = "client-timeout"
        case originTimeout = "origin-timeout"
        case headLimit = "head-limit"
        case maxAge = "max-age"
        case minFree = "min-free"
        case allow, deny, same
        case allowOrigin = "allow-origin"
        case keyStrip = "key-strip"
        case keyKeep = "key-keep"

        /// What its value is.
        var type: ConfigType {
            switch self {
            case .directory, .host, .node, .logLevel, .limit, .maxAge, .minFree, .keyFile, .idleTimeout,
                .requestTimeout,
                .clientTimeout, .originTimeout, .headLimit:
                .string
            case .port, .threads, .adminPort, .connections: .int
            case .noToken, .sample: .bool
            case .origin, .allow, .allowOrigin, .deny, .same, .keyStrip, .keyKeep: .stringArray
            }
        }

        /// What its value is, for a person.
        var expectation: String {
            switch self {
            case .directory: "a path is expected"
            case .keyFile: "the path of a key file is expected"
            case .host: "an address is expected"
            case .origin: "a list of absolute http or https URLs is expected"
            case .node: "a name without spaces and separators is expected"
            case .logLevel: "trace, debug, info, notice, warning, error or critical is expected"
            case .port, .adminPort: "a whole number from 0 to 65535 is expected"
            case .limit, .minFree: "a size like 500MB or 2GiB is expected, or none"
            case .maxAge: "a time like 90d, 12h or 30m is expected, or none"
            case .idleTimeout, .requestTimeout, .clientTimeout, .originTimeout:
                "a time from 1s to 1d is expected, like 90s or 5m"
            case .headLimit: "a size from 1KiB to 1MiB is expected"
            case .threads, .connections: "a whole number from 1 on is expected"
            case .noToken, .sample: "true or false is expected"
            case .allowOrigin: "a list of pages' origins, such as https://player.example, is expected"
            case .allow, .deny: "a list of addresses, blocks of addresses, hosts, *.suffix or * is expected"
            case .same: "a list of groups of two hosts or more, host+host, is expected"
            case .keyStrip, .keyKeep: "a list of names of query parameters is expected"
            }
        }

        /// The value where nothing is said; `nil` where there is none, or none that is the same everywhere.
        var standard: ConfigContent? {
            switch self {
            case .port: .int(8787)
            case .host: .string("127.0.0.1")
            case .noToken, .sample: .bool(false)
            case .node: .string("reprise")
            case .logLevel: .string("notice")
            case .limit, .maxAge: .string("none")
            case .minFree: .string("1GiB")
            case .idleTimeout: .string("75s")
            case .requestTimeout: .string("20s")
            case .clientTimeout: .string("1h")
            case .originTimeout: .string("30s")
            case .headLimit: .string("32KiB")
            case .allow, .allowOrigin, .deny, .same, .keyStrip, .keyKeep: .stringArray([])
            case .keyFile: nil
            case .directory, .origin, .threads, .adminPort, .connections: nil
            }
        }

        /// The key as an environment has it; the provider makes `REPRISE_NO_TOKEN` of it.
        var variable: AbsoluteConfigKey { AbsoluteConfigKey(["reprise", rawValue]) }
        /// The key as a file has it.
        var key: AbsoluteConfigKey { AbsoluteConfigKey([rawValue]) }
    }
#endif
