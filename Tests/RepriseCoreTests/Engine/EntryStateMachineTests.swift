import RepriseHTTP
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// The router by itself: inputs in, actions out, without queues, sockets or a clock.
@Suite struct EntryStateMachineTests {
    /// A machine, and a caller that carries nothing out.
    private struct Bench {
        let hosts = HostTable(limit: 1)
        var machine: EntryStateMachine
        var now: Int64 = 0

        init(_ freshness: FreshnessPolicy = .immutable, store: Store? = nil, admission: Admission = .all) {
            let queues = ManualQueues()
            let environment = EntryEnvironment(
                queues: queues, client: SilentClient(), store: store, hosts: hosts,
                hub: EventHub(clock: { queues.wallClock() }), freshness: freshness, admission: admission)
            machine = EntryStateMachine(
                key: ResourceKey("k"), url: OriginURL("http://a/b")!, fields: [:], isPrivate: false,
                environment: environment)
        }

        /// What an input leads to.
        mutating func handle(_ input: EntryInput) -> [EntryAction] {
            machine.handle(input, now: now)
            return machine.takeOutput().actions
        }

        mutating func attach(_ range: ByteRange = .from(0), fields: HTTPFields = [:]) -> (ReaderID?, [EntryAction]) {
            machine.begin(now: now)
            let id = machine.attach(
                url: OriginURL("http://a/b")!, fields: fields, position: range.lowerBound, end: range.upperBound,
                priority: .playing, mayStore: true)
            machine.endAnswer()
            return (id, machine.takeOutput().actions)
        }

        mutating func read(_ id: ReaderID) -> (ReadResult, [EntryAction]) {
            machine.begin(now: now)
            let result = machine.read(id, limit: 1000) {}
            machine.endAnswer()
            return (result, machine.takeOutput().actions)
        }

