#if Server
    import ArgumentParser
    import Foundation
    import RepriseCore
    import RepriseStorage

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy what is stored of a URL to a file.",
            discussion: """
                All of it has to be stored: `fetch` brings what is missing. Every byte is proved on its way; of a sealed store \
                the copy is deciphered. The file is there once it is whole, in the place of one that was there, readable \
                by its owner alone; where the volume can, it takes no room of its own until it is changed. May run beside \
                a server. Prints where the file is. Exits with 66 where not all is stored.
                """)

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false
        @Argument(help: "URL of the media, or the key of the entry.")
        var url: String
        @Argument(help: "File, which gets the right extension where it has none; or a directory that is there.")
        var file: String

        func run() async throws {
            try await RepriseTool.run {
                let opened = try store.openForReading()
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
