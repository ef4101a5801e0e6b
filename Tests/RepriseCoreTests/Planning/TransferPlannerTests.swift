import RepriseCore
import RepriseTesting
import Testing

@Suite struct TransferPlannerTests {
    typealias Reader = TransferPlanner.Reader
    typealias Transfer = TransferPlanner.Transfer
    private let tuning = TransferTuning()

    private func planner(
        servesRanges: Bool = true, rate: Double? = nil, firstByte: Int64? = nil,
        now: Int64 = 100 * TransferTuning.second
    ) -> TransferPlanner {
        TransferPlanner(
            tuning: tuning, servesRanges: servesRanges, measure: HostTable.Measure(firstByte: firstByte, rate: rate),
            now: now)
    }

    private func reader(
        _ id: Int, at position: Int64, missing: Int64? = nil, end: Int64 = .max, gapEnd: Int64 = .max,
        isWaiting: Bool = true,
        priority: TransferPlanner.Priority = .playing
    ) -> Reader {
        Reader(
            id: ReaderID(number: id), position: position, end: end, missing: missing ?? position, gapEnd: gapEnd,
            isWaiting: isWaiting,
            priority: priority)
    }

    private func transfer(
        _ id: Int, head: Int64, gapEnd: Int64 = .max, requestEnd: Int64 = .max, isRequesting: Bool = true,
        pausedFor: Int64? = nil, silentFor: Int64 = 0, hasHead: Bool = true, begun: Int64 = .min,
        unwanted: TransferDeadlines.Unwanted? = nil
    ) -> Transfer {
        let now = 100 * TransferTuning.second
        return Transfer(
            id: TransferID(number: id), head: head, gapEnd: gapEnd, requestEnd: requestEnd, isRequesting: isRequesting,
            hasHead: hasHead, begun: begun,
            waits: .init(
                lastProgress: now - silentFor, pausedSince: pausedFor.map { now - $0 }, unwanted: unwanted))
    }

    // MARK: Rule 1, who needs the network

    @Test func `nobody reads, so nothing starts`() {
        #expect(planner().plan(readers: [], transfers: []).isEmpty)
    }

    @Test func `a reader that misses its next byte gets a transfer, inv12`() {
        #expect(planner().plan(readers: [reader(1, at: 5)], transfers: []) == [.start(reader: 1)])
    }

    @Test func `a reader that has everything up to its end needs nothing, inv13`() {
        let content = Reader(id: 1, position: 0, end: 100, missing: nil, gapEnd: .max, isWaiting: false)
        #expect(planner().plan(readers: [content], transfers: []).isEmpty)
        #expect(planner().plan(readers: [reader(1, at: 0, missing: 100, end: 100)], transfers: []).isEmpty)
    }

    @Test(arguments: [-1, 0, 1] as [Int64])
    func `a missing byte counts from the read-ahead on, not a byte sooner`(shift: Int64) {
        let decisions = planner().plan(
            readers: [reader(1, at: 10, missing: 10 + tuning.readAhead + shift, isWaiting: false)], transfers: [])
        #expect(decisions.isEmpty == (shift >= 0))
    }

    // MARK: Rule 2, joining or starting

    @Test(arguments: [0, 1, 256 * 1024] as [Int64])
    func `a transfer within reach is joined, inv11`(distance: Int64) {
        let decisions = planner().plan(readers: [reader(1, at: distance)], transfers: [transfer(7, head: 0)])
        #expect(decisions == [.run(transfer: 7, goal: distance + tuning.readAhead, readers: [1])])
    }

    @Test func `a transfer that is too far behind is not waited for, inv12`() {
        let decisions = planner().plan(readers: [reader(1, at: 256 * 1024 + 1)], transfers: [transfer(7, head: 0)])
        #expect(decisions.contains(.start(reader: 1)))
        #expect(decisions.contains(.run(transfer: 7, goal: tuning.windDown, readers: [])))
    }

