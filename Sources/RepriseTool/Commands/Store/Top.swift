#if Server
    import ArgumentParser
    import RepriseCore
    import ReprisePlatform
    import RepriseProxy

    struct Top: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Watch what a running server serves and fetches.",
            discussion: "On a terminal it redraws until it is interrupted; otherwise it prints once.")

        @OptionGroup var store: StoreOptions
        @Option(name: .shortAndLong, help: "Seconds between updates.")
        var interval = 1.0
        @Flag(help: "Print JSON once.")
        var json = false

        func validate() throws {
            if !(interval >= 0.1) { throw ValidationError("--interval: expected at least 0.1 seconds") }
        }

        func run() async throws {
            try await RepriseTool.run {
                guard let client = try await store.runningServer() else {
                    throw Failure(69, "no server holds \(try store.root); start one with: reprise serve")
                }
                let control = Control.server(client)
                if json {
                    return print(
                        String(decoding: try await control.send(.activity).body, as: UTF8.self), terminator: "")
                }
                var before: StatisticsReport?
                while true {
                    let sums = try await control.send(.statistics, as: StatisticsReport.self)
                    let resources = try await control.send(.activity, as: [ResourceReport].self)
                    let isTerminal = SystemCalls.isTerminal(1)
                    let picture = TopPicture(sums: sums, before: before, interval: interval, resources: resources)
                    print((isTerminal ? "\u{1B}[H\u{1B}[2J" : "") + picture.text)
                    flushOutput()
                    guard isTerminal else { return }
                    before = sums
                    try await Task.sleep(for: .seconds(interval))
                }
            }
        }
    }

    /// One picture of `reprise top`. No I/O.
    struct TopPicture {
        let sums: StatisticsReport
        let before: StatisticsReport?
        let interval: Double
        let resources: [ResourceReport]

        var text: String {
            var lines = [
                "connections \(sums.connections ?? 0)   served \(Size(sums.servedBytes))\(rate(\.servedBytes))   "
                    + "from origin \(Size(sums.originBytes))\(rate(\.originBytes))   requests \(sums.originRequests)",
                "since the store was made: served \(Size(sums.total.servedBytes))   saved \(Size(sums.total.savedBytes))",
                "", "  readers  transfers      stored   of  resource",
            ]
            let busy = resources.filter { !$0.readers.isEmpty || !$0.transfers.isEmpty }
            for resource in busy {
                let share = resource.length.map { $0 > 0 ? "\(resource.stored * 100 / $0) %" : "" } ?? "?"
                lines.append(
                    padded("\(resource.readers.count)", 9) + padded("\(resource.transfers.count)", 11)
                        + padded(Size(resource.stored).description, 12) + padded(share, 6) + "  " + resource.key)
                for reader in resource.readers {
                    lines.append(
                        "             \(reader.isFetch ? "fetch" : "reader") at \(Size(reader.position))"
                            + (reader.isWaiting ? ", waiting" : ""))
                }
                if let error = resource.lastError { lines.append("             last error: \(error.message)") }
            }
            if busy.isEmpty { lines.append("  no readers") }
            return lines.joined(separator: "\n")
        }

        private func rate(_ path: KeyPath<StatisticsReport, Int64>) -> String {
            guard let before else { return "" }
            return " (\(Size(Int64(Double(sums[keyPath: path] - before[keyPath: path]) / interval)))/s)"
        }
    }
#endif