        /// Grants the slot that is asked for; the request that is sent then.
        mutating func grant(_ actions: [EntryAction]) throws -> RequestID {
            let ticket = try #require(
                actions.compactMap { if case .acquireSlot(let ticket, _) = $0 { ticket } else { nil } }.first)
            let acquired = hosts.acquire("http://a", onContention: {}, onGrant: { _ in })
            let slot = try #require(acquired)
            let sent = handle(.slotGranted(ticket, slot))
            return try #require(sent.compactMap { if case .send(let id, _) = $0 { id } else { nil } }.first)
        }
    }

    private func head(_ status: Int = 206, _ fields: HTTPFields = [:], range: String = "bytes 0-99/100") -> OriginEvent
    {
        var fields = fields
        if status == 206 { fields["Content-Range"] = range }
        fields["ETag"] = fields["ETag"] ?? "\"one\""
        return .head(OriginResponseHead(status: status, fields: fields))
    }

    private func isWake(_ action: EntryAction) -> Bool { if case .wake = action { true } else { false } }
    private func isSend(_ action: EntryAction) -> Bool { if case .send = action { true } else { false } }
    private func isSlot(_ action: EntryAction) -> Bool { if case .acquireSlot = action { true } else { false } }
    private func isRelease(_ action: EntryAction) -> Bool { if case .releaseSlot = action { true } else { false } }
    private func isOpen(_ action: EntryAction) -> Bool { if case .open = action { true } else { false } }

    @Test func `the first reader has the store asked, and only then the origin`() throws {
        var bench = Bench()
        let (id, actions) = bench.attach()
        #expect(actions.contains(where: isOpen) && !actions.contains(where: isSlot))
        let (result, waiting) = bench.read(try #require(id))
        guard case .pending = result else {
            Issue.record("\(result)")
            return
        }
        #expect(!waiting.contains(where: isSlot))
        #expect(bench.handle(.opened(nil, nil)).contains(where: isSlot))
        #expect(bench.machine.brokenInvariant == nil)
    }

    @Test func `readers of the same bytes share one request, inv11`() throws {
        var bench = Bench()
        _ = bench.attach()
        let request = try bench.grant(bench.handle(.opened(nil, nil)))
        let (second, more) = bench.attach()
        #expect(!more.contains(where: isSlot) && !more.contains(where: isSend))
        _ = bench.handle(.received(request, head()))
        let came = bench.handle(.received(request, .body([1, 2, 3])))
        #expect(!came.contains(where: isSend))
        let (result, _) = bench.read(try #require(second))
        guard case .memory(let bytes, 0) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(Array(bytes) == [1, 2, 3])
    }

    /// The app is asked whether an answer of 100 bytes may be stored, and its reader has left.
    private func awaitingAdmission() throws -> (Bench, RepresentationID) {
        let layout = BlockLayout(blockSize: 64)
        let store = try Store(root: "/store", volume: SimulatedDisk(), layout: layout, key: nil)
        var bench = Bench(store: store, admission: .upTo(1000))
        let (id, _) = bench.attach()
        let request = try bench.grant(bench.handle(.opened(nil, nil)))
        _ = bench.handle(.received(request, head()))
        let asked = bench.handle(.received(request, .body(ArraySlice(repeating: 1, count: 100)))).compactMap {
            if case .admit(let id, _) = $0 { id } else { nil }
        }
        #expect(asked.count == 1)
        _ = bench.handle(.received(request, .end(isDelimited: true)))
        _ = bench.read(try #require(id))
        let left = bench.handle(.detach(try #require(id)))
        #expect(!left.contains { if case .admit = $0 { true } else { false } })
        #expect(bench.machine.hasUnwritten && bench.machine.bytesInMemory == 100)
        return (bench, try #require(asked.first))
    }

    private func isStage(_ action: EntryAction) -> Bool { if case .stage = action { true } else { false } }

    @Test func `what is admitted late is stored, though its reader has left`() throws {
        var (bench, id) = try awaitingAdmission()
        #expect(bench.handle(.admitted(id, true)).contains(where: isStage))
        #expect(!bench.handle(.admitted(id, true)).contains(where: isStage))
        #expect(bench.machine.hasUnwritten)
    }

    @Test func `what is not admitted, or admitted after the end, goes from memory`() throws {
        var (bench, id) = try awaitingAdmission()
        #expect(!bench.handle(.admitted(id, false)).contains(where: isStage))
        #expect(!bench.machine.hasUnwritten && bench.machine.bytesInMemory == 0)
        var (closed, late) = try awaitingAdmission()
        _ = closed.handle(.shutDown)
        #expect(!closed.handle(.admitted(late, true)).contains(where: isStage))
        #expect(!closed.machine.hasUnwritten)
        var (removed, gone) = try awaitingAdmission()
        _ = removed.handle(.removed)
        #expect(!removed.handle(.admitted(gone, true)).contains(where: isStage))
    }

    @Test func `what an earlier request still says changes nothing`() throws {
        var bench = Bench()
        let (id, _) = bench.attach()
        let request = try bench.grant(bench.handle(.opened(nil, nil)))
        _ = bench.handle(.received(request, .failed(OriginFailure(.interrupted, "cut"))))
        let late = bench.handle(.received(request, head()))
        #expect(late.isEmpty)
        #expect(bench.machine.activity.transfers == 0)
        _ = id
    }

    @Test func `a slot that comes when no reader wants it is released`() throws {
        var bench = Bench()
        let (id, _) = bench.attach()
        let actions = bench.handle(.opened(nil, nil))
        _ = bench.handle(.detach(try #require(id)))
        let ticket = try #require(
            actions.compactMap { if case .acquireSlot(let ticket, _) = $0 { ticket } else { nil } }.first)
        let acquired = bench.hosts.acquire("http://a", onContention: {}, onGrant: { _ in })
        let after = bench.handle(.slotGranted(ticket, try #require(acquired)))
        #expect(after.contains(where: isRelease) && !after.contains(where: isSend))
    }

    @Test func `a private answer is its requester's alone, others go elsewhere, inv29`() throws {
        var bench = Bench(.http)
        let (alice, _) = bench.attach(fields: ["Authorization": "alice"])
        let request = try bench.grant(bench.handle(.opened(nil, nil)))
        let (bob, _) = bench.attach(fields: ["Authorization": "bob"])
        _ = bench.handle(.received(request, head(200, ["Cache-Control": "private", "Content-Length": "3"])))
        _ = bench.handle(.received(request, .body([1, 2, 3])))
        let (hers, _) = bench.read(try #require(alice))
        guard case .memory = hers else {
            Issue.record("\(hers)")
            return
        }
        guard case .ended? = bench.machine.status(of: try #require(bob))?.place else {
            Issue.record("who waits for what is stored for him waits for ever")
            return
        }
        let (his, _) = bench.read(try #require(bob))
        guard case .redirected(.alone) = his else {
            Issue.record("\(his)")
            return
        }
        #expect(bench.attach().0 == nil, "readers that come later get another entry")
    }

    @Test func `closed means closed: readers end, requests end, nothing is asked any more`() throws {
        var bench = Bench()
        let (id, _) = bench.attach()
        let request = try bench.grant(bench.handle(.opened(nil, nil)))
        let actions = bench.handle(.shutDown)
        #expect(actions.contains(where: isRelease))
        let (result, _) = bench.read(try #require(id))
        guard case .failed(let error) = result, error.code == .closed else {
            Issue.record("\(result)")
            return
        }
        #expect(bench.handle(.received(request, head())).isEmpty)
        #expect(bench.attach().0 == nil)
        bench.now = 40 * TransferTuning.second
        _ = bench.handle(.closeIfIdle)
        #expect(bench.machine.isGone && bench.machine.brokenInvariant == nil)
    }

    @Test func `a silent origin fails its reader in time, by one timer at a time`() throws {
        var bench = Bench()
        let (attached, _) = bench.attach()
        let id = try #require(attached)
        var timers: [Int64] = []
        func carryOut(_ actions: [EntryAction], _ bench: inout Bench) throws {
            for action in actions {
                switch action {
                case .timer(let time): timers.append(time)
                case .releaseSlot(let slot): slot.release()
                case .acquireSlot(let ticket, _):
                    let acquired = bench.hosts.acquire("http://a", onContention: {}, onGrant: { _ in })
                    try carryOut(bench.handle(.slotGranted(ticket, try #require(acquired))), &bench)
                default: break
                }
            }
        }
        try carryOut(bench.handle(.opened(nil, nil)), &bench)
        while true {
            let (result, actions) = bench.read(id)
            if case .failed(let error) = result {
                #expect(error.code == .originTimedOut)
                break
            }
            try carryOut(actions, &bench)
            let next = try #require(timers.min(), "nothing would ever happen: \(bench.machine.explanation)")
            timers.removeAll { $0 == next }
            bench.now = max(bench.now, next)
            try carryOut(bench.handle(.timer(at: next)), &bench)
        }
        #expect(bench.now <= 60 * TransferTuning.second)
    }
}

/// A client that is never called: the tests are the origin.
private struct SilentClient: OriginClient {
    func start(
        _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) -> any OriginExchange {
        fatalError("nothing is carried out")
    }
}
