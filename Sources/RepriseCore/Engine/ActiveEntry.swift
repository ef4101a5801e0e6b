import RepriseHTTP
import ReprisePlatform
package import RepriseRanges
package import RepriseStorage

/// One entry in memory: its representations, readers and transfers, shared by all who read it.
///
///     reader --read--> [ lock: EntryStateMachine decides ] --actions--> origin, read pool, write lane, janitor
///                                   ^                                     |
///                                   +---------------- inputs -------------+
///
/// Safe to use from any thread. Lock order: entry, then generation or host table (both leaves). Actions run after the lock is
/// released.
package final class ActiveEntry: Sendable {
    package let key: ResourceKey
    let environment: EntryEnvironment
    private let state: Lock<EntryStateMachine>
    let onDeparture: @Sendable (ActiveEntry, EntryLifecycle.Departure) -> Void
    /// What the entry may do with its files by their names.
    let lease: EntryWriteLease

    init(
        key: ResourceKey, url: OriginURL, fields: HTTPFields, isPrivate: Bool, environment: EntryEnvironment,
        after predecessors: [EntryWriteLease] = [],
        onDeparture: @escaping @Sendable (ActiveEntry, EntryLifecycle.Departure) -> Void
    ) {
        self.key = key
        self.environment = environment
        lease = EntryWriteLease(after: predecessors)
        self.onDeparture = onDeparture
        state = Lock(
            EntryStateMachine(key: key, url: url, fields: fields, isPrivate: isPrivate, environment: environment))
    }

    /// Takes an input to the machine, then carries out what it decided.
    func handle(_ input: EntryInput) {
        let now = environment.queues.now()
        carryOut(
            state.withLock { machine in
                machine.handle(input, now: now)
                return machine.takeOutput()
            })
    }

    /// The same for inputs that are answered at once.
    func answer<Answer>(_ input: (inout sending EntryStateMachine) -> Answer) -> Answer {
        let now = environment.queues.now()
        var output = EntryOutput()
        let answer = state.withLock { machine in
            machine.begin(now: now)
            let answer = input(&machine)
            machine.endAnswer()
            output = machine.takeOutput()
            return answer
        }
        carryOut(output)
        return answer
    }

    /// Looks at the machine, which is not to be changed.
    func look<Answer>(_ question: (inout sending EntryStateMachine) -> Answer) -> Answer {
        state.withLock { machine in
            let answer = question(&machine)
            return answer
        }
    }

    /// Carries out what was decided, in order. What of it is answered at once is an input after all of it: another thread's turn would
    /// cost a request's first byte some time, and in the middle the machine's later decisions would come before its earlier ones.
    private func carryOut(_ output: EntryOutput) {
        if output.unwritten != 0 { environment.unwritten.add(output.unwritten) }
        if !output.served.isNone { environment.hub.count { output.served.add(to: &$0) } }
        guard !output.actions.isEmpty else { return }
        var answers: [EntryInput] = []
        // By index: a loop over the array would copy each action.
        for index in output.actions.indices {
            if let answer = carryOut(output.actions[index]) { answers.append(answer) }
        }
        for answer in answers { environment.queues.next { self.handle(answer) } }
    }

    // MARK: For readers

    /// Adds a reader; `nil` where the entry takes none any more.
    func attach(
        url: OriginURL, fields: HTTPFields, position: Int64, end: Int64, priority: TransferPlanner.Priority,
        mayStore: Bool = true, answers: ResourceRequest.Answers = .resource
    ) -> ReaderID? {
        answer {
            $0.attach(
                url: url, fields: fields, position: position, end: end, priority: priority, mayStore: mayStore,
                answers: answers)
        }
    }

    func detach(_ reader: ReaderID) { handle(.detach(reader)) }

    /// The next bytes of a reader, at most `limit`; where there are none yet, `wake` is called once when it is worth asking
    /// again.
    func read(_ reader: ReaderID, limit: Int, wake: @escaping @Sendable () -> Void) -> ReadResult {
        answer { $0.read(reader, limit: limit, wake: wake) }
    }

    /// What is known of the resource.
    func info(_ reader: ReaderID, wake: @escaping @Sendable () -> Void) -> InfoResult {
        answer { $0.info(reader, wake: wake) }
    }

    /// Whether there is an answer to give to readers, fresh or stale.
    var isKnown: Bool { look { $0.isKnown } }

    /// Why a request with those fields goes on to the origin.
    func forward(of fields: HTTPFields) -> CacheStatus.Forward { look { $0.forward(of: fields) } }

    /// How a reader's request was handled, as far as that is known now.
    func outcome(of reader: ReaderID) -> CacheStatus? { look { $0.outcome(of: reader) } }

    /// Where what a reader reads is stored.
    func status(of reader: ReaderID) -> StorageStatus? { look { $0.status(of: reader) } }

    // MARK: What goes on

    /// Since when it is idle, in nanoseconds; `nil` where it is not.
    var idleSince: Int64? { look { $0.idleSince } }

    /// When a reader came last, in seconds since 1970; what its files say may be older.
    var lastUse: Int64 { look { $0.lastUse } }

    /// The bytes stored, as far as slots have been read.
    package var storedRanges: ByteRangeSet { look { $0.storedRanges } }

    /// How many those are.
    var storedBytes: Int64 { look { $0.storedBytes } }

    /// What the entry has brought, as far as is known before it is open.
    package var statistics: EntryStatistics { look { $0.statistics } }

    /// Length in bytes, `nil` while it is not known.
    package var length: Int64? { look { $0.length } }

    /// Readers now, and requests and what is to be asked for them, for display and tests.
    package var activity: (readers: Int, transfers: Int) { look { $0.activity } }

    /// Whether bytes are to reach the disk yet, or a description that names them.
    package var isStoring: Bool { look { $0.isStoring } }

    /// Whether bytes are on their way to the disk.
    package var isWriting: Bool { look { $0.isWriting } }

    /// Bytes held in memory, for tests of the bound.
    package var bytesInMemory: Int64 { look { $0.bytesInMemory } }

    /// Readers, transfers and representations in words, to find out why a reader waits.
    package var explanation: String { look { $0.explanation } }

    /// Who reads, and what is being fetched.
    package var report: ResourceReport {
        let lastError = environment.hub.lastError(of: key.text).map(LastErrorReport.init)
        return look { $0.report(lastError) }
    }

    // MARK: Its end

    /// Closes the files now if it has no reader; `false` where it has.
    @discardableResult
    package func closeIfIdle() -> Bool {
        handle(.closeIfIdle)
        return look { $0.isGone }
    }

    /// Ends every reader with an error and lets transfers go; for shutting down.
    package func shutDown() { handle(.shutDown) }
}
