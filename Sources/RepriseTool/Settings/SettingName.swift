#if Server
    import Configuration

    /// What can be set by a flag, a variable of the environment or the settings file. The text is the flag's name without
    /// its dashes, and the key in the file.
    enum SettingName: String, CaseIterable, Sendable {
        case directory, memory, port, host
        case keyFile = "key-file"
        case noToken = "no-token"
        case sample, origin, node, threads
        case adminPort = "admin-port"
        case logLevel = "log-level"
        case limit
        case connections, forwarded
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

        /// The setting that a misspelt name most likely means; `nil` if none is near.
        static func nearest(to text: String) -> SettingName? {
            let near = allCases.map { ($0, editDistance(text, $0.rawValue)) }.min { $0.1 < $1.1 }
            return near.flatMap { $0.1 <= 2 ? $0.0 : nil }
        }

        /// Type of its value.
        var type: ConfigType {
            switch self {
            case .directory, .memory, .host, .node, .logLevel, .limit, .maxAge, .minFree, .keyFile, .idleTimeout,
                .requestTimeout,
                .clientTimeout, .originTimeout, .headLimit:
                .string
            case .port, .threads, .adminPort, .connections, .forwarded: .int
            case .noToken, .sample: .bool
            case .origin, .allow, .allowOrigin, .deny, .same, .keyStrip, .keyKeep: .stringArray
            }
        }

        /// What is expected of its value, for a message.
        var expectation: String {
            switch self {
            case .directory: "expected a path"
            case .keyFile: "expected the path of a key file"
            case .host: "expected an address"
            case .origin: "expected a list of absolute http or https URLs"
            case .node: "expected a name without spaces and separators"
            case .logLevel: "expected trace, debug, info, notice, warning, error or critical"
            case .port, .adminPort: "expected an integer from 0 to 65535"
            case .limit, .minFree: "expected a size like 500MB or 2GiB, or none"
            case .memory: "expected a size of at least 1MiB, like 500MB or 2GiB"
            case .maxAge: "expected a time like 90d, 12h or 30m, or none"
            case .idleTimeout, .requestTimeout, .clientTimeout, .originTimeout:
                "expected a time from 1s to 1d, like 90s or 5m"
            case .headLimit: "expected a size from 1KiB to 1MiB"
            case .threads, .connections, .forwarded: "expected a positive integer"
            case .noToken, .sample: "expected true or false"
            case .allowOrigin: "expected a list of origins of web pages, such as https://player.example"
            case .allow, .deny: "expected a list of addresses, blocks of addresses, hosts, *.suffix or *"
            case .same: "expected a list of groups of two or more hosts, host+host"
            case .keyStrip, .keyKeep: "expected a list of names of query parameters"
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
            case .directory, .memory, .origin, .threads, .adminPort, .connections, .forwarded: nil
            }
        }

        /// The key as an environment has it; the provider makes `REPRISE_NO_TOKEN` of it.
        var variable: AbsoluteConfigKey { AbsoluteConfigKey(["reprise", rawValue]) }
        /// The key as a file has it.
        var key: AbsoluteConfigKey { AbsoluteConfigKey([rawValue]) }
    }
#endif
