#if Server
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Bad origins and bad clients at once, over sockets: what comes is the origin's or an honest refusal, and the next request
    /// of an honest client is served, on the same connection and on a new one. With `REPRISE_ALONE`, where no other test runs in
    /// this process: in the end little more memory is held than after a quarter of them, descriptors are back, and nothing is
    /// done.
    ///
    /// `REPRISE_COMBINATIONS=n` runs n of each role from `REPRISE_FIRST` on.
    @Suite(.serialized) struct CombinationTests {
        enum Role: String, CaseIterable { case edge, anyOrigin }

        @Test(arguments: Role.allCases)
        func `no combination of a bad origin and a bad client breaks an answer or the next`(role: Role) async throws {
            let first = Self.number("REPRISE_FIRST") ?? 1
            let last = first + (Self.number("REPRISE_COMBINATIONS") ?? 1000)
            let quarter = first + (last - first) / 4
            try await Self.withServer(role) { server in
                let descriptors = ProcessUsage.descriptors
                var words = try await server.run(first..<quarter)
                let memory = Self.memoryInUse()
                words.merge(try await server.run(quarter..<last), uniquingKeysWith: +)
                let told = words.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
                print("combinations: \(role.rawValue), \(last - first) from \(first): \(told)")
                guard SystemCalls.environment("REPRISE_ALONE") != nil else {
                    return print(
                        "combinations: not looked at what is left of them: other tests may run in this process")
                }
                // Both ends of connections to the origin that stay open for a while are here.
                let areClosed = await eventually { ProcessUsage.descriptors <= descriptors + 2 * Self.lanes }
                #expect(areClosed, "\(descriptors) descriptors, and then \(ProcessUsage.descriptors)")
                let windows = IdleWindows()
                let isIdle = await eventually { windows.areThree }
                #expect(isIdle, "the processor is not left alone")
                guard let memory, let after = Self.memoryInUse() else { return }
                print(
                    "combinations: \(memory >> 10) KiB of memory, and then \(after >> 10); "
                        + "\(descriptors) descriptors, and then \(ProcessUsage.descriptors)")
                // Less than two pages for each: what the allocator holds comes and goes by one. Of a few the first ones take most.
                let most = memory + (last - quarter) * 8192
                #expect(last - first < 1000 || after < most, "\(memory >> 10) KiB, and then \(after >> 10)")
            }
        }

        private static func number(_ name: String) -> Int? { SystemCalls.environment(name).flatMap { Int($0) } }

        private static func memoryInUse() -> Int? {
            SystemCalls.returnFreeMemory()
            return ProcessUsage.ownMemory
        }

        /// Spans of half a second in a row in which this process took less than a fifth of a processor.
        private final class IdleWindows: Sendable {
            private let state = Lock(
                (begun: SystemCalls.monotonicNanoseconds(), taken: ProcessUsage.processorTime, count: 0))

            /// Whether there were three.
            var areThree: Bool {
                state.withLock { state in
                    let (time, taken) = (SystemCalls.monotonicNanoseconds(), ProcessUsage.processorTime)
                    guard time - state.begun > 500_000_000 else { return state.count >= 3 }
                    let isIdle = (taken - state.taken) * 5 < time - state.begun
                    state = (time, taken, isIdle ? state.count + 1 : 0)
                    return state.count >= 3
                }
            }
        }

        /// Combinations that run at a time: few enough for the tests beside these to have their turn.
        private static let lanes = 24

        /// A server among bad origins and bad clients.
        private struct Server {
            let role: Role
            let fixture: ProxyFixture
            let originPort: Int

            /// Runs combinations, then waits until nothing is left of them. Answers how often each came to what.
            func run(_ numbers: Range<Int>) async throws -> [String: Int] {
                let words = try await withThrowingTaskGroup(of: [String: Int].self) { group in
                    for lane in 0..<lanes {
                        group.addTask { try await runLane(numbers.dropFirst(lane), step: lanes) }
                    }
                    return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
                }
                await fixture.waitUntilQuiet()
                let hasLeft = await eventually { fixture.proxy.connectionCount == 0 }
                #expect(hasLeft, "\(fixture.proxy.connectionCount) connections are left")
                return words
            }

            private func runLane(_ numbers: Range<Int>, step: Int) async throws -> [String: Int] {
                var words: [String: Int] = [:]
                for number in stride(from: numbers.lowerBound, to: numbers.upperBound, by: step) {
                    let run = CombinationRun(Combination(number: number), role, fixture, originPort)
                    do { words[try await run.run(), default: 0] += 1 } catch {
                        Issue.record("\(role.rawValue) REPRISE_FIRST=\(number): \(error)\n\(run.combination)")
                    }
                }
                return words
            }
        }

        private static func withServer(_ role: Role, _ body: (Server) async throws -> Void) async throws {
            let origin = try await CombinationOrigin.start()
            let base = OriginURL("http://127.0.0.1:\(origin.port)")
            // Longer than a busy machine is silent: an honest origin's answer has to come within it.
            let patience: Int64 = 8_000_000_000
            try await ProxyFixture.run(
                cache: {
                    $0.tuning.headTimeout = patience
                    $0.tuning.stallTimeout = patience
                    $0.tuning.openDeadline = patience / 2
                    $0.tuning.retryDeadline = patience / 2
                    $0.tuning.requestsPerHost = 64
                    // So few entries stay open without readers that a quarter of the combinations has opened as many.
                    $0.tuning.mostIdle = 64
                },
                proxy: { $0.token = nil },
                edge: role == .edge ? "edge" : nil, origin: base, connections: 128
            ) { fixture in
                try await body(Server(role: role, fixture: fixture, originPort: origin.port))
            }
            await origin.stop()
            #expect(origin.strangeRequests.isEmpty)
        }
    }

    /// One combination through one server.
    private struct CombinationRun {
        let combination: Combination
        private let role: CombinationTests.Role
        private let fixture: ProxyFixture
        private let originPort: Int

        init(_ combination: Combination, _ role: CombinationTests.Role, _ fixture: ProxyFixture, _ originPort: Int) {
            self.combination = combination
            self.role = role
            self.fixture = fixture
            self.originPort = originPort
        }

        struct Wrong: Error, CustomStringConvertible {
            var description: String
        }

        private func require(_ isRight: Bool, _ text: @autoclosure () -> String) throws(Wrong) {
            if !isRight { throw Wrong(description: text()) }
        }

        private func target(_ path: String) -> String {
            role == .edge ? path : "/http/127.0.0.1:\(originPort)\(path)"
        }

        private var authority: String { "127.0.0.1:\(fixture.proxy.port)" }

        /// What became of it, in a word.
        func run() async throws -> String {
            let client = try await fixture.connect()
            let word = try await converse(client)
            await client.close()
            let other = try await fixture.connect()
            try await expectGood(other, "a new connection")
            await other.close()
            return word
        }

        private func goodHead() -> String { RawClient.head(target("/good/\(combination.number)")) }

        private func expectGood(_ client: RawClient, _ connection: String, isSent: Bool = false) async throws {
            do {
                if !isSent { try await client.send(goodHead()) }
                let answer = try await client.readAnswer()
                try require(answer.status == 200, "then on \(connection): \(answer.status) \(answer.text.prefix(200))")
                let content = CombinationOrigin.goodContent(combination.number)
                try require(
                    answer.body.count == 1000 && content.firstMismatch(answer.body, at: 0) == nil,
                    "then on \(connection): \(answer.body.count) bytes that are not those asked for")
            } catch let error as RawClientError {
                throw Wrong(description: "then on \(connection): \(error)")
            }
        }

        private func converse(_ client: RawClient) async throws -> String {
            let bytes = combination.request(target("/bad/\(combination.number)"), authority: authority)
            switch combination.client {
            case .gone:
                try await client.send(bytes.prefix(bytes.count / 2))
                return "gone"
            case .leaves:
                try await client.send(bytes)
                return "left"
            case .slow:
                for piece in stride(from: 0, to: bytes.count, by: max(bytes.count / 20, 1)) {
                    guard !client.isClosed else { break }
                    try? await client.send(bytes[piece..<min(piece + max(bytes.count / 20, 1), bytes.count)])
                }
            case .pipelined: try? await client.send(bytes + Array(goodHead().utf8))
            case .halfClosed:
                try? await client.send(bytes)
                try? await client.endSending()
            default: try? await client.send(bytes)
            }
            let answer: RawAnswer
            let isWhole: Bool
            do {
                (answer, isWhole) = try await client.readAnswerOrBeginning(isBodyless: combination.method == "HEAD")
            } catch let error as RawClientError {
                // Who says that it sends no more has left, as for nginx; and a client that sends on while it is refused may not
                // get to read why.
                guard combination.client == .halfClosed || !combination.clientFields.isHonest, client.isClosed else {
                    throw error
                }
                return "closed"
            }
            let word = try judge(answer, isWhole: isWhole)
            let keeps = isWhole && answer.version == "HTTP/1.1" && !answer.fields.has(token: "close", in: "Connection")
            if keeps, combination.client != .halfClosed, combination.client != .old {
                try await expectGood(client, "the same connection", isSent: combination.client == .pipelined)
            }
            return word
        }

        private func judge(_ answer: RawAnswer, isWhole: Bool) throws -> String {
            let shown = answer.fields.keeping([
                "X-Own", "Content-Range", "Content-Length", "Proxy-Status", "Cache-Status",
            ])
            let lines = shown.lines.map { "\($0.name): \($0.value)" }.joined(separator: "; ")
            let told = "\(answer.status), \(answer.body.count) bytes, whole \(isWhole); \(lines)"
            try require((200...599).contains(answer.status), told)
            for field in answer.fields.lines
            where !field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) {
                throw Wrong(description: "a control character in \(field.name): \(told)")
            }
            guard combination.clientFields.isHonest else {
                // HTTP/1.0 needs no Host.
                if combination.clientFields == .noHost,
                    combination.client == .old || combination.client == .absoluteForm
                {
                    return "no host"
                }
                try require(isWhole && (400...499).contains(answer.status), "a bad request was served: \(told)")
                return "\(answer.status) to a bad request"
            }
            let isOrigins = answer.fields["X-Own"] == "\(combination.number)"
            guard isOrigins else {
                try require(answer.fields["X-Own"] == nil, "another's answer: \(told)")
                return try judgeOwn(answer, isWhole, told)
            }
            try judgeBody(answer, isWhole, told)
            if combination.client == .halfClosed, !isWhole { return "closed" }
            if combination.isOriginHonest {
                try require(isWhole, "an honest answer was cut off: \(told)")
                try judgeHonest(answer, told)
                return "origin's"
            }
            return isWhole ? "origin's, of a bad one" : "cut off"
        }

        // An answer of this server's own making.
        private func judgeOwn(_ answer: RawAnswer, _ isWhole: Bool, _ told: String) throws -> String {
            try require(isWhole, "a sentence was cut off: \(told)")
            if combination.method != "HEAD" { try require(answer.body.count < 2000, "its own, too long: \(told)") }
            if combination.isOriginHonest, mustBeOrigins(answer) {
                throw Wrong(description: "an honest answer was not given: \(told) \(answer.text)")
            }
            return "own \(answer.status)"
        }

        private func mustBeOrigins(_ answer: RawAnswer) -> Bool {
            if combination.method == "OPTIONS", role == .anyOrigin { return false }
            // The connections that it was sent on may have been spoilt by other combinations; only GET is sent again and again.
            let isLost = ["connection_terminated", "http_protocol_error"].contains { cause in
                answer.fields["Proxy-Status"]?.contains("error=\(cause)") == true
            }
            if combination.method != "GET", isLost { return false }
            // Conditions and ranges are answered here where the object is known.
            if answer.status == 416 || answer.status == 304 || answer.status == 412 { return false }
            // An answer in parts to a request for none, or an answer to a condition that was not made.
            return ![206, 304].contains(combination.status)
        }

        private func judgeHonest(_ answer: RawAnswer, _ told: String) throws {
            let isPart = [206, 416, 304].contains(answer.status)
            if combination.status == 200, isPart { return }
            try require(answer.status == combination.status, "not the origin's status: \(told)")
            let isBodyless = combination.method == "HEAD" || Combination.isBodyless(answer.status)
            if !isBodyless {
                try require(Int64(answer.body.count) == combination.bodyLength, "not the origin's length: \(told)")
            }
        }

        // Whatever came of the origin's body is that of this combination, at its place.
        private func judgeBody(_ answer: RawAnswer, _ isWhole: Bool, _ told: String) throws {
            guard answer.fields["Content-Type"]?.hasPrefix("multipart/byteranges") != true else { return }
            var start: Int64 = 0
            if answer.status == 206, let field = answer.fields["Content-Range"],
                case .satisfied(let range, _)? = ContentRange.parse(field)
            {
                start = range.lowerBound
                if isWhole, combination.method != "HEAD" {
                    try require(Int64(answer.body.count) == range.count, "not the range that it says: \(told)")
                }
            }
            let end = start + Int64(answer.body.count)
            try require(end <= combination.bodyLength || answer.body.isEmpty, "more than the origin has: \(told)")
            let mismatch = combination.content.firstMismatch(answer.body, at: start)
            try require(mismatch == nil, "not the origin's bytes at \(mismatch ?? 0): \(told)")
        }
    }
#endif
