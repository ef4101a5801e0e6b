#if Server
    import ArgumentParser
    import Configuration
    import RepriseCore

    /// Rules for the cache key. All commands need the same ones, so the settings file is the best place.
    struct KeyOptions: ParsableArguments {
        @Option(
            name: .customLong("key-strip"),
            help: ArgumentHelp(
                "Query parameter to leave out of the cache key, such as a session id; NAME* for a prefix; repeatable.",
                valueName: "name"))
        var stripped: [String] = []
        @Option(
            name: .customLong("key-keep"),
            help: ArgumentHelp(
                """
                Query parameter to leave in the cache key although it looks like part of a signature, or although \
                --key-strip '*' removes all; repeatable.
                """,
                valueName: "name"))
        var kept: [String] = []
        @Option(
            name: .customLong("same"),
            help: ArgumentHelp(
                "Hosts that serve the same content under the same paths; the next is used if one fails; repeatable.",
                valueName: "host,host"),
            transform: KeyOptions.group)
        var same: [String] = []

        /// The flags that were given.
        var flags: [SettingName: ConfigContent?] {
            [
                .keyStrip: stripped.isEmpty ? nil : .stringArray(stripped),
                .keyKeep: kept.isEmpty ? nil : .stringArray(kept), .same: same.isEmpty ? nil : .stringArray(same),
            ]
        }

        @Sendable static func group(_ text: String) throws -> String {
            if Settings.group(text) == nil { throw ValidationError("\(text): expected a list of two or more hosts") }
            return text.replacing(",", with: "+")
        }
    }

    extension Settings {
        /// A group as it is written: hosts with a comma between, or a plus where commas part the groups.
        static func group(_ text: String) -> HostGroup? {
            HostGroup(text.split(omittingEmptySubsequences: false) { $0 == "," || $0 == "+" }.map { String($0) })
        }

        /// What a cache is opened with.
        /// - Parameter isShared: Whether it stands before one origin, whose whole query counts unless told otherwise.
        func cacheConfiguration(isShared: Bool = false) throws -> MediaCache.Configuration {
            var configuration = MediaCache.Configuration()
            configuration.limits = try limits()
            configuration.keys = .query(
                QueryRule(
                    strip: texts(.keyStrip), keep: texts(.keyKeep), schemes: isShared ? [] : SignatureScheme.common))
            configuration.hostGroups = try texts(.same).map { text in
                guard let group = Settings.group(text) else { throw wrong(.same) }
                return group
            }
            if let time = try seconds(.originTimeout) { configuration.originTimeout = time }
            return configuration
        }
    }
#endif
