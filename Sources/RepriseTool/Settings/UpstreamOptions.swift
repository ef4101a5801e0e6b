#if Server
    import ArgumentParser
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseHTTP

    /// Who may be asked for media, and through whom.
    struct UpstreamOptions: ParsableArguments {
        @Option(
            name: .customLong("deny"),
            help: ArgumentHelp(
                "Do not ask these hosts: an address, a block like 10.0.0.0/8, a name, *.suffix or *; repeatable.",
                valueName: "hosts"),
            transform: UpstreamOptions.pattern)
        var denied: [UpstreamPattern] = []
        @Option(
            name: .customLong("allow"),
            help: ArgumentHelp(
                """
                Ask these although they would be refused, as link-local and metadata addresses are; the narrowest rule \
                decides. Where a server holds the store, its own rules hold.
                """,
                valueName: "hosts"),
            transform: UpstreamOptions.pattern)
        var allowed: [UpstreamPattern] = []

        var rules: UpstreamRules { UpstreamRules(allowed: allowed, denied: denied) }

        /// A client that keeps to the rules and goes through the environment's proxies.
        func makeClient() throws -> AsyncHTTPOriginClient {
            do throws(ProxySettings.Malformed) {
                let proxies = try ProxySettings(environment: ProcessInfo.processInfo.environment)
                return AsyncHTTPOriginClient(rules: rules, proxies: proxies)
            } catch {
                throw Failure(64, error.description)
            }
        }

        @Sendable static func pattern(_ text: String) throws -> UpstreamPattern {
            guard let pattern = UpstreamPattern(text) else {
                throw ValidationError("\(text) is no address, block of addresses, host, *.suffix or *")
            }
            return pattern
        }
    }
#endif
