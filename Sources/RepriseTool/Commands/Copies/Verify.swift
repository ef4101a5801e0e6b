#if Server
    import ArgumentParser
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseRanges
    import RepriseStorage

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read the store and verify the checksum of every block.",
            discussion: """
                Changes nothing and can run while a server holds the store. A damaged block is fetched again for its next \
                reader. Exits with 1 if a block is damaged.
                With --against-origin it requests the stored ranges, and no other, from the origin and prints the byte ranges \
                that differ (first and last byte, as in HTTP). Exits with 1 if bytes or length differ.
                """)

        @OptionGroup var store: StoreOptions
        @OptionGroup var upstreams: UpstreamOptions
        @Flag(help: "Compare the stored bytes with the origin's.")
        var againstOrigin = false
        @Flag(help: "Print a line of JSON for each entry.")
        var json = false
        @Argument(help: "URLs or keys. (default: all entries)")
        var urls: [String] = []

        func run() async throws {
            try await RepriseTool.run {
                let opened = try await store.openForReading()
                if againstOrigin { return try await compare(opened) }
                let named = try urls.map { try store.key($0).text }
                var damaged: Int64 = 0
                do throws(StoreError) {
                    for key in try keys(named, opened) { damaged += try check(key, opened) }
                    if named.isEmpty { try checkIndex(opened) }
                } catch {
                    throw Failure(error)
                }
                if damaged > 0 { throw ExitCode(1) }
            }
        }

        private func compare(_ opened: Store) async throws {
            var wanted: [(key: String, url: OriginURL?)] = []
            do throws(StoreError) {
                if urls.isEmpty { wanted = try keys([], opened).map { ($0, nil) } }
            } catch { throw Failure(error) }
            for url in urls { wanted.append((try store.key(url).text, OriginURL(url))) }
            let client = try upstreams.makeClient(store)
            var code: Int32 = 0
            for (key, url) in wanted {
                do throws(CacheError) {
                    let isSame = try await compare(key, url, opened, client)
                    if !isSame, code == 0 { code = 1 }
                } catch {
                    let failure = Failure(error)
                    printError("reprise: \(key): \(failure.description)")
                    code = failure.code
                }
            }
            try await client.shutdown()
            if code != 0 { throw ExitCode(code) }
        }

        private func compare(
            _ key: String, _ url: OriginURL?, _ opened: Store, _ client: any OriginClient
        ) async throws(CacheError) -> Bool {
            let found: EntrySnapshot?
            do throws(StoreError) { found = try opened.snapshot(key: key) } catch { throw CacheError(error) }
            guard let snapshot = found else { throw CacheError(.incomplete, "nothing is stored of it") }
            guard let url = url ?? OriginURL(snapshot.info.url) else {
                throw CacheError(.badURL, "no URL is known of it; name one")
            }
            let request = ResourceRequest(key: ResourceKey(key), url: url, fields: [:])
            let check = OriginCheck(request, by: client, on: SystemWorkQueues())
            let finding = OriginFinding(key, try await check.compare(snapshot))
            if json { printJSON(finding) } else { finding.tell() }
            return finding.isSame
        }

        private func keys(_ named: [String], _ store: Store) throws(StoreError) -> [String] {
            if !named.isEmpty { return named }
            var keys: [String] = []
            for name in try store.entryNames() {
                if let key = try store.describe(name: name)?.info.key { keys.append(key) }
            }
            return keys.sorted()
        }

        /// Compares what the index says of each entry with the entry.
        private func checkIndex(_ store: Store) throws(StoreError) {
            let first = try wrongNames(store)
            // A server that has the store may be ahead of one reading, not of two.
            let wrong = first.isEmpty ? 0 : first.intersection(try wrongNames(store)).count
            guard wrong > 0 else { return }
            printError(
                "reprise: the index of \(store.root) is wrong about \(wrong) \(wrong == 1 ? "entry" : "entries"), which costs nothing "
                    + "but a wrong line in `ls`; `reprise repair` corrects it")
        }

        private func wrongNames(_ store: Store) throws(StoreError) -> Set<String> {
            var wrong: Set<String> = []
            for entry in try store.survey().known {
                var found = try store.look(name: entry.name)
                // What the folder itself takes is an estimate.
                found?.use.allocated = entry.use.allocated
                if found != entry { wrong.insert(entry.name) }
            }
            return wrong
        }

        private func check(_ key: String, _ store: Store) throws(StoreError) -> Int64 {
            guard let entry = try store.open(key: key) else {
                report(Finding(key: key, checkedBytes: 0, damagedBlocks: 0, isStored: false))
                return 0
            }
            let generation = entry.generation
            do throws(FileError) {
                try generation.load(.from(0))
                let claimed = generation.claimedBytes
                try generation.verify(.from(0))
                let damaged = generation.damagedBlocks
                report(Finding(key: key, checkedBytes: claimed, damagedBlocks: damaged, isStored: true))
                return damaged
            } catch {
                throw StoreError(.unavailable, "\(key) cannot be read now: \(error)")
            }
        }

        private struct Finding: Encodable {
            var key: String
            var checkedBytes: Int64
            var damagedBlocks: Int64
            var isStored: Bool
        }

        private func report(_ finding: Finding) {
            if json { return printJSON(finding) }
            let state =
                !finding.isStored
                ? "not stored"
                : finding.damagedBlocks == 0
                    ? "good" : "\(finding.damagedBlocks) damaged block\(finding.damagedBlocks == 1 ? "" : "s")"
            print("\(padded(Size(finding.checkedBytes).description, 10))  \(state)  \(finding.key)")
        }
    }
#endif
