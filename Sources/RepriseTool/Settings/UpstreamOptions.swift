#if Server
    import ArgumentParser
    import Configuration
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP

    /// Which hosts may be requested, and through which proxy.
    struct UpstreamOptions: ParsableArguments {
        @Option(
            name: .customLong("deny"),
            help: ArgumentHelp(
                "Refuse these hosts: an address, a block like 10.0.0.0/8, a name, *.suffix or *; repeatable.",
                valueName: "hosts"),
            transform: UpstreamOptions.pattern)
        var denied: [String] = []
        @Option(
            name: .customLong("allow"),
            help: ArgumentHelp(
                """
                Allow these hosts, for example a link-local address, which is refused by default; the narrowest rule \
                decides. If a server holds the store, the server's rules count.
                """,
                valueName: "hosts"),
            transform: UpstreamOptions.pattern)
        var allowed: [String] = []

        /// The flags that were given.
        var flags: [SettingName: ConfigContent?] {
            [
                .allow: allowed.isEmpty ? nil : .stringArray(allowed),
                .deny: denied.isEmpty ? nil : .stringArray(denied),
            ]
        }

        /// A client by what the command line and the settings say.
        func makeClient(_ store: StoreOptions) throws -> AsyncHTTPOriginClient {
            try UpstreamOptions.client(try store.settings(flags))
        }

        /// A client that keeps to the rules that are set, goes through the environment's proxies and trusts its authorities.
        /// - Parameter requests: Most requests to one host at a time.
        static func client(
            _ settings: Settings, requests: Int = TransferTuning().requestsPerHost
        ) throws -> AsyncHTTPOriginClient {
            let rules = try settings.upstreamRules()
            let environment = ProcessInfo.processInfo.environment
            let authorities = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
            do {
                return AsyncHTTPOriginClient(
                    connections: requests + 16, rules: rules, proxies: try ProxySettings(environment: environment),
                    authorities: try authorities.map(TrustedAuthorities.init(file:)))
            } catch let error as ProxySettings.Malformed {
                throw Failure(Failure.settings, error.description)
            } catch let error as TrustedAuthorities.Unusable {
                throw Failure(Failure.settings, "SSL_CERT_FILE in the environment: \(error)")
            }
        }

        @Sendable static func pattern(_ text: String) throws -> String {
            if UpstreamPattern(text) == nil {
                throw ValidationError("\(text): expected an address, a block of addresses, a host, *.suffix or *")
            }
            return text
        }
    }
#endif
