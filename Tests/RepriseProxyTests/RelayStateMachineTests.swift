import RepriseProxy
import Testing

/// A request that is passed on: who is awaited, what the client is told, and when nothing more is.
@Suite struct RelayStateMachineTests {
    private typealias Machine = RelayStateMachine
    private static let second: Int64 = 1_000_000_000

    private func machine(hasBody: Bool = false) -> Machine {
        Machine(Machine.Deadlines(head: 30, piece: 10, body: 20), hasBody: hasBody)
    }

    private func handingOn(hasBody: Bool = false) -> Machine {
        var machine = machine(hasBody: hasBody)
        #expect(machine.headCame() == true)
        #expect(machine.invalidated() == .head)
        return machine
    }

    // MARK: The answer

    @Test func `the head is told once what is stored was looked at, then piece by piece`() {
        var machine = machine()
        #expect(machine.takeWait() == .origin(seconds: 30))
        #expect(machine.takeWait() == nil && machine.isUnanswered)
        #expect(machine.clientTakesMore() == false && machine.pieceCame() == false && machine.invalidated() == .nothing)
        #expect(machine.headCame() == true)
        #expect(machine.takeWait() == .store(seconds: 5) && machine.isUnanswered && machine.clientTakesMore() == false)
        #expect(machine.invalidated() == .head)
        #expect(machine.takeWait() == .client && !machine.isUnanswered && machine.invalidated() == .nothing)
        for _ in 0..<3 {
            #expect(machine.clientTakesMore() == true && machine.takeWait() == .origin(seconds: 10))
            #expect(machine.clientTakesMore() == false && machine.takeWait() == nil, "one at a time")
            #expect(machine.pieceCame() == true && machine.takeWait() == .client)
        }
        #expect(machine.answerEnded() == true && machine.takeWait() == .nothing)
        #expect(machine.answerEnded() == false && machine.headCame() == false && machine.pieceCame() == false)
        #expect(machine.clientLeft() == false && machine.takeWait() == nil)
    }

    @Test func `an answer that ends while what is stored is looked at is told whole`() {
        var machine = machine()
        _ = machine.headCame()
        #expect(machine.answerEnded() == false)
        #expect(machine.invalidated() == .wholeAnswer)
        #expect(machine.invalidated() == .nothing && machine.fail(mayHaveChanged: true) == .nothing)
    }

    // MARK: Without an answer

    @Test(arguments: [false, true]) func `before the client was told anything a failure is told`(hasHead: Bool) {
        var machine = machine()
        if hasHead { _ = machine.headCame() }
        var other = machine
        #expect(other.fail(mayHaveChanged: false) == .tell)
        #expect(other.fail(mayHaveChanged: false) == .nothing && other.lookedAt() == false)
        #expect(machine.fail(mayHaveChanged: true) == .tellLater && machine.takeWait() == .store(seconds: 5))
        #expect(!machine.isUnanswered && machine.invalidated() == .nothing, "the origin's head comes too late")
        #expect(machine.headCame() == false && machine.answerEnded() == false && machine.standIn() == false)
        #expect(machine.fail(mayHaveChanged: true) == .nothing)
        #expect(machine.lookedAt() == true)
        #expect(machine.lookedAt() == false)
    }

    @Test func `behind the head a failure breaks the answer off`() {
        var machine = handingOn()
        #expect(machine.standIn() == false && machine.lookedAt() == false)
        #expect(machine.fail(mayHaveChanged: true) == .breakOff)
        #expect(machine.fail(mayHaveChanged: true) == .nothing && machine.clientTakesMore() == false)
    }

    @Test func `another answer stands in where none has begun`() {
        var (asking, headed) = (machine(), machine())
        _ = headed.headCame()
        #expect(asking.standIn() == true && asking.takeWait() == .nothing && asking.headCame() == false)
        #expect(headed.standIn() == true && headed.invalidated() == .nothing && headed.clientLeft() == false)
    }

    @Test func `what a client that leaves unheard may have changed is looked at`() {
        var (asking, headed, telling, refusing) = (machine(), machine(), handingOn(), machine())
        _ = (headed.headCame(), refusing.fail(mayHaveChanged: true))
        #expect(asking.clientLeft() == true && asking.takeWait() == .nothing)
        #expect(asking.clientLeft() == false && asking.lookedAt() == false)
        #expect(headed.clientLeft() == false && headed.invalidated() == .nothing)
        #expect(telling.clientLeft() == false && telling.pieceCame() == false)
        #expect(refusing.clientLeft() == false && refusing.lookedAt() == false)
    }

    // MARK: The request's body

    @Test func `a client that is to send on has its time, the origin its own behind that`() {
        var machine = machine(hasBody: true)
        _ = machine.takeWait()
        #expect(machine.isBodyComing && machine.bodyIsDemanded(now: 0) == true)
        #expect(machine.takeWait() == .body(seconds: 21))
        machine.bodyCame(10, now: Self.second)
        #expect(machine.takeWait() == .origin(seconds: 30))
        machine.bodyEnded()
        #expect(machine.takeWait() == .origin(seconds: 30) && !machine.isBodyComing)
        #expect(machine.bodyIsDemanded(now: 0) == true && machine.takeWait() == nil)
    }

    @Test func `each 64 KiB come in time, whatever the origin took of it`() {
        var machine = machine(hasBody: true)
        var now: Int64 = 0
        func demanded(after pause: Int64, then length: Int) -> Bool {
            now += 100 * Self.second
            guard machine.bodyIsDemanded(now: now) else { return false }
            now += pause
            machine.bodyCame(length, now: now)
            return true
        }
        for _ in 0..<10 { #expect(demanded(after: 19 * Self.second, then: 65_536) == true) }
        #expect(demanded(after: 15 * Self.second, then: 1) == true)
        #expect(demanded(after: 5 * Self.second, then: 65_534) == true)
        #expect(demanded(after: 0, then: 1) == false, "19 s were for other bytes, 20 are these")
    }

    @Test func `a client that owes a part of its body is awaited also where the answer has begun`() {
        var machine = machine(hasBody: true)
        #expect(machine.bodyIsDemanded(now: 0) == true)
        _ = (machine.headCame(), machine.invalidated(), machine.takeWait())
        #expect(machine.clientTakesMore() == true && machine.takeWait() == .body(seconds: 21))
        machine.bodyCame(1, now: Self.second)
        #expect(machine.takeWait() == .origin(seconds: 10))
    }

    @Test func `while the client is told its time for the body does not run`() {
        var machine = handingOn(hasBody: true)
        _ = machine.takeWait()
        #expect(machine.bodyIsDemanded(now: 0) == true && machine.takeWait() == nil)
        machine.bodyCame(1, now: 0)
        #expect(machine.takeWait() == nil, "the client is to take something")
        _ = machine.clientTakesMore()
        #expect(machine.takeWait() == .origin(seconds: 10))
        #expect(machine.bodyIsDemanded(now: 0) == true && machine.takeWait() == .body(seconds: 21))
        machine.bodyEnded()
        #expect(machine.takeWait() == .origin(seconds: 10))
    }

    @Test func `a connection gives way to others where its client is waited for, and only then`() {
        let waits: [(RelayStateMachine.Wait, Bool)] = [
            (.nothing, false), (.origin(seconds: 1), false), (.store(seconds: 1), false), (.client, true),
            (.body(seconds: 1), true),
        ]
        for (wait, isForClient) in waits { #expect(wait.isForClient == isForClient, "\(wait)") }
    }
}
