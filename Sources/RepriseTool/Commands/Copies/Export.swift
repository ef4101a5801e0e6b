#if Server
    import ArgumentParser
    import Foundation
    import RepriseCore
    import RepriseStorage

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy a complete entry to a file.",
            discussion: """
                The entry has to be complete: `fetch` fetches what is missing. The checksum of every block is verified; the \
                copy of an encrypted store is decrypted. An existing file is replaced in one step once the copy is complete. \
                Only its owner can read the copy. On volumes that can clone files it takes no space until it is changed. \
                Can run while a server holds the store. Prints the path. Exits with 66 if the entry is not complete.
                """)

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false
        @Argument(help: "URL of the media, or the key of the entry.")
        var url: String
        @Argument(help: "File; an extension is added if it has none. Or an existing directory.")
        var file: String

        func run() async throws {
            try await RepriseTool.run {
                let opened = try await store.openForReading()
                let key = try store.key(url).text
                do throws(StoreError) {
                    let path = URL(fileURLWithPath: file).path
                    guard var copy = try opened.beginExport(key: key, to: path) else { throw Export.nothing(url) }
                    do throws(StoreError) {
                        while try copy.advance() {}
                        try copy.finish()
                    } catch {
                        try copy.abandon()
                        throw error
                    }
                    report(copy, key)
                } catch {
                    throw error.code == .incomplete ? Failure(Failure.noInput, error.description) : Failure(error)
                }
            }
        }

        private static func nothing(_ url: String) -> StoreError {
            StoreError(.incomplete, "nothing is stored of \(url); fetch it first")
        }

        private struct Report: Encodable {
            var bytes: Int64
            var key: String
            var path: String
            var sharesRoom: Bool
        }

        private func report(_ copy: EntryExport, _ key: String) {
            if json {
                printJSON(Report(bytes: copy.length, key: key, path: copy.path, sharesRoom: copy.sharesRoom))
            } else {
                print(copy.path)
            }
        }
    }
#endif