    @Test func `a transfer that is past the byte, or ends before it, does not bring it`() {
        for other in [transfer(7, head: 1001), transfer(7, head: 0, gapEnd: 1000)] {
            #expect(planner().plan(readers: [reader(1, at: 1000)], transfers: [other]).contains(.start(reader: 1)))
        }
    }

    @Test func `how far a transfer may be behind follows from the host's rate and first byte`() {
        // One second for the first byte and 1 MB a second: what is at most 1.05 MB behind is sooner there.
        let slowStart = planner(rate: 1_000_000, firstByte: TransferTuning.second)
        #expect(slowStart.reach == 1_050_000)
        #expect(planner(rate: 1, firstByte: 0).reach == tuning.leastReach)
        #expect(planner(rate: 1e15, firstByte: 3_600 * TransferTuning.second).reach == 64 << 20)
        #expect(planner(rate: 1_000_000).reach == tuning.joinDistance)
        #expect(planner(firstByte: 5).reach == tuning.joinDistance)
    }

    @Test func `readers close to each other get one transfer together, inv11`() {
        let readers = (0..<5).map { reader($0, at: Int64($0) * 1000) }
        #expect(planner().plan(readers: readers, transfers: []) == [.start(reader: 0)])
    }

    @Test func `readers far from each other get one each, inv12`() {
        let decisions = planner().plan(readers: [reader(1, at: 0), reader(2, at: 10_000_000)], transfers: [])
        #expect(Set(decisions) == [.start(reader: 1), .start(reader: 2)])
    }

    @Test func `a start does not serve what lies behind a stored piece`() {
        let readers = [reader(1, at: 0, gapEnd: 50), reader(2, at: 60)]
        #expect(Set(planner().plan(readers: readers, transfers: [])) == [.start(reader: 1), .start(reader: 2)])
    }

    @Test func `an owner that gives nothing for two seconds loses the byte to a reader that waits for it`() {
        let silent = transfer(7, head: 0, silentFor: tuning.takeover + 1)
        let decisions = planner().plan(readers: [reader(1, at: 0)], transfers: [silent])
        #expect(Set(decisions) == [.stop(transfer: 7), .start(reader: 1, isSecondTry: true)])
    }

    @Test func `an owner is not robbed while it is paused, not asked, without its head, or nobody waits`() {
        let late = tuning.takeover + 1
        let cases: [(Reader, Transfer)] = [
            (reader(1, at: 0), transfer(7, head: 0, pausedFor: 1, silentFor: late)),
            (reader(1, at: 0), transfer(7, head: 0, isRequesting: false, silentFor: late)),
            (reader(1, at: 0), transfer(7, head: 0, silentFor: late, hasHead: false)),
            (reader(1, at: 0, isWaiting: false), transfer(7, head: 0, silentFor: late)),
            (reader(1, at: 0), transfer(7, head: 0, silentFor: tuning.takeover)),
        ]
        for (reader, transfer) in cases {
            let decisions = planner().plan(readers: [reader], transfers: [transfer])
            #expect(decisions == [.run(transfer: 7, goal: tuning.readAhead, readers: [1])])
        }
    }

    // MARK: Rule 3, how far

