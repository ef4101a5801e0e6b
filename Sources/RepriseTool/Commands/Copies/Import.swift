#if Server
    import ArgumentParser
    import Foundation
    import RepriseCore
    import RepriseProxy

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Store a file as the complete content of a URL, for example after an upload.",
            discussion: """
                The file is copied and not changed. It replaces the stored version in one step; readers of that version \
                are not disturbed. If the origin later gives another length or validator, the origin's version counts. If a \
                server holds the store, the server reads the file, so its user must be allowed to. Exits with 66 if the file \
                cannot be read.
                """)

        @OptionGroup var store: StoreOptions
        @Option(
            help: ArgumentHelp("Content-Type. (default: by the file's extension)", valueName: "type"))
        var type: String?
        @Option(help: ArgumentHelp("Entity tag that the origin sends for it.", valueName: "tag"))
        var etag: String?
        @Option(help: ArgumentHelp("Last-Modified that the origin sends for it.", valueName: "date"))
        var lastModified: String?
        @Flag(help: "Print JSON.")
        var json = false
        @Argument(help: "File to import.")
        var file: String
        @Argument(help: "URL of the media.")
        var url: String

        func run() async throws {
            try await RepriseTool.run {
                let source = try parseURL(url)
                let path = URL(fileURLWithPath: file).path
                guard FileManager.default.isReadableFile(atPath: path) else {
                    throw Failure(Failure.noInput, "\(path) cannot be read")
                }
                let description = ImportDescription(contentType: type, entityTag: etag, lastModified: lastModified)
                try await store.withControl { control in
                    let report = try await control.send(
                        .importFile(source, path: path, description), as: EntryReport.self)
                    if json { printJSON(report) } else { print("\(Size(report.stored)) stored of \(report.key)") }
                }
            }
        }
    }
#endif
