import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Carrying out what the machine decided: readers, the origin, time. What concerns files is in `+Files`. Results come back as
/// inputs.
extension ActiveEntry {
    /// - Returns: The input that answers the action, where that is known at once.
    func carryOut(_ action: EntryAction) -> EntryInput? {
        switch action {
        case .wake(let wake): wake()
        case .event(let event): environment.hub.send(event)
        case .count(let change): environment.hub.count(change)

        case .acquireSlot(let ticket, let origin): return acquireSlot(ticket, origin)
        case .releaseSlot(let slot): slot.release()
        case .send(let id, let request):
            let exchange = environment.client.start(request) { [weak self] event in self?.handle(.received(id, event)) }
            return .started(id, exchange)
        case .demand(let exchange): exchange.demand()
        case .cancel(let exchange): exchange.cancel()
        case .note(let fact, let origin): note(fact, of: origin)
        case .renewURL(let id, let refused):
            environment.freshURLs?.ask(refused) { [weak self] answer in self?.handle(.urlRenewed(id, answer)) }

        case .open: return openFiles()
        case .load(let id, let generation, let range): load(id, generation, range)
        case .verify(let id, let generation, let range): verify(id, generation, range)
        case .withdraw(let id, let generation): withdraw(id, generation)
        case .readOverlap(let transfer, let id, let generation, let range):
            readOverlap(transfer, id, generation, range)
        case .admit(let id, let info):
            // The app's own code, on a thread that no exchange waits for.
            environment.queues.soon { self.handle(.admitted(id, self.environment.admission.admits(info))) }
        case .stage(let id, let info, let naming): stage(id, info, naming)
        case .commit(let id, let info, let generation): commit(id, info, syncing: generation)
        case .abandon(let info): abandon(info)
        case .write(let order, let lane): write(order, lane: lane)
        case .sync(let id, let generation, let summary): sync(id, generation, summary)
        case .addUsage(let bytes): environment.quota.stored(bytes)
        case .requestEviction: environment.quota.requestEviction()
        case .allowTrimming(let generation): generation.makePunchable()
        case .awaitMemory:
            let queues = environment.queues
            environment.unwritten.whenBelow { [weak self] in queues.soon { [weak self] in self?.handle(.memoryFreed) } }
        case .noteSilence: environment.access.noteSilence(now: environment.queues.now())
        case .endWriteLease: lease.end()

        case .timer(let time):
            environment.queues.after(max(0, time - environment.queues.now())) { [weak self] in
                self?.handle(.timer(at: time))
            }
        case .depart(let departure): onDeparture(self, departure)
        }
        return nil
    }

    /// What another's release grants, or tells holders of slots, happens later: it must not grow on that call's stack.
    private func acquireSlot(_ ticket: SlotTicket, _ origin: String) -> EntryInput? {
        let queues = environment.queues
        let slot = environment.hosts.acquire(
            origin,
            onContention: { [weak self] in queues.soon { [weak self] in self?.handle(.hostContended) } },
            onGrant: { [weak self] slot in queues.soon { [weak self] in self?.handle(.slotGranted(ticket, slot)) } })
        return slot.map { .slotGranted(ticket, $0) }
    }

    private func note(_ fact: EntryAction.HostFact, of origin: String) {
        let hosts = environment.hosts
        switch fact {
        case .firstByte(let time): hosts.note(firstByte: time, of: origin)
        case .rate(let rate): hosts.note(rate: rate, of: origin)
        case .asked: hosts.noteAsked(origin, now: environment.queues.now())
        case .outcome(let outcome): hosts.note(outcome, of: origin, now: environment.queues.now())
        case .differingEntityTags: hosts.distrustEntityTags(of: origin, now: environment.queues.now())
        case .holdOff(let error): hosts.noteHoldOff(origin, key, error, now: environment.queues.now())
        }
    }
}