    @Test func `a transfer runs up to the read-ahead of its foremost reader`() {
        let readers = [reader(1, at: 0), reader(2, at: 5000)]
        let decisions = planner().plan(readers: readers, transfers: [transfer(7, head: 0)])
        guard case .run(7, let goal, let ids)? = decisions.first else { return #expect(Bool(false), "\(decisions)") }
        #expect(goal == 5000 + tuning.readAhead)
        #expect(Set(ids) == [1, 2])
    }

    @Test func `a transfer never passes its readers' end`() {
        let decisions = planner().plan(readers: [reader(1, at: 0, end: 500)], transfers: [transfer(7, head: 0)])
        #expect(decisions == [.run(transfer: 7, goal: 500, readers: [1])])
    }

    @Test func `ends near the limit of 64 bits do not overflow`() {
        let far = Int64.max - 10
        let decisions = planner().plan(readers: [reader(1, at: far)], transfers: [transfer(7, head: far)])
        #expect(decisions == [.run(transfer: 7, goal: .max, readers: [1])])
    }

    @Test func `a transfer that is as far ahead of its reader as it may be pauses, and is stopped after five seconds`()
    {
        let ahead = Reader(id: 1, position: 0, end: .max, missing: nil, gapEnd: .max, isWaiting: false)
        let full = transfer(7, head: tuning.readAhead + 1)
        #expect(planner().plan(readers: [ahead], transfers: [full]) == [.pause(transfer: 7)])
        let resting = transfer(7, head: tuning.readAhead + 1, pausedFor: tuning.pausedStop - 1)
        #expect(planner().plan(readers: [ahead], transfers: [resting]) == [.pause(transfer: 7)])
        let over = transfer(7, head: tuning.readAhead + 1, pausedFor: tuning.pausedStop)
        #expect(planner().plan(readers: [ahead], transfers: [over]) == [.stop(transfer: 7)])
    }

    // MARK: Rule 4, nobody needs it

    @Test func `a transfer nobody needs takes what is on its way, then stops, inv14`() {
        let left = TransferDeadlines.Unwanted(since: 100 * TransferTuning.second, head: 1000)
        var unwanted = transfer(7, head: 1000)
        let goal = 1000 + tuning.windDown
        #expect(planner().plan(readers: [], transfers: [unwanted]) == [.run(transfer: 7, goal: goal, readers: [])])
        unwanted = transfer(7, head: goal - 1, unwanted: left)
        #expect(planner().plan(readers: [], transfers: [unwanted]) == [.run(transfer: 7, goal: goal, readers: [])])
        unwanted = transfer(7, head: goal, unwanted: left)
        #expect(planner().plan(readers: [], transfers: [unwanted]) == [.stop(transfer: 7)])
        unwanted = transfer(7, head: 1001, requestEnd: 1500, unwanted: left)
        #expect(planner().plan(readers: [], transfers: [unwanted]) == [.run(transfer: 7, goal: 1500, readers: [])])
    }

    @Test(arguments: [(-1, true), (0, false)] as [(Int64, Bool)])
    func `a transfer nobody needs stops after a second, however slow it is, inv14`(shift: Int64, runs: Bool) {
        let since = 100 * TransferTuning.second - tuning.unwantedStop - shift
        let unwanted = transfer(7, head: 1001, unwanted: .init(since: since, head: 1000))
        let decisions = planner().plan(readers: [], transfers: [unwanted])
        #expect(decisions == [runs ? .run(transfer: 7, goal: 1000 + tuning.windDown, readers: []) : .stop(transfer: 7)])
    }

    @Test func `one without a request and without readers is stopped`() {
        #expect(
            planner().plan(readers: [], transfers: [transfer(7, head: 0, isRequesting: false)]) == [.stop(transfer: 7)])
    }

    @Test func `cancelling is a reader that is not there any more, bug12`() {
        let (left, right) = (reader(1, at: 0), reader(2, at: 10_000_000))
        let transfers = [transfer(7, head: 0), transfer(8, head: 10_000_000)]
        let both = planner().plan(readers: [left, right], transfers: transfers)
        #expect(both.contains(.run(transfer: 8, goal: 10_000_000 + tuning.readAhead, readers: [2])))
        let one = planner().plan(readers: [right], transfers: transfers)
        #expect(one.first == .run(transfer: 7, goal: tuning.windDown, readers: []))
        #expect(one.dropFirst() == [.run(transfer: 8, goal: 10_000_000 + tuning.readAhead, readers: [2])])
    }

    // MARK: Rule 5, too many

