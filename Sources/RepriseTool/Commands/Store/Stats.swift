#if Server
    import ArgumentParser
    import Foundation
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseProxy
    import RepriseStorage

    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show totals of the store and of the running server.")

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false

        private struct Report: Encodable {
            var entries = 0
            var completeEntries = 0
            var pinnedEntries = 0
            var storedBytes: Int64 = 0
            /// Whether this user may write the store; where not, a server keeps nothing and uses nothing of it.
            var isWritable = true
            /// Sums since the store was made; absent where none are kept.
            var total: StoreStatisticsReport?
            /// Sums of the running server; absent where there is none.
            var server: StatisticsReport?

            mutating func add(stored: Int64, isComplete: Bool, isPinned: Bool) {
                entries += 1
                storedBytes += stored
                if isComplete { completeEntries += 1 }
                if isPinned { pinnedEntries += 1 }
            }
        }

        func run() async throws {
            try await RepriseTool.run {
                var report = Report()
                let root = try store.root
                let key = try store.key()
                let client = try await store.runningServer()
                if let client, client.file.isInMemory == true {
                    for entry in try await Control.server(client).send(.entries, as: [EntryReport].self) {
                        report.add(stored: entry.stored, isComplete: entry.isComplete, isPinned: entry.isPinned)
                    }
                } else {
                    do throws(StoreError) { try await count(&report, root, key) } catch { throw Failure(error) }
                }
                if let client {
                    report.server = try await Control.server(client).send(.statistics, as: StatisticsReport.self)
                    // It has counted since its file was written.
                    report.total = report.server?.total
                }
                if json { return printJSON(report) }
                describe(report, root)
            }
        }

        private func count(_ report: inout Report, _ root: String, _ key: SealKey?) async throws(StoreError) {
            // Nothing was ever stored there: that is no error.
            if FileManager.default.fileExists(atPath: root) {
                report.isWritable = FileManager.default.isWritableFile(atPath: root)
            }
            guard FileManager.default.fileExists(atPath: root + "/format") else { return }
            let opened = try Store(root: root, volume: DiskVolume(), access: .readOnly, key: key)
            report.total = try opened.readStatistics().map { StoreStatisticsReport(StoreStatistics(named: $0)) }
            let row = { @Sendable (entry: IndexedEntry) in entry.key == nil ? nil : entry }
            try await EntryRows.index(of: opened, row) { entry in
                report.add(
                    stored: entry.stored, isComplete: entry.use.length.map { entry.stored >= $0 } ?? false,
                    isPinned: entry.use.isPinned)
            }
        }

        private func describe(_ report: Report, _ root: String) {
            print("store       \(root)")
            if !report.isWritable {
                print("            not writable by this user: a server stores nothing and plays from the origin")
            }
            print(
                "entries     \(report.entries), \(report.completeEntries) complete, \(report.pinnedEntries) pinned")
            print("stored      \(Size(report.storedBytes))")
            if let total = report.total {
                print("since       \(HTTPDate.format(total.since))")
                describe(total.sums)
                print("played      \(total.hits) hits, \(total.partials) of them partial, \(total.misses) misses")
            }
            guard let server = report.server else { return print("server      not running") }
            print("server      \(server.connections ?? 0) connections")
            describe(server.sums)
            if server.damagedBlocks > 0 { print("damaged     \(server.damagedBlocks) blocks, fetched again") }
        }

        private func describe(_ sums: SumsReport) {
            print("served      \(Size(sums.servedBytes))")
            print("from origin \(Size(sums.originBytes)) in \(sums.originRequests) requests")
            let share = sums.hitRatio.map { "\(Int(($0 * 100).rounded(.down))) %" } ?? "-"
            print("saved       \(Size(sums.savedBytes)), \(share) of what was served")
        }
    }
#endif
