import ReprisePlatform
import Testing

/// The simulation as a shared cache: origins that allow and forbid, answers that vary, requests with directives.
@Suite struct SharedSimulationTests {
    private static func number(_ name: String) -> UInt64? { SystemCalls.environment(name).flatMap(UInt64.init) }

    /// `REPRISE_SEEDS=n` runs a quarter of n seeds; `REPRISE_SHARED_SEED=s` replays one and tells what happens.
    @Test(arguments: 0..<2)
    func `whatever origins and clients say of caching, no wrong byte and nobody waits for ever, inv01 inv26`(
        shard: Int
    ) throws {
        if let one = Self.number("REPRISE_SHARED_SEED") {
            guard shard == 0 else { return }
            var simulation = try Simulation(seed: one, isShared: true)
            try simulation.run(isTraced: true)
            return
        }
        let seeds = (Self.number("REPRISE_SEEDS") ?? 2000) / 4
        var failures = 0
        for seed in 1...max(1, seeds) where seed % 2 == UInt64(shard) && failures < 10 {
            do {
                var simulation = try Simulation(seed: seed, isShared: true)
                try simulation.run()
            } catch {
                failures += 1
                Issue.record("seed \(seed): \(error); replay with REPRISE_SHARED_SEED=\(seed)")
            }
        }
    }
}