    @Test(arguments: [false, true])
    func `at most four transfers a resource, the one farthest from being needed gives way, inv15`(wasWoken: Bool) {
        let transfers = (0..<4).map { transfer($0, head: Int64($0) * 100_000_000) }
        // 0 to 2 are waited for, 3 is only read ahead; its reader may have been woken and not have come for what is there.
        let readers =
            (0..<3).map { reader($0, at: Int64($0) * 100_000_000) }
            + [
                reader(3, at: 300_000_000 - 1000, missing: 300_000_000, isWaiting: wasWoken),
                reader(9, at: 900_000_000),
            ]
        let decisions = planner().plan(readers: readers, transfers: transfers)
        #expect(decisions.contains(.stop(transfer: 3)))
        #expect(decisions.contains(.start(reader: 9)))
        #expect(decisions.filter { $0 == .stop(transfer: 3) || $0.transfer == 3 }.count == 1)
    }

    @Test(arguments: [true, false])
    func `a transfer has its turn before another reader of the same priority takes its place`(isPlaying: Bool) {
        // Each reader has just taken what was there, and has not asked for more yet.
        let now = 100 * TransferTuning.second
        func decisions(begun: Int64) -> [TransferPlanner.Decision] {
            let transfers = (0..<4).map { transfer($0, head: Int64($0) * 100_000_000, begun: begun) }
            let readers =
                (0..<4).map { reader($0, at: Int64($0) * 100_000_000, isWaiting: false) }
                + [reader(9, at: 900_000_000, priority: isPlaying ? .playing : .prefetch)]
            return planner().plan(readers: readers, transfers: transfers)
        }
        #expect(!decisions(begun: now - tuning.leastTurn + 1).contains(.start(reader: 9)))
        #expect(decisions(begun: now - tuning.leastTurn).contains(.start(reader: 9)) == isPlaying)
    }

    @Test func `one that nobody needs gives way before one that somebody does`() {
        let transfers = (0..<4).map { transfer($0, head: Int64($0) * 100_000_000) }
        let readers = [0, 1, 3].map { reader($0, at: Int64($0) * 100_000_000) } + [reader(9, at: 900_000_000)]
        let decisions = planner().plan(readers: readers, transfers: transfers)
        #expect(decisions.contains(.stop(transfer: 2)))
    }

    @Test func `nothing that is played gives way to read-ahead or prefetch`() {
        let transfers = (0..<4).map { transfer($0, head: Int64($0) * 100_000_000) }
        let playing = (0..<4).map { reader($0, at: Int64($0) * 100_000_000) }
        for priority in [TransferPlanner.Priority.prefetch, .readAhead] {
            let late = reader(9, at: 900_000_000, priority: priority)
            let decisions = planner().plan(readers: playing + [late], transfers: transfers)
            #expect(!decisions.contains(.start(reader: 9)))
            #expect(!decisions.contains { if case .stop = $0 { true } else { false } })
        }
    }

    @Test func `playing comes before read-ahead and that before prefetch`() {
        let priorities: [TransferPlanner.Priority] = [.prefetch, .playing, .readAhead, .prefetch, .playing, .playing]
        let readers = priorities.enumerated().map { index, priority in
            reader(index, at: Int64(index) * 100_000_000, priority: priority)
        }
        let decisions = planner().plan(readers: readers, transfers: [])
        #expect(Set(decisions) == [.start(reader: 1), .start(reader: 4), .start(reader: 5), .start(reader: 2)])
    }

    // MARK: Origins without ranges

    @Test func `without ranges everybody waits for one transfer, however far, bug02`() {
        let planner = planner(servesRanges: false)
        #expect(planner.plan(readers: [reader(1, at: 0), reader(2, at: 900_000_000)], transfers: []).count == 1)
        let decisions = planner.plan(readers: [reader(1, at: 900_000_000)], transfers: [transfer(7, head: 0)])
        #expect(decisions == [.run(transfer: 7, goal: 900_000_000 + tuning.readAhead, readers: [1])])
    }

