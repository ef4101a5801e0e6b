import ReprisePlatform
import RepriseStorage

/// Giving the store away while the app is in the background, and taking it back.
///
/// A process that is suspended while it holds a lock in an app group's container is killed, and what it holds in memory
/// is lost with it if the system needs room. So an app calls `suspend()` when its scene goes to the background and
/// nothing plays, and `resume()` when it comes back.
extension MediaCache {
    /// How long giving away may take: the time an app has on its way to the background is about five seconds, and the
    /// system's extension of it is not promised.
    static let suspensionLimit: Int64 = 4 * TransferTuning.second

    /// Writes what is in memory, stops transfers, and lets the store go. Readers stay and wait for `resume()`.
    ///
    /// Takes at most about four seconds, whatever the disk does; less where the system says that time is up. Keeps the
    /// process running that long (iOS, tvOS, watchOS, visionOS). What could not be written in time stays in memory.
    public func suspend() async {
        await storeTransition.lock()
        defer { storeTransition.unlock() }
        guard status == .ready, let store = environment.store else { return }
        let queues = environment.queues
        let deadline = Deadline(MediaCache.suspensionLimit, on: queues)
        let activity = ExpiringActivity("Writing media to disk", by: activities) { deadline.pass() }
        defer { activity.end() }
        setStatus(.suspended)
        environment.access.beginLeaving()
        for entry in openEntries { entry.handle(.suspend) }
        await drain(by: deadline) { $0.isStoring }
        for entry in openEntries { entry.handle(.sync) }
        // Descriptions that were due have begun with that.
        await drain(by: deadline) { $0.isStoring }
        let statistics = statisticsStore
        queues.upkeep { statistics.save() }
        _ = await deadline.wait { tell in queues.upkeep(tell) }
        let session = store.indexSession
        _ = await deadline.wait { tell in
            environment.access.shut { self.closeIndex(of: store, session: session, tell) }
        }
        // Also where the disk takes too long.
        store.release()
    }

    /// Waits for the disk until nothing of any entry is on its way to it, at most until the deadline.
    ///
    /// Its queues are in order: when a piece of work has run in each, so has all before it. A piece that is written asks for
    /// the next, so it takes as many rounds as a window has pieces. What waits for space tells when it goes on.
    func drain(by deadline: Deadline, while isUnderWay: (ActiveEntry) -> Bool) async {
        let queues = environment.queues
        var isInTime = true
        repeat {
            // What came fast may still wait for its files, which are made on the read pool.
            isInTime = await deadline.wait { tell in queues.read(tell) }
            for lane in 0..<2 where isInTime {
                isInTime = await deadline.wait { tell in queues.write(lane: lane, tell) }
            }
            guard isInTime, let entry = openEntries.first(where: isUnderWay) else { return }
            isInTime = await deadline.wait { tell in
                entry.handle(.watchStorage(tell))
                // It may have ended before it was watched.
                if !isUnderWay(entry) { tell() }
            }
        } while isInTime
    }

    /// Takes the store back; readers that waited go on. What others changed meanwhile is read and verified anew.
    ///
    /// Also tries again where the store could not be opened at the start. Does nothing where it is in use already.
    /// Where it cannot be had now, for example because an extension writes it, everything plays from the origin and
    /// nothing is kept until another call succeeds.
    /// - Returns: The `status` it leads to: `.ready`, or `.passingThrough` with the reason.
    @discardableResult
    public func resume() async -> Status {
        await storeTransition.lock()
        defer { storeTransition.unlock() }
        switch status {
        case .ready, .closed: break
        case .suspended: if let store = environment.store { await take(store, isFirstTry: true) }
        case .passingThrough:
            if let store = lostStore {
                await take(store, isFirstTry: false)
            } else if let opener {
                await open(by: opener)
            }
        }
        return status
    }

    private func take(_ store: Store, isFirstTry: Bool) async {
        let error = await environment.queues.reading { () -> StoreError? in
            do throws(StoreError) { try store.takeBack() } catch { return error }
            if isFirstTry { for entry in self.openEntries { entry.lookAfter(store) } }
            return nil
        }
        guard let error else { return begin(with: store, keepsEntries: isFirstTry) }
        environment.access.reopen(nil)
        setStatus(.passingThrough(reason: error.description), lost: store)
        if isFirstTry { for entry in openEntries { entry.resumeWithoutStore() } }
    }

    private func open(by opener: StoreOpener) async {
        let opened = await environment.queues.reading { () -> Result<Store, CacheError> in
            do throws(CacheError) { return .success(try opener.open()) } catch { return .failure(error) }
        }
        switch opened {
        case .success(let store): begin(with: store, keepsEntries: false)
        case .failure(let error): setStatus(.passingThrough(reason: error.message))
        }
    }

    /// - Parameter keepsEntries: Whether open entries know this store; else they end as they are and new ones begin.
    private func begin(with store: Store, keepsEntries: Bool) {
        if !keepsEntries {
            // Entries that are made from here on wait for the store: to them nothing must seem to be stored.
            environment.access.beginLeaving()
            for entry in openEntries { entry.leaveFiles() }
        }
        environment.access.reopen(store)
        beginWithStore()
        setStatus(.ready)
        for entry in openEntries { entry.handle(.resume) }
    }
}
