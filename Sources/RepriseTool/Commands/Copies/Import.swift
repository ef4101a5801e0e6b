#if Server
    import ArgumentParser
    import Foundation
    import RepriseCore
    import RepriseProxy

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Store a file as all of a URL, so that playing it costs nothing: for example after an upload.",
            discussion: """
                The file is read once and left as it is. What was stored of the URL is replaced in one step; who plays that goes \
                on undisturbed. What the origin says later of length or validator counts. Where a server holds the store, \
                the server reads the file, so it has to be one that its user may read. Exits with 66 where the file cannot be read.
                """)

        @OptionGroup var store: StoreOptions
        @Option(
            help: ArgumentHelp("Content-Type; by default what files with such an extension have.", valueName: "type"))
        var type: String?
        @Option(help: ArgumentHelp("Entity tag that the origin gives it.", valueName: "tag"))
        var etag: String?
        @Option(help: ArgumentHelp("Last-Modified that the origin gives it.", valueName: "date"))
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