    @Test func `without ranges who waits for stored bytes that went again has all begun anew, once, inv26`() {
        let passed = transfer(7, head: 4000)
        let waiting = [reader(1, at: 1000), reader(2, at: 2000)]
        let starts = planner(servesRanges: false).plan(readers: waiting, transfers: [passed]).count(where: \.isStart)
        #expect(starts == 1)
        var unkept = planner(servesRanges: false)
        unkept.isKept = false
        let startsUnkept = unkept.plan(readers: waiting, transfers: [passed]).count(where: \.isStart)
        #expect(startsUnkept == 0)
    }

    @Test func `without ranges a transfer that has passed who waits ends where nobody else needs it, inv26`() {
        var planner = planner(servesRanges: false)
        planner.isKept = false
        let passed = transfer(7, head: 4000, isRequesting: false)
        let alone = planner.plan(readers: [reader(1, at: 1000)], transfers: [passed])
        #expect(alone == [.stop(transfer: 7), .start(reader: 1)], "nothing else would have it planned again")
        let both = planner.plan(readers: [reader(1, at: 1000), reader(2, at: 4000)], transfers: [passed])
        #expect(both == [.run(transfer: 7, goal: 4000 + tuning.readAhead, readers: [2])])
    }

    @Test func `without ranges a transfer is never stopped while it may be needed`() {
        let planner = planner(servesRanges: false)
        let ahead = reader(1, at: 0, missing: tuning.readAhead - 1, isWaiting: false)
        let full = transfer(7, head: tuning.readAhead, pausedFor: 20 * TransferTuning.second)
        #expect(planner.plan(readers: [ahead], transfers: [full]) == [.pause(transfer: 7)])
        let since = 100 * TransferTuning.second - tuning.unwantedStopSequential
        var unwanted = transfer(7, head: 0, unwanted: .init(since: since + 1, head: 0))
        #expect(planner.plan(readers: [], transfers: [unwanted]) == [.pause(transfer: 7)])
        unwanted = transfer(7, head: 0, unwanted: .init(since: since, head: 0))
        #expect(planner.plan(readers: [], transfers: [unwanted]) == [.stop(transfer: 7)])
    }

    @Test func `what is not kept is not waited with, and a paused one gives its place to who waits for one`() {
        let planner = TransferPlanner(
            tuning: tuning, servesRanges: false, isKept: false, measure: HostTable.Measure(),
            now: 100 * TransferTuning.second)
        let unwanted = transfer(7, head: 9, requestEnd: 9, unwanted: .init(since: 100 * TransferTuning.second, head: 9))
        #expect(planner.plan(readers: [], transfers: [unwanted]) == [.stop(transfer: 7)])
        let ahead = Reader(id: 1, position: 0, end: .max, missing: nil, gapEnd: .max, isWaiting: false)
        var full = transfer(7, head: tuning.readAhead + 1, pausedFor: 1)
        full.waits.isContended = true
        let contended = TransferPlanner(
            tuning: tuning, servesRanges: true, measure: HostTable.Measure(), now: 100 * TransferTuning.second)
        #expect(contended.plan(readers: [ahead], transfers: [full]) == [.stop(transfer: 7)])
    }

    // MARK: Anything

