#if Server
    import ArgumentParser
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseRanges
    import RepriseStorage

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show what is stored of a URL.")

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false
        @Argument(help: "URL of the media, or the key of the entry.")
        var url: String

        func run() async throws {
            try await RepriseTool.run {
                let opened = try store.openForReading()
                let key = try store.key(url)
                let found: StoredEntry?
                do throws(StoreError) { found = try opened.open(key: key.text) } catch { throw Failure(error) }
                guard let entry = found else {
                    throw Failure(69, "nothing is stored of \(url)")
                }
                do throws(FileError) { try entry.generation.load(.from(0)) } catch {
                    throw Failure(74, "the entry cannot be read now: \(error)")
                }
                if json {
                    var info = entry.info
                    info.statistics = entry.summary.statistics
                    return printJSON(EntryReport(info, ranges: entry.generation.claimed))
                }
                describe(entry)
            }
        }

        private func describe(_ entry: StoredEntry) {
            let info = entry.info
            let claimed = entry.generation.claimed
            print("key         \(info.key)")
            print("type        \(info.fields["Content-Type"] ?? "unknown")")
            print("length      \(info.length.map { "\(Size($0)) (\($0) bytes)" } ?? "unknown")")
            print("validator   \(info.validator.entityTag?.field ?? "none") \(info.validator.lastModified ?? "")")
            print("ranges      \(info.servesRanges ? "served by the origin" : "not served by the origin")")
            print("confirmed   \(HTTPDate.format(info.checked))")
            print("generation  \(info.generation)\(info.isPinned ? ", pinned" : "")")
            let sums = entry.summary.statistics
            if sums != EntryStatistics() {
                print(
                    "served      \(Size(sums.served)), \(Size(sums.fromOrigin)) of it from the origin, "
                        + "\(Size(sums.saved)) saved")
            }
            let share = info.length.map { $0 > 0 ? " of \(percent(claimed.count, $0))" : "" } ?? ""
            print(
                "stored      \(Size(claimed.count))\(share) in \(claimed.ranges.count) piece\(claimed.ranges.count == 1 ? "" : "s")"
            )
            print("            \(bar(claimed, length: info.length ?? claimed.upperBound, width: 64))")
            for range in claimed.ranges.prefix(20) { print("            \(range)") }
            if claimed.ranges.count > 20 { print("            and \(claimed.ranges.count - 20) more") }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "ls", abstract: "List what is stored.")

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print a line of JSON for each entry.")
        var json = false

        func run() async throws {
            try await RepriseTool.run {
                let opened = try store.openForReading()
                do throws(StoreError) {
                    var count = 0
                    let json = json
                    let line = { @Sendable in json ? List.json($0, $1) : List.line($0, $1) }
                    try await EntryRows.read(of: opened, line) { line in
                        count += 1
                        print(line)
                    }
                    if count == 0, !json { print("nothing is stored in \(opened.root)") }
                } catch {
                    throw Failure(error)
                }
            }
        }
    }

    extension List {
        fileprivate static func line(_ info: EntryInfo, _ summary: EntrySummary) -> String {
            let length = summary.length ?? info.length
            let share = length.map { $0 > 0 ? percent(summary.stored, $0) : "100 %" } ?? "?"
            return "\(padded(Size(summary.stored).description, 10)) \(padded(share, 6))  \(info.key)"
        }

        fileprivate static func json(_ info: EntryInfo, _ summary: EntrySummary) -> String {
            var info = info
            info.stored = summary.stored
            info.statistics = summary.statistics
            return jsonLine(EntryReport(info))
        }
    }

    private func percent(_ part: Int64, _ whole: Int64) -> String {
        "\(Int((Double(part) / Double(whole) * 100).rounded(.down))) %"
    }
#endif
