import RepriseHTTP
import RepriseTesting
import Testing

@testable import RepriseProxy

/// What a connection does with requests and answers, without a socket.
@Suite struct ConnectionStateMachineTests {
    /// A machine, and the bytes of a client that it has not read yet.
    private struct Connection {
        var machine = ConnectionStateMachine(headLimit: 500)
        var unread: ArraySlice<UInt8> = []
        /// Whether there is room for one that has no place when it asks.
        var hasRoom = false
        /// What was read of bodies while their requests were answered, and how they ended.
        var passedOn: [UInt8] = []
        var ends: [String] = []
        /// Methods that are passed on.
        var relayed: Set<String> = ["PUT"]

        /// What there is to do now; an answer stays on its way.
        mutating func steps(_ text: String = "", isDraining: Bool = false) -> [ConnectionStateMachine.Step] {
            steps(Array(text.utf8), isDraining: isDraining)
        }

        mutating func steps(_ bytes: [UInt8], isDraining: Bool = false) -> [ConnectionStateMachine.Step] {
            unread += bytes
            var steps: [ConnectionStateMachine.Step] = []
            while true {
                while let reading = machine.read(&unread) {
                    switch reading {
                    case .head(let head):
                        machine.begin(
                            head, isRelayed: relayed.contains(head.method), hasPlace: machine.hasPlace || hasRoom)
                    case .body(let bytes): passedOn += bytes
                    case .bodyEnded: ends.append("whole")
                    case .bodyBroke(let refusal): ends.append("\(refusal.status)")
                    }
                }
                if machine.isDeaf { unread = [] }
                guard let step = machine.next(isDraining: isDraining) else { return steps }
                steps.append(step)
            }
        }

        mutating func wait() -> ConnectionStateMachine.Wait? {
            machine.startWaiting(idleTimeout: 60, requestTimeout: 10)
        }
    }

    private static func head(_ target: String, method: String = "GET", _ fields: String...) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    private func told(_ steps: [ConnectionStateMachine.Step]) -> [String] {
        steps.map { step in
            switch step {
            case .answer(let request):
                switch request.body {
                case .whole(let bytes):
                    "\(request.head.method) \(request.head.target) \(String(decoding: bytes, as: UTF8.self))"
                case .beginning(let bytes, let length):
                    "\(request.head.method) \(request.head.target) \(bytes.count) of \(length ?? -1)"
                }
            case .refuse(let refusal, _): "\(refusal.status)"
            case .sendContinue: "100"
            }
        }
    }

    @Test func `requests that are sent ahead are answered in order, and no more than 16 are read`() {
        var connection = Connection()
        let ahead = (0..<40).map { ConnectionStateMachineTests.head("/\($0)") }.joined()
        var answered = told(connection.steps(ahead))
        #expect(answered == ["GET /0 "] && !connection.unread.isEmpty)
        for _ in 1..<40 {
            #expect(connection.steps().isEmpty)
            #expect(connection.machine.answerHasLeft() == false)
            answered += told(connection.steps())
        }
        #expect(answered == (0..<40).map { "GET /\($0) " } && connection.unread.isEmpty)
        #expect(connection.machine.answerHasLeft() == false && connection.steps().isEmpty)
    }

    @Test func `a body that is passed on is stored until its turn, one at a time, others are dropped`() {
        var connection = Connection()
        let put = ConnectionStateMachineTests.head("/a", method: "PUT", "Content-Length: 3")
        let get = ConnectionStateMachineTests.head("/b", method: "GET", "Content-Length: 3")
        #expect(told(connection.steps(put + "ab")).isEmpty)
        #expect(told(connection.steps("c" + get + "def" + put + "ghi" + put)) == ["PUT /a abc"])
        // The second is in the queue with its body: the third is not read before it is answered.
        #expect(connection.unread.count == put.utf8.count)
        #expect(connection.machine.answerHasLeft() == false)
        #expect(told(connection.steps()) == ["GET /b "])
        #expect(connection.machine.answerHasLeft() == false)
        #expect(told(connection.steps()) == ["PUT /a ghi"] && connection.unread.isEmpty)
    }

