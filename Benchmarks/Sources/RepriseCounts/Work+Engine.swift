import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting

extension Work {
    /// Floor 3: planning, and readers of what is stored. Everything runs on this one thread.
    static var engine: [Work] {
        [
            Work("plan for a reader and its transfer", count: 2_000, from: Plan(readers: 1, transfers: 1)) { plan in
                { turn in plan.decisions(turn) }
            },
            Work("plan for 16 readers and 4 transfers", count: 200, from: Plan(readers: 16, transfers: 4)) { plan in
                { turn in plan.decisions(turn) }
            },
            Work("the next 4 KiB, stored", count: 1_000, from: try Warm()) { warm in
                let reader = warm.resource.makeHandle(in: .from(0))
                return { turn in
                    if turn % 512 == 0 { reader.seek(to: 0) }
                    return warm.read(reader, limit: 4096)
                }
            },
            Work("a reader of a stored range of 64 KiB, from its making to its end", count: 200, from: try Warm()) {
                warm in
                { turn in
                    let offset = Int64(turn % 16) * 65_536
                    let reader = warm.resource.makeHandle(in: ByteRange(offset, offset + 65_536))
                    let count = warm.read(reader, limit: 65_536)
                    reader.leave()
                    warm.queues.settle()
                    return count
                }
            },
        ]
    }
}

/// Readers of one resource and transfers that bring it.
private struct Plan {
    private let readers: [TransferPlanner.Reader]
    private let transfers: [TransferPlanner.Transfer]

    init(readers: Int, transfers: Int) {
        let apart: Int64 = 64 << 20
        self.readers = (0..<readers).map { number in
            let position = Int64(number % transfers) * apart + Int64(number) * 1000
            return TransferPlanner.Reader(
                id: ReaderID(number: number), position: position, end: .max, missing: position + 5000, gapEnd: .max,
                isWaiting: number % 2 == 0)
        }
        self.transfers = (0..<transfers).map { number in
            TransferPlanner.Transfer(
                id: TransferID(number: number), head: Int64(number) * apart + 4000, gapEnd: .max, requestEnd: .max,
                waits: .init(lastProgress: 0))
        }
    }

    func decisions(_ turn: Int) -> Int {
        TransferPlanner(
            tuning: TransferTuning(), servesRanges: true,
            measure: HostTable.Measure(firstByte: 20_000_000, rate: 5_000_000), now: Int64(turn)
        )
        .plan(readers: readers, transfers: transfers).count
    }
}

/// A cache that has 2 MiB of something.
private struct Warm {
    let queues = ManualQueues()
    let folder = TemporaryDirectory()
    let cache: MediaCache
    let resource: MediaResource
    /// Stays at the end, so that the resource stays open and its blocks verified.
    private let keeper: ReaderHandle

    init() throws {
        let origin = ScriptedOrigin()
        origin.put(.init(literal: [UInt8](repeating: 9, count: 2 << 20)), at: "/work")
        let store = try Store(root: folder.path + "/store", volume: folder)
        cache = MediaCache(
            store: store, client: InMemoryOriginClient(origin: origin, queues: queues), queues: queues)
        guard let url = OriginURL("http://origin.test/work") else { preconditionFailure("not a URL") }
        resource = cache.resource(for: url)
        keeper = resource.makeHandle(in: .from(0))
        for _ in 0..<2 {
            keeper.seek(to: 0)
            while read(keeper, limit: 1 << 20) > 0 {}
            // Written, and let go of by the window.
            queues.advance(5_000_000_000)
        }
    }

    /// Reads on; how many bytes came, 0 at the end.
    func read(_ reader: ReaderHandle, limit: Int) -> Int {
        while true {
            switch reader.step(limit: limit, wake: {}) {
            case .memory(let bytes, _): return bytes.count
            case .lease(let lease):
                guard let bytes = try? lease.read() else { preconditionFailure("what is stored cannot be read") }
                return bytes.count
            case .pending:
                if !queues.runOne(until: queues.time + 60_000_000_000) { preconditionFailure("nothing comes") }
            case .end: return 0
            case .failed(let error): preconditionFailure("\(error)")
            }
        }
    }
}
