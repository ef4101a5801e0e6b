internal import Dispatch
internal import Foundation

/// One step of the simulated players and items. They share one lock; what a step leads to outside, from a handler to a
/// loading request, is done after it, in order and with the lock released.
struct SimulatedTurn {
    private static let lock = NSLock()
    static let notifications = DispatchQueue(label: "simulated.notifications")
    private var actions: [() -> Void] = []

    static func take<Result>(_ body: (inout SimulatedTurn) -> Result) -> Result {
        var turn = SimulatedTurn()
        lock.lock()
        let result = body(&turn)
        lock.unlock()
        for action in turn.actions { action() }
        return result
    }

    mutating func then(_ action: @escaping () -> Void) { actions.append(action) }

    /// Posts on a queue that is never the main one.
    mutating func post(_ name: Notification.Name, from subject: SimulatedSubject, error: NSError? = nil) {
        then {
            Self.notifications.async {
                guard let owner = subject.owner else { return }
                NotificationCenter.default.post(
                    name: name, object: owner,
                    userInfo: error.map { [AVPlayerItemFailedToPlayToEndTimeErrorKey: $0] })
            }
        }
    }
}

/// What a player and an item have in common: observers and recorded traps.
// @unchecked: its state is only touched in a turn, and `owner` is set once, before anyone else has the object.
class SimulatedSubject: @unchecked Sendable {
    // Never read in a turn: the owner's end takes a turn of its own.
    weak var owner: AnyObject?
    var observers: [Int: @Sendable (String) -> Void] = [:]
    var traps: [SimulatedTrap] = []
    private var lastObserver = 0

    func changed(_ turn: inout SimulatedTurn, _ properties: String...) {
        let handlers = observers.sorted { $0.key < $1.key }.map(\.value)
        turn.then { for property in properties { for handler in handlers { handler(property) } } }
    }

    func observe(_ handler: @escaping @Sendable (String) -> Void) -> SimulatedObservation {
        SimulatedTurn.take { _ in
            lastObserver += 1
            observers[lastObserver] = handler
            return SimulatedObservation(subject: self, identifier: lastObserver)
        }
    }

    func trap(_ reason: String) {
        traps.append(SimulatedTrap(name: "NSInvalidArgumentException", reason: reason))
    }

    /// Waits for changes, also of another one, until the condition holds, or throws `CancellationError`.
    func reached(also other: SimulatedSubject? = nil, _ condition: () -> Bool) async throws {
        let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let observations = [self, other].map { $0?.observe { _ in continuation.yield() } }
        defer { withExtendedLifetime(observations) {} }
        if condition() { return }
        for await _ in changes where condition() { return }
        throw CancellationError()
    }
}

/// Linux has no key-value observing: this stands for one observation, which ends with it.
public final class SimulatedObservation: Sendable {
    private let subject: SimulatedSubject
    private let identifier: Int

    init(subject: SimulatedSubject, identifier: Int) {
        self.subject = subject
        self.identifier = identifier
    }

    deinit {
        // What the handler holds may end with it, so it leaves the turn first.
        let handler = SimulatedTurn.take { [subject, identifier] _ in
            subject.observers.removeValue(forKey: identifier)
        }
        withExtendedLifetime(handler) {}
    }
}