    @Test func `a body that means nothing and is long is refused behind what was asked before`() {
        for framing in ["Content-Length: \(RequestIntake.bodyLimit + 1)", "Transfer-Encoding: chunked"] {
            var connection = Connection()
            let long = ConnectionStateMachineTests.head("/a", framing)
            #expect(told(connection.steps(ConnectionStateMachineTests.head("/0") + long)) == ["GET /0 "])
            if framing.contains("chunked") {
                let chunk = "8000\r\n" + String(repeating: "x", count: 0x8000) + "\r\n"
                for _ in 0...2 where !connection.machine.isDeaf { _ = connection.steps(chunk) }
            }
            #expect(connection.machine.isDeaf && connection.machine.answerHasLeft() == false)
            #expect(told(connection.steps(ConnectionStateMachineTests.head("/hidden"))) == ["413"])
            #expect(connection.machine.answerHasLeft() && connection.steps().isEmpty)
        }
    }

    @Test func `a long body is passed on as it comes, once its request's turn has come`() {
        let length = Int(RequestIntake.wholeBodyLimit) + 1
        let body = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let put = ConnectionStateMachineTests.head("/a", method: "PUT", "Content-Length: \(length)")
        let next = ConnectionStateMachineTests.head("/next")
        var connection = Connection()
        #expect(told(connection.steps(ConnectionStateMachineTests.head("/0") + put)) == ["GET /0 "])
        #expect(connection.steps(Array(body.prefix(1000))).isEmpty && connection.unread.count == 1000)
        #expect(connection.machine.answerHasLeft() == false)
        #expect(told(connection.steps()) == ["PUT /a 0 of \(length)"])
        #expect(connection.steps(Array(body.dropFirst(1000)) + Array(next.utf8)).isEmpty)
        #expect(connection.passedOn == body && connection.ends == ["whole"])
        connection.machine.headIsWritten()
        #expect(connection.machine.answerHasLeft() == false && told(connection.steps()) == ["GET /next "])
    }

    @Test func `a body in chunks is passed on as it comes where it turns out to be long`() {
        let put = ConnectionStateMachineTests.head("/a", method: "PUT", "Transfer-Encoding: chunked")
        let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
        var connection = Connection()
        var steps = connection.steps(put)
        for _ in 0..<20 { steps += connection.steps(chunk) }
        steps += connection.steps("0\r\n\r\n")
        guard case .answer(let request)? = steps.first, case .beginning(let beginning, length: nil) = request.body
        else {
            return #expect(Bool(false), "\(told(steps))")
        }
        #expect(steps.count == 1 && beginning.count > RequestIntake.wholeBodyLimit)
        #expect(beginning.count + connection.passedOn.count == 20 * 0x10000 && connection.ends == ["whole"])
    }

    @Test func `a client that waits with a long body is told to send it when its turn has come`() {
        let put = ConnectionStateMachineTests.head(
            "/a", method: "PUT", "Content-Length: 2000000", "Expect: 100-continue")
        var connection = Connection()
        #expect(told(connection.steps(ConnectionStateMachineTests.head("/0") + put)) == ["GET /0 "])
        #expect(connection.machine.answerHasLeft() == false)
        #expect(told(connection.steps()) == ["100", "PUT /a 0 of 2000000"])
    }

    @Test(arguments: ["Content-Length: 2000000", "Transfer-Encoding: chunked"])
    func `an answer that comes before its request is whole is the connection's last`(framing: String) {
        var connection = Connection()
        _ = connection.steps(ConnectionStateMachineTests.head("/a", method: "PUT", framing))
        for _ in 0..<20 {
            let piece = String(repeating: "x", count: 0x10000)
            _ = connection.steps(framing.contains("chunked") ? "10000\r\n\(piece)\r\n" : piece)
        }
        connection.machine.headIsWritten()
        #expect(connection.machine.isLast && !connection.machine.isDeaf, "its origin may want the rest all the same")
        let before = connection.passedOn.count
        _ = connection.steps(framing.contains("chunked") ? "1\r\nx\r\n" : "x")
        #expect(connection.passedOn.count == before + 1)
        #expect(connection.machine.answerHasLeft() && connection.machine.isDeaf)
        #expect(connection.steps(ConnectionStateMachineTests.head("/hidden")).isEmpty)
    }

