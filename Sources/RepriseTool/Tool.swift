#if Server
    import ArgumentParser

    /// `reprise`: media that plays while it downloads and is never paid for twice.
    @main
    struct Tool: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reprise",
            abstract: "Media that plays while it downloads and is never paid for twice.",
            discussion: """
                Exit codes: 0 success; 1 `verify` found damage or a difference, or `demo` missed a goal; 64 wrong usage; 66 the \
                entry or file to copy is missing or incomplete; 69 the origin or port cannot be used; 70 internal error; 74 the \
                store cannot be used; 75 another process uses the store; 78 wrong settings file or environment variable; \
                130 stopped by a signal.

                The store is --directory, else $REPRISE_DIRECTORY, else the settings file's directory, else the \
                user's cache directory (Linux: $XDG_CACHE_HOME/reprise or ~/.cache/reprise; macOS: \
                ~/Library/Caches/reprise).

                The settings file is --config, else $REPRISE_CONFIG, else config.json in the user's settings directory \
                (Linux: $XDG_CONFIG_HOME/reprise or ~/.config/reprise; macOS: ~/Library/Application Support/reprise), \
                if it exists. It is a JSON object whose keys are the flags of `serve` without the leading dashes: \
                {"port": 8080, "deny": ["10.0.0.0/8"]}.
                """,
            version: "0.1.0",
            subcommands: [],
            groupedSubcommands: [
                CommandGroup(name: "Playing", subcommands: [Serve.self, Play.self, URLCommand.self]),
                CommandGroup(name: "Fetching", subcommands: [Get.self, Fetch.self]),
                CommandGroup(
                    name: "Store",
                    subcommands: [
                        List.self, Show.self, DiskUse.self, Stats.self, Top.self, Verify.self, Repair.self, Export.self,
                        Import.self, Pin.self, Unpin.self, Remove.self, CollectGarbage.self, Reseal.self,
                    ]),
                CommandGroup(name: "Demonstration", subcommands: [Demo.self]),
            ],
            defaultSubcommand: nil)
    }
#else
    /// Without the trait `Server` there is no tool; the target builds all the same.
    @main
    struct Tool {
        static func main() { print("reprise was built without the trait Server") }
    }
#endif
