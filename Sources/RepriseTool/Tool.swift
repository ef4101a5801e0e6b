#if Server
    import ArgumentParser

    /// `reprise`: media that plays while it downloads and is never paid for twice.
    @main
    struct Tool: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reprise",
            abstract: "Media that plays while it downloads and is never paid for twice.",
            discussion: """
                Exit codes: 0 success; 1 `verify` found damage or a difference, or a goal of `demo` was missed; 64 wrong usage; 66 what is to be exported or imported is not there, or not all of it; 69 the origin cannot be used; \
                70 something unexpected; 74 the store cannot be used; 75 the store is in use by another process; 78 a settings file or a variable of the environment is wrong; 130 stopped by a signal.

                The store is in --directory, else in $REPRISE_DIRECTORY, else where the settings file says, else in the \
                user's cache directory (Linux: $XDG_CACHE_HOME/reprise or ~/.cache/reprise; macOS: \
                ~/Library/Caches/reprise).

                The settings file is --config, else $REPRISE_CONFIG, else config.json in the user's settings directory \
                (Linux: $XDG_CONFIG_HOME/reprise or ~/.config/reprise; macOS: ~/Library/Application Support/reprise), \
                if it is there. It is one object of JSON whose keys are the flags of `serve` without dashes in front: \
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
