#if Server
    import ArgumentParser
    import Foundation
    import RepriseCore
    import ReprisePlatform
    import RepriseProxy
    import RepriseStorage

    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what is stored and, where a server runs, what it has served.")

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false

        private struct Report: Encodable {
            var entries = 0
            var completeEntries = 0
            var pinnedEntries = 0
            var storedBytes: Int64 = 0
            /// Sums of the running server; absent where there is none.
            var server: StatisticsReport?
        }

        func run() async throws {
            try await RepriseTool.run {
                var report = Report()
                let root = try store.root
                let key = try store.key()
                do throws(StoreError) { try count(&report, root, key) } catch { throw Failure(error) }
                if let client = try await store.runningServer() {
                    report.server = try await Control.server(client).send(.statistics, as: StatisticsReport.self)
                }
                if json { return printJSON(report) }
                describe(report, root)
            }
        }

        private func count(_ report: inout Report, _ root: String, _ key: SealKey?) throws(StoreError) {
            // Nothing was ever stored there: that is no error.
            guard FileManager.default.fileExists(atPath: root + "/format") else { return }
            let opened = try Store(root: root, fileSystem: RealFileSystem(), access: .readOnly, key: key)
            for name in try opened.entryNames() {
                guard let entry = try opened.describe(name: name) else { continue }
                report.entries += 1
                report.storedBytes += entry.summary.stored
                if let length = entry.info.length, entry.summary.stored >= length { report.completeEntries += 1 }
                if entry.info.isPinned { report.pinnedEntries += 1 }
            }
        }

        private func describe(_ report: Report, _ root: String) {
            print("store       \(root)")
            print(
                "entries     \(report.entries), \(report.completeEntries) complete, \(report.pinnedEntries) pinned")
            print("stored      \(Size(report.storedBytes))")
            guard let server = report.server else { return print("server      not running") }
            print("server      \(server.connections ?? 0) connections")
            print("served      \(Size(server.servedBytes))")
            print("from origin \(Size(server.originBytes)) in \(server.originRequests) requests")
            let ratio = server.hitRatio.map { "\(Int(($0 * 100).rounded(.down))) %" } ?? "-"
            print("saved       \(Size(server.savedBytes)), \(ratio) of what was served")
            if server.damagedBlocks > 0 { print("damaged     \(server.damagedBlocks) blocks, fetched again") }
        }
    }
#endif
