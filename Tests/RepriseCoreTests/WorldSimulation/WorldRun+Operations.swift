import Foundation
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting

@testable import RepriseCore

/// What apps do with resources and the cache, beside reading.
extension WorldRun {
    mutating func operate(_ operation: WorldPlan.Operation, _ object: Int) {
        let cache = world.cache
        let fields = fields(of: tasks.count % WorldPlan.users, object)
        let resource = cache.resource(for: OriginURL("http://origin.test" + plan.objects[object].path)!, fields: fields)
        let isLong = plan.objects[object].length > WorldPlan.endless
        if operation == .suspend { isSuspended = true }
        if operation == .resume { isSuspended = false }
        let (leases, found, queues, copy) = (leases, found, world.queues, "/copies/\(object).mp3")
        let (isOneVersion, contentType) = (isOneVersion(of: object), plan.objects[object].contentType)
        let ending = Ending()
        tasks.append((name: "\(operation) of \(plan.objects[object].path)", ending: ending))
        Task(executorPreference: world.queues) {
            defer { ending.come() }
            do {
                switch operation {
                case .pin: try await resource.pin()
                case .unpin: try await resource.unpin()
                case .prefetch: try await RangeFetch(resource, isLong ? ByteRange(0, 3000) : .from(0)).run()
                case .prefetchHead: try await RangeFetch(resource, ByteRange(0, 700)).run()
                case .remove: try await resource.remove()
                case .verify: _ = try await resource.verify()
                case .compare: _ = try await resource.compareWithOrigin()
                case .invalidate:
                    try await cache.invalidate(
                        after: "POST", at: resource.request.url, OriginResponseHead(status: 200, fields: [:]))
                case .collectGarbage: await cache.collectGarbage()
                case .suspend: await cache.suspend()
                case .resume: await cache.resume()
                case .repair: try await resource.repair()
                case .repairAll: _ = try await cache.repair()
                case .removeAll: try await cache.removeAll()
                case .entries: _ = await cache.entries()
                case .statistics:
                    _ = try await resource.statistics()
                    _ = await cache.storeStatistics()
                case .info: _ = try await resource.info()
                case .networkReturned: cache.networkPathReturned()
                case .complete: if !isLong { try await resource.prefetch(.whole).value }
                case .prefetchBeginning: if !isLong { try await resource.prefetch(.head).value }
                case .cancelPrefetch:
                    let fetch = resource.prefetch(isLong ? .head : .whole)
                    queues.after(150 * millisecond) { fetch.cancel() }
                    try await fetch.value
                case .completeLease: try await leases.value.last?.lease.waitUntilComplete()
                case .export:
                    try await resource.export(to: URL(fileURLWithPath: copy))
                    if !isOneVersion(copy, nil) {
                        found.add(WorldViolation(oracle: "bytes", text: "an export of \(resource.request.url)"))
                    }
                case .exportAndImport:
                    let file = try await resource.export(to: URL(fileURLWithPath: copy))
                    // Who imports what is no media says so: by its name it would be.
                    try await resource.importFile(file, as: ImportDescription(contentType: contentType))
                case .fileURL, .fileURLOfBeginning:
                    guard !isLong else { break }
                    let lease =
                        operation == .fileURL
                        ? try await resource.fileURL() : try await resource.fileURL(afterBytes: 500)
                    leases.change { leases in
                        leases.append((lease, object, operation == .fileURL))
                        if leases.count > 2 { leases.removeFirst() }
                    }
                }
            } catch {}
        }
    }
}
