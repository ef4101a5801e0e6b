#if Server
    import ArgumentParser
    import Foundation
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseProxy
    import RepriseRanges
    import Synchronization
    import UnixSignals

    struct Fetch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prefetch URLs into the store.",
            discussion: """
                Fetches missing bytes only, so an interrupted fetch can be repeated. If a server holds the store, the \
                server fetches. Exits with 130 when stopped by SIGINT or SIGTERM.
                """)

        @OptionGroup var store: StoreOptions
        @OptionGroup var upstreams: UpstreamOptions
        @Option(name: .customShort("i"), help: "File with a URL on each line; - is standard input.")
        var list: String?
        @Option(name: .shortAndLong, help: "Bytes to fetch of each: FIRST-LAST or FIRST-.")
        var range: String?
        @Flag(help: "Fetch what a player needs to start: tags, index and first seconds.")
        var head = false
        @Option(help: ArgumentHelp("Like --head, with n seconds of the media.", valueName: "n"))
        var seconds: Double?
        @Option(name: .shortAndLong, help: "Number of URLs fetched at the same time.")
        var jobs = 2
        @Flag(name: .shortAndLong, help: "Print errors only.")
        var quiet = false
        @Flag(help: "Print a line of JSON for each URL.")
        var json = false
        @Argument(help: "URLs of the media.")
        var urls: [String] = []

        func validate() throws {
            if urls.isEmpty, list == nil { throw ValidationError("expected URLs, or a list of URLs with -i") }
            if [range != nil, head, seconds != nil].count(where: { $0 }) > 1 {
                throw ValidationError("--range, --head and --seconds are mutually exclusive")
            }
            if let seconds, !seconds.isFinite || seconds < 0 {
                throw ValidationError("--seconds: expected a number of at least 0")
            }
            if jobs < 1 { throw ValidationError("--jobs: expected a positive integer") }
        }

        func run() async throws {
            try await RepriseTool.run {
                let sources = try (urls + lines()).map(parseURL)
                let wanted = try part()
                try await store.withControl(upstreams) { control in
                    var run = FetchRun(
                        control: control, part: wanted, jobs: jobs,
                        display: quiet ? .none : json ? .json : SystemCalls.isTerminal(2) ? .bar : .lines)
                    try await run.fetch(sources)
                }
            }
        }

        private func part() throws -> PrefetchPart {
            if let range { return .range(try parseRange(range)) }
            return head ? .head : seconds.map { .seconds($0) } ?? .whole
        }

        private func parseRange(_ text: String) throws -> ByteRange {
            guard let parts = RangeSpecifier.parse("bytes=" + text), parts.count == 1,
                let range = parts[0].resolvedWithoutLength
            else { throw Failure(64, "--range \(text) is not of the form FIRST-LAST or FIRST-") }
            return range
        }

        private func lines() throws -> [String] {
            guard let list else { return [] }
            let data: Data
            if list == "-" {
                data = Foundation.FileHandle.standardInput.readDataToEndOfFile()
            } else {
                do { data = try Data(contentsOf: URL(fileURLWithPath: list)) } catch {
                    throw Failure(64, "the list \(list) cannot be read: \(error.localizedDescription)")
                }
            }
            return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        }
    }

    /// The fetching of a list, some at a time, with its display.
    private struct FetchRun {
        enum Display { case none, lines, bar, json }

        let control: Control
        let part: PrefetchPart
        let jobs: Int
        let display: Display
        private var progress = Progress()
        private var running: [Int] = []
        private var ended: [PrefetchReport] = []

        init(control: Control, part: PrefetchPart, jobs: Int, display: Display) {
            self.control = control
            self.part = part
            self.jobs = jobs
            self.display = display
        }

        /// How often the state is looked at.
        private static let pace = Duration.milliseconds(200)

        mutating func fetch(_ sources: [OriginURL]) async throws {
            let isStopped = Atomic(false)
            let signals = Task {
                for await _ in await UnixSignalsSequence(trapping: [.sigint, .sigterm]) {
                    isStopped.store(true, ordering: .relaxed)
                }
            }
            defer { signals.cancel() }
            var waiting = sources[...]
            while !(waiting.isEmpty && running.isEmpty) {
                if isStopped.load(ordering: .relaxed) { return try await stop() }
                while running.count < jobs, let next = waiting.popFirst() {
                    running.append(try await control.send(.prefetch(next, part), as: PrefetchReport.self).id)
                }
                try await Task.sleep(for: FetchRun.pace)
                try await look(of: sources.count)
            }
            if display == .bar { printErrorPart("\r\u{1B}[K") }
            guard ended.allSatisfy(\.isComplete) else { throw ExitCode(69) }
        }

        private mutating func look(of count: Int) async throws {
            var reports: [PrefetchReport] = []
            for id in running {
                reports.append(try await control.send(.prefetchProgress(id), as: PrefetchReport.self))
            }
            let now = Double(SystemCalls.monotonicNanoseconds()) / 1e9
            for report in reports where report.hasEnded {
                running.removeAll { $0 == report.id }
                ended.append(report)
                announce(report)
            }
            progress.update(ended + reports.filter { !$0.hasEnded }, of: count, at: now)
            if display == .bar { printErrorPart("\r\u{1B}[K" + progress.line(width: SystemCalls.terminalWidth(2) - 1)) }
        }

        private func announce(_ report: PrefetchReport) {
            if display == .bar { printErrorPart("\r\u{1B}[K") }
            if let failure = report.failure {
                printError("reprise: \(report.url): \(failure)")
            } else if display == .lines || display == .bar {
                printError("\(report.url): \(Size(report.stored)) stored")
            }
            if display == .json { printJSON(report) }
        }

        private mutating func stop() async throws {
            for id in running { _ = try await control.send(.cancelPrefetch(id)) }
            if display == .bar { printErrorPart("\r\u{1B}[K") }
            printError("reprise: stopped; received bytes are stored, and the same command resumes there")
            throw ExitCode(130)
        }
    }
#endif
