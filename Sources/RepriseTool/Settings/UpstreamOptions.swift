#if Server
    import ArgumentParser
    import Configuration
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP

    /// Who may be asked for media, and through whom.
    struct UpstreamOptions: ParsableArguments {
        @Option(
            name: .customLong("deny"),
            help: ArgumentHelp(
                "Do not ask these hosts: an address, a block like 10.0.0.0/8, a name, *.suffix or *; repeatable.",
                valueName: "hosts"),
            transform: UpstreamOptions.pattern)
        var denied: [String] = []
        @Option(
            name: .customLong("allow"),
            help: ArgumentHelp(
                """
                Ask these although they would be refused, as link-local and metadata addresses are; the narrowest rule \
                decides. Where a server holds the store, its own rules hold.
                """,
                valueName: "hosts"),
            transform: UpstreamOptions.pattern)
        var allowed: [String] = []

        /// What of it the command line says.
        var flags: [SettingName: ConfigContent?] {
            [
                .allow: allowed.isEmpty ? nil : .stringArray(allowed),
                .deny: denied.isEmpty ? nil : .stringArray(denied),
            ]
        }

        /// A client that keeps to the rules and goes through the environment's proxies.
        func makeClient(_ store: StoreOptions) throws -> AsyncHTTPOriginClient {
            try UpstreamOptions.client(try store.settings(flags))
        }

        /// A client that keeps to the rules that are set and goes through the environment's proxies.
        /// - Parameter requests: Most requests to one host at a time.
        static func client(
            _ settings: Settings, requests: Int = TransferTuning().requestsPerHost
        ) throws -> AsyncHTTPOriginClient {
            let rules = try settings.upstreamRules()
            do throws(ProxySettings.Malformed) {
                let proxies = try ProxySettings(environment: ProcessInfo.processInfo.environment)
                return AsyncHTTPOriginClient(connections: requests + 16, rules: rules, proxies: proxies)
            } catch {
                throw Failure(Failure.settings, error.description)
            }
        }

        @Sendable static func pattern(_ text: String) throws -> String {
            if UpstreamPattern(text) == nil {
                throw ValidationError("\(text) is no address, block of addresses, host, *.suffix or *")
            }
            return text
        }
    }
#endif
