package import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Carries out what an administrator asks, over one cache. The tool uses it in its own process where no server holds the
/// store, and through the server's control socket where one does: both give the same answers.
///
/// May be called from any thread.
package final class AdminService: Sendable {
    private struct State {
        var prefetches: [Int: (url: String, Prefetch)] = [:]
        var next = 1
        var isDraining = false
    }

    /// Fetches ahead that are remembered; the oldest that ended are forgotten first.
    private static let prefetchLimit = 256

    private let cache: MediaCache
    private let connections: @Sendable () -> Int?
    private let metrics: @Sendable () -> String?
    private let onDrain: @Sendable () -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - connections: Client connections of the media listener now.
    ///   - metrics: Prometheus' text; `nil` where nobody measures.
    ///   - onDrain: Called when draining was asked for.
    package init(
        _ cache: MediaCache, connections: @escaping @Sendable () -> Int? = { nil },
        metrics: @escaping @Sendable () -> String? = { nil }, onDrain: @escaping @Sendable () -> Void = {}
    ) {
        self.cache = cache
        self.connections = connections
        self.metrics = metrics
        self.onDrain = onDrain
    }

    /// Does what is asked and tells of it.
    package func answer(_ request: AdminRequest) async -> AdminAnswer {
        do {
            return try await carryOut(request)
        } catch let error as CacheError {
            return .text(error.code == .badURL || error.code == .unsupported ? 400 : 503, error.message)
        } catch {
            return .text(500, "\(error)")
        }
    }

    private func carryOut(_ request: AdminRequest) async throws -> AdminAnswer {
        switch request {
        case .health:
            return state.withLock { $0.isDraining } ? .text(503, "draining") : .text(200, "ok")
        case .drain:
            state.withLock { $0.isDraining = true }
            onDrain()
            return .text(202, "draining")
        case .importFile(let url, let path, let description):
            let info = try await cache.resource(for: url).importFile(atPath: path, as: description)
            return try json(EntryReport(info, ranges: ByteRangeSet(ByteRange(0, info.length ?? 0))))
        case .repair(let url?): return try json(try await cache.resource(for: url).repair())
        case .repair(nil): return try json(try await cache.repair())
        case .sweep:
            await cache.collectGarbage()
            return try json(SpaceReport(cache))
        case .metrics:
            guard let text = metrics() else { return .text(404, "this process keeps no metrics") }
            return AdminAnswer(
                status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(text.utf8))
        case .statistics:
            return try json(
                StatisticsReport(
                    cache.statistics, total: cache.knownStoreStatistics, connections: connections(),
                    usage: cache.usageAtOpening))
        case .activity: return try json(cache.resourceReports)
        case .entries:
            return try json(
                await cache.entries().sorted { $0.key < $1.key }.map { entry in
                    EntryReport(entry, lastError: cache.resource(for: entry)?.lastError)
                })
        case .entry(let url): return try await entry(url)
        case .remove(let url):
            try await cache.resource(for: url).remove()
            return .text(200, "removed")
        case .removeAll:
            try await cache.removeAll()
            return .text(200, "removed")
        case .pin(let url):
            try await cache.resource(for: url).pin()
            return .text(200, "pinned")
        case .unpin(let url):
            try await cache.resource(for: url).unpin()
            return .text(200, "unpinned")
        case .prefetch(let url, let part): return try json(begin(url, part), status: 202)
        case .prefetches: return try json(reports())
        case .prefetchProgress(let id):
            guard let report = report(id) else { return .text(404, "there is no such prefetch") }
            return try json(report)
        case .cancelPrefetch(let id):
            guard let found = state.withLock({ $0.prefetches[id] }) else {
                return .text(404, "there is no such prefetch")
            }
            found.1.cancel()
            return .text(200, "cancelled")
        }
    }

    private func entry(_ url: OriginURL) async throws -> AdminAnswer {
        let resource = cache.resource(for: url)
        guard let (info, ranges) = try await resource.storedEntry() else {
            return .text(404, "nothing is stored of it")
        }
        return try json(EntryReport(info, ranges: ranges, lastError: resource.lastError))
    }

    // MARK: Fetching ahead

    private func begin(_ url: OriginURL, _ part: PrefetchPart) -> PrefetchReport {
        let prefetch = cache.resource(for: url).prefetch(part)
        let id = state.withLock { state in
            let id = state.next
            state.next += 1
            state.prefetches[id] = (url.redacted, prefetch)
            if state.prefetches.count > AdminService.prefetchLimit,
                let old = state.prefetches.keys.sorted().first(where: { state.prefetches[$0]?.1.hasEnded == true })
            {
                state.prefetches[old] = nil
            }
            return id
        }
        return PrefetchReport(id: id, url: url.redacted, prefetch)
    }

    private func report(_ id: Int) -> PrefetchReport? {
        state.withLock { $0.prefetches[id] }.map { PrefetchReport(id: id, url: $0.url, $0.1) }
    }

    private func reports() -> [PrefetchReport] {
        state.withLock { $0.prefetches }.sorted { $0.key < $1.key }.map {
            PrefetchReport(id: $0.key, url: $0.value.url, $0.value.1)
        }
    }

    /// Cancels what is being fetched ahead; what came stays.
    package func cancelPrefetches() {
        for (_, prefetch) in state.withLock({ Array($0.prefetches.values) }) { prefetch.cancel() }
    }

    private func json(_ value: some Encodable, status: Int = 200) throws -> AdminAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return AdminAnswer(
            status: status, contentType: "application/json", body: Array(try encoder.encode(value)) + [0x0A])
    }
}
