#if Server
    import ArgumentParser
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseProxy
    import RepriseRanges
    import RepriseStorage

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show one entry: its fields and stored ranges.")

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false
        @Argument(help: "URL of the media, or the key of the entry.")
        var url: String

        func run() async throws {
            try await RepriseTool.run {
                let opened = try await store.openForReading()
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
            print("validated   \(HTTPDate.format(info.checked))")
            print("generation  \(info.generation)\(info.isPinned ? ", pinned" : "")")
            let sums = entry.summary.statistics
            if sums != EntryStatistics() {
                print(
                    "served      \(Size(sums.served)), \(Size(sums.fromOrigin)) of it from the origin, "
                        + "\(Size(sums.saved)) saved")
            }
            let share = info.length.map { $0 > 0 ? " (\(percent(claimed.count, $0)))" : "" } ?? ""
            print(
                "stored      \(Size(claimed.count))\(share) in \(claimed.ranges.count) range\(claimed.ranges.count == 1 ? "" : "s")"
            )
            print("            \(bar(claimed, length: info.length ?? claimed.upperBound, width: 64))")
            for range in claimed.ranges.prefix(20) {
                print("            bytes \(range.lowerBound)-\(range.upperBound - 1)")
            }
            if claimed.ranges.count > 20 { print("            and \(claimed.ranges.count - 20) more") }
        }
    }
#endif
