#if Server
    import ArgumentParser
    import RepriseStorage

    struct Reseal: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a sealed store another key; no media is touched.",
            discussion: """
                The store must not be in use. It may be interrupted and begun again: until it is done both keys open the store, \
                from then on the new one alone.
                Whoever has the old key and an older copy of the store can still read what is in that copy, and what is stored \
                later.
                """)

        @OptionGroup var store: StoreOptions
        @Option(help: ArgumentHelp("File with the new key: 32 bytes or 64 hexadecimal digits.", valueName: "file"))
        var newKeyFile: String

        func run() async throws {
            try await RepriseTool.run {
                let key = try KeyFile.read(newKeyFile)
                let opened = try store.open()
                do throws(StoreError) { try opened.reseal(key: key) } catch { throw Failure(error) }
                print("\(opened.root) is sealed with the new key; the old one opens it no more")
            }
        }
    }
#endif