    @Test(arguments: 1...300)
    func `any input gives one decision a transfer, no more than four at once, and the same again`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let unit: Int64 = 100_000
        let readers = (0..<Int.random(in: 0...8, using: &random)).map { id in
            let position = Int64.random(in: 0...40, using: &random) * unit
            let missing: Int64? =
                Bool.random(using: &random) ? position + Int64.random(in: 0...6, using: &random) * unit : nil
            return Reader(
                id: ReaderID(number: id), position: position,
                end: Bool.random(using: &random) ? .max : position + 5 * unit,
                missing: missing,
                gapEnd: (missing ?? position) + Int64.random(in: 1...9, using: &random) * unit,
                isWaiting: Bool.random(using: &random),
                priority: [.prefetch, .readAhead, .playing].randomElement(using: &random)!)
        }
        let transfers = (0..<Int.random(in: 0...4, using: &random)).map { id in
            let head = Int64.random(in: 0...40, using: &random) * unit
            return transfer(
                id, head: head, gapEnd: head + Int64.random(in: 0...20, using: &random) * unit,
                requestEnd: head + Int64.random(in: 0...3, using: &random) * unit,
                isRequesting: Bool.random(using: &random),
                pausedFor: Bool.random(using: &random)
                    ? Int64.random(in: 0...9, using: &random) * TransferTuning.second : nil,
                silentFor: Int64.random(in: 0...5, using: &random) * TransferTuning.second,
                hasHead: Bool.random(using: &random))
        }
        let planner = planner(servesRanges: Int.random(in: 0..<4, using: &random) > 0)
        let decisions = planner.plan(readers: readers, transfers: transfers)
        expectRest(planner, readers, transfers)
        #expect(planner.plan(readers: readers, transfers: transfers) == decisions)
        expectRestUntilChange(planner, readers, transfers, decisions)
        #expect(decisions.compactMap(\.transfer).sorted() == transfers.map(\.id))
        let starts = decisions.filter { if case .start = $0 { true } else { false } }
        let stops = decisions.filter { if case .stop = $0 { true } else { false } }
        #expect(Set(starts).count == starts.count)
        if !starts.isEmpty { #expect(transfers.count - stops.count + starts.count <= tuning.requestsPerResource) }
        for case .run(let id, _, let ids) in decisions where !ids.isEmpty {
            #expect(ids.allSatisfy { wanted in readers.contains { $0.id == wanted } }, "\(id)")
        }
    }

    /// Carries plans out until one changes nothing, which must not take long while no byte comes and no time passes.
    private func expectRest(
        _ planner: TransferPlanner, _ readers: [Reader], _ initial: [Transfer],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var transfers = initial
        var next = 1000
        for _ in 0..<12 {
            let decisions = planner.plan(readers: readers, transfers: transfers)
            let changes = decisions.filter { decision in
                switch decision {
                case .start, .stop: true
                case .run, .pause: false
                }
            }
            if changes.isEmpty { return }
            for change in changes {
                if case .stop(let id) = change { transfers.removeAll { $0.id == id } }
                if case .start(let id, _) = change, let reader = readers.first(where: { $0.id == id }) {
                    let head = planner.servesRanges ? reader.missing ?? 0 : 0
                    transfers.append(
                        transfer(next, head: head, gapEnd: reader.gapEnd, requestEnd: reader.gapEnd, hasHead: false))
                    next += 1
                }
            }
        }
        Issue.record("transfers take each other's place without end", sourceLocation: sourceLocation)
    }

    /// Nothing is decided otherwise before the first time that `firstChange(of:after:)` names.
    private func expectRestUntilChange(
        _ planner: TransferPlanner, _ readers: [Reader], _ transfers: [Transfer],
        _ decisions: [TransferPlanner.Decision], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var transfers = transfers
        for index in transfers.indices {
            let id = transfers[index].id
            if decisions.contains(.pause(transfer: id)) {
                transfers[index].waits.pausedSince = transfers[index].waits.pausedSince ?? planner.now
            }
            if case .run(_, _, let ids)? = decisions.first(where: { $0.transfer == id }), ids.isEmpty {
                transfers[index].waits.unwanted =
                    transfers[index].waits.unwanted ?? .init(since: planner.now, head: transfers[index].head)
            }
        }
        let present = planner.plan(readers: readers, transfers: transfers)
        let changes = transfers.compactMap { planner.deadlines.firstChange(of: $0.waits, after: planner.now) }
        var later = planner
        later.now = (changes.min() ?? .max) - 1
        #expect(later.plan(readers: readers, transfers: transfers) == present, sourceLocation: sourceLocation)
    }

    @Test func `readers that do not wait yet do not take each other's place, bug12`() {
        let readers = (1...6).map { reader($0, at: Int64($0) * 100_000_000, isWaiting: $0 <= 3) }
        expectRest(planner(), readers, [])
    }
}

extension TransferPlanner.Decision {
    fileprivate var isStart: Bool { if case .start = self { true } else { false } }
}
