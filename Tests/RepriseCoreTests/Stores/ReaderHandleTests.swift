import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

@Suite struct ReaderHandleTests {
    /// Who waits for what a reader has stored looks from another thread while it moves.
    @Test func `a reader that goes on elsewhere is there all the time`() throws {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: 1000) { $0.extraFields["Cache-Control"] = "private" }
        let alice = world.player("/a", fields: ["Authorization": "alice"])
        alice.take()
        let url = OriginURL("http://origin.test/a")!
        let request = world.cache.resource(for: url, fields: ["Authorization": "bob"]).request
        let (table, seen, bob) = (world.cache.table, Shared<[Bool]>([]), Shared<ReaderHandle?>(nil))
        let handle = ReaderHandle(
            table.attach(request, 0, .max, .playing), position: 0, end: .max, queues: world.queues, transform: nil
        ) { _, position, end in
            seen.change { $0.append(bob.value?.storage != nil) }
            return table.attachAlone(request, position, end, .playing)
        }
        bob.set(handle)
        alice.finish()
        _ = handle.step(limit: 10) {}
        #expect(seen.value == [true])
        handle.leave()
        alice.leave()
        bob.set(nil)
        world.queues.advance(120 * second)
        #expect(world.cache.openEntries.isEmpty, "both of its entries were left")
    }
}
