#if Server
    import ArgumentParser
    import RepriseStorage

    struct Reseal: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the key of an encrypted store.",
            discussion: """
                The store must not be in use. Media is not encrypted again: the store's root key is wrapped with the new key. \
                The command can be interrupted and repeated; until it has ended both keys open the store.
                The old key and an older copy of the store together still decrypt that copy and everything stored later.
                """)

        @OptionGroup var store: StoreOptions
        @Option(help: ArgumentHelp("File with the new key: 32 bytes or 64 hexadecimal digits.", valueName: "file"))
        var newKeyFile: String

        func run() async throws {
            try await RepriseTool.run {
                let key = try KeyFile.read(newKeyFile)
                let opened = try store.open()
                do throws(StoreError) {
                    // What is stored stays as it is.
                    let allocated = try opened.beginIndex()
                    try opened.reseal(key: key)
                    if let allocated { try opened.closeIndex(allocated: allocated) }
                } catch { throw Failure(error) }
                print("\(opened.root) now opens with the new key only")
            }
        }
    }
#endif
