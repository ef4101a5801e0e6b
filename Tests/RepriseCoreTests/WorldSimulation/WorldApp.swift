import RepriseHTTP
import ReprisePlatform
import RepriseTesting

@testable import RepriseCore

/// What the app around a world's cache answers when it is asked.
final class WorldApp: Sendable {
    private let plan: WorldPlan
    private let world = Shared<World?>(nil)
    /// How often it was asked what.
    let asked = Shared<[String: Int]>([:])

    init(_ plan: WorldPlan) { self.plan = plan }

    /// The world is there, and may be looked at.
    func begin(_ world: World) { self.world.set(world) }

    /// The run is over: the world's cache, which asks, goes.
    func end() { world.set(nil) }

    private func note(_ what: String) { asked.change { $0[what, default: 0] += 1 } }

    func configure(_ configuration: inout MediaCache.Configuration) {
        switch plan.admitting {
        case .everything: break
        case .short: configuration.admission = looking.and(.upTo(1500))
        case .types: configuration.admission = looking.and(.types(["audio/*"]))
        }
        if plan.refreshing != .never {
            configuration.urlRefresher = URLRefresher { refused, answer in self.refresh(refused, answer) }
        }
    }

    /// Admits everything, and looks at the cache before it answers.
    private var looking: Admission {
        Admission { _ in
            self.note("admission asked")
            _ = self.world.value?.cache.openEntries.map(\.explanation)
            return true
        }
    }

    private func refresh(
        _ refused: RefusedURL, _ answer: @escaping @Sendable (Result<OriginURL?, any Error>) -> Void
    ) {
        note("refresher asked")
        guard let queues = world.value?.queues else { return answer(.success(nil)) }
        let path = refused.url.redacted
        let number = asked.value["refresher asked"] ?? 0
        switch plan.refreshing {
        case .never, .hanging: break
        case .fresh: queues.soon { answer(.success(OriginURL("\(path)?fresh=\(number)"))) }
        case .late: queues.after(5 * second) { answer(.success(OriginURL("\(path)?fresh=\(number)"))) }
        case .same: queues.soon { answer(.success(refused.url)) }
        case .nothing: queues.soon { answer(.success(nil)) }
        case .failing: queues.soon { answer(.failure(CacheError(.originUnreachable, "the app is offline"))) }
        }
    }
}