    @Test func `a long body that cannot be understood ends with its connection`() {
        var connection = Connection()
        _ = connection.steps(ConnectionStateMachineTests.head("/a", method: "PUT", "Transfer-Encoding: chunked"))
        for _ in 0..<17 { _ = connection.steps("10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n") }
        #expect(connection.steps("nonsense\r\n").isEmpty && connection.ends == ["400"])
        #expect(connection.machine.isDeaf && connection.machine.isLast && connection.machine.answerHasLeft())
    }

    @Test func `100 is said once, to a client that waits with its body while nothing is answered`() {
        let put = ConnectionStateMachineTests.head("/a", method: "PUT", "Content-Length: 3", "Expect: 100-continue")
        var connection = Connection()
        #expect(told(connection.steps(put)) == ["100"] && connection.steps().isEmpty)
        #expect(told(connection.steps("abc")) == ["PUT /a abc"])
        var impatient = Connection()
        #expect(told(impatient.steps(put + "abc")) == ["PUT /a abc"])
        var ahead = Connection()
        #expect(told(ahead.steps(ConnectionStateMachineTests.head("/0") + put)) == ["GET /0 "])
        #expect(ahead.machine.answerHasLeft() == false && told(ahead.steps()) == ["100"])
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", false, false),
        ("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false, true),
        ("GET / HTTP/1.0\r\n\r\n", false, true),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false, false),
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", true, true),
        ("CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n", false, true),
        ("GET / HTTP/1.1\r\n\r\n", false, true),
    ]) func `a connection ends with an answer where no request can come behind it`(
        text: String, isDraining: Bool, isLast: Bool
    ) {
        var connection = Connection()
        #expect(connection.steps(text, isDraining: isDraining).count == 1)
        #expect(connection.machine.isLast == isLast)
        #expect(connection.machine.answerHasLeft() == isLast)
        #expect(connection.steps(ConnectionStateMachineTests.head("/next")).isEmpty == isLast)
    }

    @Test func `drained, what is answered ends, and nothing behind it begins`() {
        var idle = Connection()
        let closesAtOnce = idle.machine.drain()
        #expect(closesAtOnce)
        var busy = Connection()
        #expect(busy.steps(ConnectionStateMachineTests.head("/0") + ConnectionStateMachineTests.head("/1")).count == 1)
        let closesBusy = busy.machine.drain()
        #expect(!closesBusy && busy.machine.isLast && busy.steps().isEmpty)
        #expect(busy.machine.answerHasLeft() && busy.steps().isEmpty)
    }

    @Test func `without a place a request is refused, and served where one is free by then`() {
        for hasRoom in [false, true] {
            var connection = Connection()
            connection.machine.hasNoPlace()
            connection.hasRoom = hasRoom
            let steps = connection.steps(
                ConnectionStateMachineTests.head("/0") + ConnectionStateMachineTests.head("/1"))
            #expect(told(steps) == [hasRoom ? "GET /0 " : "503"])
            #expect(connection.machine.answerHasLeft() == !hasRoom && connection.machine.lingers == hasRoom)
            #expect(told(connection.steps()) == (hasRoom ? ["GET /1 "] : []))
        }
    }

    @Test(arguments: [("Content-Length: 5", true), ("X: y", false)])
    func `without a place a client that may still send has time to read so`(field: String, lingers: Bool) {
        var connection = Connection()
        connection.machine.hasNoPlace()
        #expect(told(connection.steps(ConnectionStateMachineTests.head("/0", field))) == ["503"])
        #expect(connection.machine.answerHasLeft() && connection.machine.lingers == lingers)
    }

    @Test func `a request is waited for as long as it may take, and the time runs once`() {
        var connection = Connection()
        #expect(connection.wait() == .init(forgetsAfter: 5, limit: 60) && connection.wait() == nil)
        _ = connection.steps("GET / HT")
        #expect(connection.wait() == .init(forgetsAfter: nil, limit: 10) && connection.wait() == nil)
        _ = connection.steps("TP/1.1\r\nHost: h\r\n\r\n")
        #expect(connection.wait() == nil)
        #expect(connection.machine.answerHasLeft() == false)
        #expect(connection.wait() == .init(forgetsAfter: 5, limit: 60))
        var brief = Connection()
        #expect(brief.machine.startWaiting(idleTimeout: 3, requestTimeout: 10) == .init(forgetsAfter: nil, limit: 3))
        _ = brief.steps("GET / HT")
        #expect(brief.machine.startWaiting(idleTimeout: 3, requestTimeout: 10) == .init(forgetsAfter: nil, limit: 3))
    }

    @Test func `a client that is waited for too long is let go, or told what for`() {
        var idle = Connection()
        _ = idle.wait()
        let closesIdle = idle.machine.waitedTooLong()
        #expect(closesIdle)
        var slow = Connection()
        _ = slow.steps("GET / HT")
        _ = slow.wait()
        let closesSlow = slow.machine.waitedTooLong()
        #expect(!closesSlow && told(slow.steps()) == ["408"] && slow.machine.answerHasLeft())
        var late = Connection()
        late.machine.hasNoPlace()
        #expect(late.wait() == .init(forgetsAfter: nil, limit: 2))
        let closesLate = late.machine.waitedTooLong()
        #expect(!closesLate && told(late.steps()) == ["503"])
        // One that comes while an answer is on its way says nothing.
        var busy = Connection()
        _ = busy.steps(ConnectionStateMachineTests.head("/0"))
        let closesBusy = busy.machine.waitedTooLong()
        #expect(!closesBusy && busy.steps().isEmpty)
    }

    @Test(arguments: UInt64(1)...4) func `any bytes are answered alike, in any pieces, and never out of turn`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        let words = [
            ConnectionStateMachineTests.head("/a"), ConnectionStateMachineTests.head("/a", "Range: bytes=0-1"),
            ConnectionStateMachineTests.head("/b", method: "PUT", "Content-Length: 3"), "abc",
            ConnectionStateMachineTests.head("/c", method: "PUT", "Transfer-Encoding: chunked"),
            "3\r\nabc\r\n", "0\r\n\r\n",
            ConnectionStateMachineTests.head("/d", method: "POST", "Content-Length: 70000", "Expect: 100-continue"),
            ConnectionStateMachineTests.head("/e", "Connection: close"), "GET / HTTP/1.0\r\n\r\n", "\r\n", "x",
            ConnectionStateMachineTests.head("/f", method: "CONNECT"),
            ConnectionStateMachineTests.head("/g", method: "PUT", "Content-Length: 1048577"),
        ]
        func played(_ bytes: [UInt8], pieces size: Int) -> [String] {
            var connection = Connection()
            var rest = bytes[...]
            var all: [String] = []
            repeat {
                var steps = connection.steps(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
                while true {
                    // Whether 100 is owed depends on what has come.
                    steps.removeAll { $0 == .sendContinue }
                    #expect(steps.count <= 1, "an answer begins while another is on its way")
                    if steps.isEmpty { break }
                    all += told(steps)
                    if connection.machine.answerHasLeft() { return all + ["ends"] }
                    steps = connection.steps()
                }
            } while !rest.isEmpty
            #expect(connection.unread.isEmpty)
            return all
        }
        for _ in 0..<1000 {
            var text = ""
            for _ in 0..<Int.random(in: 1..<10, using: &random) { text += words.randomElement(using: &random)! }
            let bytes = Array(text.utf8)
            let whole = played(bytes, pieces: .max)
            let pieces = played(bytes, pieces: Int.random(in: 1...40, using: &random))
            #expect(pieces == whole, "seed \(seed): \(text.debugDescription)")
        }
    }
}
