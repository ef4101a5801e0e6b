import RepriseRanges

/// Decides which transfers there should be, from who reads what and what is there. No I/O, no clock, no state:
/// cancelling, for example, is nothing but a reader that is not in the input any more.
///
///     readers, transfers, claimed bytes --> plan --> start / run to a goal / pause / stop
///
/// Rules, in order:
/// 1. A reader needs the network where its first missing byte lies within the read-ahead of its position.
/// 2. It joins a transfer that will be there sooner than a new one could; else a new one starts.
/// 3. A transfer runs up to the read-ahead of its foremost reader, and never past that reader's end.
/// 4. Nobody needs it: it takes what is on its way already (`windDown`), then stops. An origin without ranges, which
///    would have to begin anew, is only paused at first.
/// 5. Too many at once: the one farthest from being needed gives way.
/// 6. One that takes nothing of its answer gives its connection slot to another that is waited for.
package struct TransferPlanner: Sendable {
    package struct Reader: Sendable, Hashable {
        package var id: ReaderID
        /// The next byte it will ask for.
        package var position: Int64
        /// Where it ends; `Int64.max` where that is not known.
        package var end: Int64
        /// Its first byte, from `position` on, that is neither stored nor in a window; `nil` if there is none before its end.
        package var missing: Int64?
        /// Where the next stored byte after `missing` begins.
        package var gapEnd: Int64
        /// Whether it waits for bytes right now.
        package var isWaiting: Bool
        package var priority: Priority

        package init(
            id: ReaderID, position: Int64, end: Int64, missing: Int64?, gapEnd: Int64, isWaiting: Bool,
            priority: Priority = .playing
        ) {
            self.id = id
            self.position = position
            self.end = end
            self.missing = missing
            self.gapEnd = gapEnd
            self.isWaiting = isWaiting
            self.priority = priority
        }

        /// By priority, and of one priority those first that wait for what is missing; who was woken and does not come for
        /// what is there waits for nothing.
        fileprivate var urgency: Int { priority.rawValue * 2 + (isWaiting && missing == position ? 1 : 0) }
    }

    /// Higher ones take the place of lower ones where there are not enough.
    package enum Priority: Int, Sendable, Comparable {
        case prefetch, readAhead, playing
        package static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    package struct Transfer: Sendable, Hashable {
        package var id: TransferID
        /// The next byte it will bring.
        package var head: Int64
        /// Where it has to end: the next stored byte, or `Int64.max`.
        package var gapEnd: Int64
        /// Where its present request ends.
        package var requestEnd: Int64
        /// Whether it has a request under way.
        package var isRequesting: Bool
        /// Whether the head of its answer has come.
        package var hasHead: Bool
        /// Whether it is tried in place of one whose origin was silent: that this one's is silent, too, is waited for.
        package var isSecondTry: Bool
        /// When it was begun, in nanoseconds.
        package var begun: Int64
        package var waits: TransferDeadlines.Waits

        package init(
            id: TransferID, head: Int64, gapEnd: Int64, requestEnd: Int64, isRequesting: Bool = true,
            hasHead: Bool = true, isSecondTry: Bool = false, begun: Int64 = .min, waits: TransferDeadlines.Waits
        ) {
            self.id = id
            self.head = head
            self.gapEnd = gapEnd
            self.requestEnd = requestEnd
            self.isRequesting = isRequesting
            self.hasHead = hasHead
            self.isSecondTry = isSecondTry
            self.begun = begun
            self.waits = waits
        }
    }

    package enum Decision: Sendable, Hashable {
        /// Begin a transfer for the reader's missing byte; whether it takes the place of one that is silent.
        case start(reader: ReaderID, isSecondTry: Bool = false)
        /// Bring bytes up to `goal`, for these readers.
        case run(transfer: TransferID, goal: Int64, readers: [ReaderID])
        /// Ask for no more, keep the connection.
        case pause(transfer: TransferID)
        /// End it; its bytes stay.
        case stop(transfer: TransferID)
    }

    package var tuning: TransferTuning
    /// `false` where the origin serves no ranges: one transfer from 0, and everybody waits for it.
    package var servesRanges: Bool
    /// Whether what comes is kept. Where it is not, a transfer that lost its readers is worth nothing to anybody.
    package var isKept: Bool
    /// What has been learnt of the host.
    package var measure: HostTable.Measure
    package var now: Int64

    package init(
        tuning: TransferTuning, servesRanges: Bool, isKept: Bool = true,
        measure: HostTable.Measure, now: Int64
    ) {
        self.isKept = isKept
        self.tuning = tuning
        self.servesRanges = servesRanges
        self.measure = measure
        self.now = now
    }

    /// What is found of a transfer before it is decided of.
    private struct Use {
        /// Those it brings bytes to.
        var readers: [Reader] = []
        /// Whether it stalls while a reader waits for it.
        var isStalled = false
    }

    /// The decisions for this moment.
    package func plan(readers: [Reader], transfers: [Transfer]) -> [Decision] {
        var uses = [Use](repeating: Use(), count: transfers.count)
        var starts: [(reader: Reader, isSecondTry: Bool)] = []
        var passed: [Reader] = []
        for reader in readers.count > 1 ? readers.sorted(by: TransferPlanner.comesFirst) : readers {
            guard let missing = reader.missing, needsNetwork(reader, missing) else { continue }
            switch place(missing, reader, transfers) {
            case .joins(let index): uses[index].readers.append(reader)
            case .passed: passed.append(reader)
            case .begins(let stalled):
                for index in stalled { uses[index].isStalled = true }
                if starts.contains(where: { willServe($0.reader, missing) }) { continue }
                starts.append((reader, isSecondTry: stalled.contains { !transfers[$0].waits.isIdle }))
            }
        }
        var decisions: [Decision] = []
        var running = transfers.count
        for (index, transfer) in transfers.enumerated() {
            let decision = decide(transfer, uses[index], among: readers)
            if case .stop = decision { running -= 1 }
            decisions.append(decision)
        }
        if running == 0, starts.isEmpty { starts = passed.prefix(1).map { ($0, isSecondTry: false) } }
        for (reader, isSecondTry) in starts {
            if running >= tuning.requestsPerResource {
                guard let victim = leastNeeded(transfers, uses, than: reader, decisions) else { continue }
                decisions.removeAll { $0.transfer == victim }
                decisions.append(.stop(transfer: victim))
                running -= 1
            }
            decisions.append(.start(reader: reader.id, isSecondTry: isSecondTry))
            running += 1
        }
        return decisions
    }

    /// Readers are served by priority, then by what they miss first, then in the order in which they came.
    private static func comesFirst(_ left: Reader, _ right: Reader) -> Bool {
        if left.priority != right.priority { return left.priority > right.priority }
        let (first, second) = (left.missing ?? .max, right.missing ?? .max)
        return first == second ? left.id.number < right.id.number : first < second
    }

    package var deadlines: TransferDeadlines {
        TransferDeadlines(tuning, servesRanges: servesRanges, isKept: isKept)
    }

    private func needsNetwork(_ reader: Reader, _ missing: Int64) -> Bool {
        missing < reader.end && missing - reader.position < tuning.readAhead
    }

    private enum Place {
        case joins(Int)
        /// It has one begun, in place of these, which are silent.
        case begins(stalled: [Int])
        /// All transfers have passed it, and no other may begin beside them: they end where no other reader needs them, and one begins
        /// for it then.
        case passed
    }

    private func place(_ missing: Int64, _ reader: Reader, _ transfers: [Transfer]) -> Place {
        var stalled: [Int] = []
        for (index, transfer) in transfers.enumerated() where transfer.head <= missing && missing < transfer.gapEnd {
            if !servesRanges { return .joins(index) }
            guard missing - transfer.head <= reach else { continue }
            if reader.isWaiting, transfer.isRequesting, transfer.hasHead, transfer.waits.pausedSince == nil,
                !transfer.isSecondTry || transfer.waits.isIdle, now >= deadlines.isSilentAt(transfer.waits)
            {
                stalled.append(index)
                continue
            }
            return .joins(index)
        }
        // All there are have passed it. Who stands where stored bytes went again has them begun anew; what is not stored comes
        // once.
        let isLost = isKept && reader.isWaiting && missing == reader.position
        return servesRanges || isLost || transfers.isEmpty ? .begins(stalled: stalled) : .passed
    }

    /// How far behind a transfer may be and still be there before a new one.
    package var reach: Int64 {
        guard let rate = measure.rate, let firstByte = measure.firstByte else { return tuning.joinDistance }
        let time = Double(firstByte.adding(tuning.joinSlack)) / Double(TransferTuning.second)
        return max(tuning.leastReach, min(Int64(rate * time), 64 << 20))
    }

    private func willServe(_ start: Reader, _ missing: Int64) -> Bool {
        guard let begin = start.missing else { return false }
        return !servesRanges || (begin <= missing && missing - begin <= reach && missing < start.gapEnd)
    }

    /// Whether some reader has all it needs now and comes to the transfer's next byte by reading on.
    private func isAhead(_ transfer: Transfer, of readers: [Reader]) -> Bool {
        transfer.head < transfer.gapEnd
            && readers.contains { reader in
                reader.position < transfer.head && transfer.head < reader.end
                    && transfer.head - reader.position <= tuning.readAhead.multiplied(by: 2)
                    && reader.missing.map { $0 == transfer.head } ?? true
            }
    }

    private func decide(_ transfer: Transfer, _ use: Use, among readers: [Reader]) -> Decision {
        func isDue(_ time: Int64?) -> Bool { time.map { now >= $0 } ?? false }
        let waits = transfer.waits
        if isDue(deadlines.givesWayAt(waits)) { return .stop(transfer: transfer.id) }
        if use.readers.isEmpty, !use.isStalled, isAhead(transfer, of: readers) {
            let isInTheWay = servesRanges && waits.pausedSince != nil && waits.isContended
            return isInTheWay || isDue(deadlines.stopsPausedAt(waits))
                ? .stop(transfer: transfer.id) : .pause(transfer: transfer.id)
        }
        if use.readers.isEmpty {
            if use.isStalled || !transfer.isRequesting { return .stop(transfer: transfer.id) }
            if isDue(deadlines.stopsUnwantedAt(waits)) { return .stop(transfer: transfer.id) }
            if deadlines.outlastsReaders(waits) { return .pause(transfer: transfer.id) }
            // What the kernel holds already is paid for: it is taken, and kept, before the connection is closed.
            let goal = min(transfer.requestEnd, (waits.unwanted?.head ?? transfer.head).adding(tuning.windDown))
            if transfer.head >= goal { return .stop(transfer: transfer.id) }
            return .run(transfer: transfer.id, goal: goal, readers: [])
        }
        let goal = use.readers.reduce(0) { max($0, min($1.end, $1.position.adding(tuning.readAhead))) }
        if transfer.head < min(goal, transfer.gapEnd) {
            return .run(transfer: transfer.id, goal: goal, readers: use.readers.map(\.id))
        }
        return isDue(deadlines.stopsPausedAt(waits)) ? .stop(transfer: transfer.id) : .pause(transfer: transfer.id)
    }

    /// What gives way to `reader`: strictly less needed than it is, or two would take each other's place for ever; and not as
    /// soon as its own reader has taken what it brought, or they would with each chunk.
    private func leastNeeded(
        _ transfers: [Transfer], _ uses: [Use], than reader: Reader, _ decisions: [Decision]
    ) -> TransferID? {
        let stopped = decisions.compactMap { if case .stop(let id) = $0 { id } else { nil } }
        func need(_ index: Int) -> (Int, Int64) {
            let readers = uses[index].readers
            guard !readers.isEmpty else { return (-1, 0) }
            let distance = readers.map { transfers[index].head - $0.position }.min() ?? .max
            return (readers.map(\.urgency).max() ?? 0, -distance)
        }
        func hadItsTurn(_ index: Int) -> Bool {
            let transfer = transfers[index]
            return transfer.waits.pausedSince != nil || now >= transfer.begun.adding(tuning.leastTurn)
                || uses[index].readers.allSatisfy { $0.priority < reader.priority }
        }
        let candidates = transfers.indices.filter {
            !stopped.contains(transfers[$0].id) && need($0).0 < reader.urgency && hadItsTurn($0)
        }
        return candidates.min { need($0) < need($1) }.map { transfers[$0].id }
    }
}

extension TransferPlanner.Decision {
    package var transfer: TransferID? {
        switch self {
        case .start: nil
        case .run(let id, _, _), .pause(let id), .stop(let id): id
        }
    }
}
