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
        await turnstile.enter()
        defer { turnstile.leave() }
        guard status == .ready, let store = environment.store else { return }
        let queues = environment.queues
        let patience = Patience(MediaCache.suspensionLimit, on: queues)
        let activity = ExpiringActivity("Writing media to disk", by: activities) { patience.runOut() }
        defer { activity.end() }
        setStatus(.suspended)
        environment.access.beginLeaving()
        for session in openSessions { session.suspend() }
        var isPatient = true
        // A piece that is written asks for the next, so it takes as many rounds as a window has pieces.
        while isPatient, openSessions.contains(where: \.hasUnwritten) {
            isPatient = await patience.wait { tell in queues.after(TransferTuning.millisecond, tell) }
            for lane in 0..<2 where isPatient {
                isPatient = await patience.wait { tell in queues.write(lane: lane, tell) }
            }
        }
        for session in openSessions { session.sync() }
        _ = await patience.wait { tell in queues.upkeep(tell) }
        _ = await patience.wait { tell in environment.access.shut(tell) }
        store.release()
    }

    /// Takes the store back; readers that waited go on. What others changed meanwhile is read and proved anew.
    ///
    /// Also tries again where the store could not be opened at the start. Does nothing where it is in use already.
    /// - Throws: `CacheError` with `.store` where the store cannot be had now, for example because an extension writes
    ///   it: `status` tells why, everything plays from the origin and nothing is kept until another call succeeds.
    ///   `.closed` where the cache was closed.
    public func resume() async throws(CacheError) {
        await turnstile.enter()
        defer { turnstile.leave() }
        switch status {
        case .ready: return
        case .closed: throw CacheError(.closed, "the cache was closed")
        case .suspended:
            guard let store = environment.store else { return }
            try await take(store, isFirstTry: true)
        case .passingThrough:
            if let store = lostStore { return try await take(store, isFirstTry: false) }
            guard let opener else { return }
            try await open(by: opener)
        }
    }

    private func take(_ store: Store, isFirstTry: Bool) async throws(CacheError) {
        let error = await onReadPool { () -> CacheError? in
            do throws(StoreError) { try store.takeBack() } catch { return CacheError(error) }
            if isFirstTry { for session in self.openSessions { session.lookAfter(store) } }
            return nil
        }
        let environment = environment
        if let error {
            environment.access.reopen(nil)
            setStatus(.passingThrough(reason: error.message), lost: store)
            if isFirstTry { for session in openSessions { session.resumeWithoutStore() } }
            throw error
        }
        begin(with: store, keepsSessions: isFirstTry)
    }

    private func open(by opener: StoreOpener) async throws(CacheError) {
        let opened = await onReadPool { () -> Result<Store, CacheError> in
            do throws(CacheError) { return .success(try opener.open()) } catch { return .failure(error) }
        }
        switch opened {
        case .success(let store): begin(with: store, keepsSessions: false)
        case .failure(let error):
            setStatus(.passingThrough(reason: error.message))
            throw error
        }
    }

    /// - Parameter keepsSessions: Whether open sessions know this store; else they end as they are and new ones begin.
    private func begin(with store: Store, keepsSessions: Bool) {
        if !keepsSessions { for session in openSessions { session.endTenure() } }
        environment.access.reopen(store)
        setStatus(.ready)
        for session in openSessions { session.resume() }
    }

    private func onReadPool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        let queues = environment.queues
        return await withCheckedContinuation { done in queues.read { done.resume(returning: work()) } }
    }
}
