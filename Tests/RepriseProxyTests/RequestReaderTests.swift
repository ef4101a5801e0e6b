import RepriseHTTP
import RepriseProxy
import RepriseTesting
import Testing

/// How a connection's bytes are cut into requests, on bytes alone.
@Suite struct RequestReaderTests {
    private static let limit = 500

    /// All events of `text`, given in pieces of `size` bytes; bodies' counts are summed up.
    private func events(_ text: String, pieces size: Int = .max) -> [RequestReader.Event] {
        events(Array(text.utf8), pieces: size)
    }

    private func events(_ bytes: [UInt8], pieces size: Int = .max) -> [RequestReader.Event] {
        var reader = RequestReader(headLimit: RequestReaderTests.limit)
        var events: [RequestReader.Event] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            var piece = rest.prefix(size)
            rest = rest.dropFirst(piece.count)
            while let event = reader.read(&piece) {
                if case .body(let count) = event, case .body(let before) = events.last {
                    events[events.count - 1] = .body(count: before + count)
                } else {
                    events.append(event)
                }
            }
            #expect(piece.isEmpty)
        }
        return events
    }

    private func status(_ text: String) -> Int? {
        guard case .refused(let refusal) = events(text).last else { return nil }
        return refusal.status
    }

    private func head(_ event: RequestReader.Event?) throws -> RequestHead {
        let head: RequestHead? = if case .head(let head)? = event { head } else { nil }
        return try #require(head, "not a head: \(String(describing: event))")
    }

    @Test func `a request without a body is its head and its end`() throws {
        let all = events("GET /a?b HTTP/1.1\r\nHost: h\r\nX:  a\tb \r\n\r\n")
        let head = try head(all.first)
        #expect(head.method == "GET" && head.target == "/a?b" && head.minorVersion == 1)
        #expect(head.fields == ["Host": "h", "X": "a\tb"] && head.body == .none)
        #expect(Array(all.dropFirst()) == [.end])
    }

    @Test(arguments: [
        ("Content-Length: 5\r\n\r\nabcde", 5), ("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0),
        ("Transfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n00a\r\n0123456789\r\n0\r\n\r\n", 13),
        ("Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nExpires: now\r\nHost: i\r\n\r\n", 1),
        ("Content-Length: 000\r\n\r\n", 0),
    ])
    func `a body ends where its framing says and the next request begins there`(rest: String, count: Int) throws {
        let next = "GET /next HTTP/1.1\r\nHost: h\r\n\r\n"
        let all = events("GET / HTTP/1.1\r\nHost: h\r\n" + rest + next)
        let body: [RequestReader.Event] = count == 0 ? [] : [.body(count: count)]
        #expect(Array(all.dropFirst().prefix(body.count + 1)) == body + [.end])
        #expect(all.count == body.count + 4)
        #expect(try head(all.dropFirst(body.count + 2).first).target == "/next")
    }

    @Test(arguments: ["", "h", "a_b.example:8080", "h:", "[::1]", "[2001:db8::1]:80", "a%41", "127.0.0.1:1"])
    func `what may be a host is read, RFC 9110 §7.2`(host: String) throws {
        #expect(try head(events("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").first).fields["Host"] == host)
    }

    /// What leaves room for two opinions, and the status it is refused with.
    static let refused: [(String, Int)] = [
        ("GET / HTTP/1.1\nHost: h\n\n", 400), ("GET / HTTP/1.1\r\nHost: h\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\n\n", 400), ("GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\n X: folded\r\n\r\n", 400), ("GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost\t: h\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\nX\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX y: z\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\nX: \0\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: \u{8}\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: \u{7F}\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX\0: y\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\nÜ: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\nhost: h\r\n\r\n", 400),
        ("GET / HTTP/1.0\r\nHost: h\r\nHost: i\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: u@h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h/p\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h, i\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h:x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: [h]\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a%4\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: ü\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400),
        (" GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET /\r\n\r\n", 400),
        ("G(T / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET / http/1.1\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.x\r\nHost: h\r\n\r\n", 400),
        ("GET / HTTP/11\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505), ("GET / HTTP/0.9\r\n\r\n", 505),
        ("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("\u{16}\u{3}\u{1}", 400),
    ]

    static let framings: [(String, Int)] = [
        ("Content-Length: 5\r\nContent-Length: 6", 400), ("Content-Length: 5\r\ncontent-length: 5", 400),
        ("Content-Length: 5, 5", 400), ("Content-Length: 5,6", 400), ("Content-Length: +5", 400),
        ("Content-Length: -1", 400), ("Content-Length: 0x5", 400), ("Content-Length:", 400),
        ("Content-Length: 5 5", 400), ("Content-Length: ٥", 400),
        ("Content-Length: 99999999999999999999", 400), ("Content-Length: 0\r\nTransfer-Encoding: chunked", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", 400),
        ("Transfer-Encoding: gzip", 400), ("Transfer-Encoding: chunked, gzip", 400),
        ("Transfer-Encoding: chunked, chunked", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400),
        ("Transfer-Encoding: identity", 400), ("Transfer-Encoding: xchunked", 400),
        ("Transfer-Encoding: \"chunked\"", 400),
        ("Transfer-Encoding:", 400), ("Transfer-Encoding: ,chunked", 400), ("Transfer-Encoding: chunked;q=1", 400),
        ("Transfer-Encoding: gzip, chunked", 501), ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", 501),
        ("Transfer-Encoding : chunked", 400), ("Transfer-Encoding:\u{B}chunked", 400),
    ]

    static let chunks: [String] = [
        "\r\n", "x\r\n", "5\n", "5 \r\n", " 5\r\n", "+5\r\n", "0x5\r\n", "5\r5", "1\r\nab\r\n", "1\r\nb\n",
        "1\r\na0\r\n",
        "1;\r\nb\r\n", "1;a\r\nb\r\n", "1;a=b\r\nb\r\n", "1;a=\"b\"\r\nb\r\n", "1;a\nb\r\n", "1 ;a\r\nb\r\n",
        "1\r\nb\r\n0;a\r\n\r\n",
        "fffffffffffffffff\r\n", "0000000000000000000\r\n", "0\r\nX : y\r\n\r\n", "0\r\n x\r\n\r\n",
        "0\r\nX: y\n\r\n",
        "0\r\nnonsense\r\n\r\n", "0\r\n\n",
    ]

    @Test func `what could be read in two ways is refused with its status, and nothing behind it is read`() {
        let head = "GET / HTTP/1.1\r\nHost: h\r\n"
        let cases =
            RequestReaderTests.refused
            + RequestReaderTests.framings.map { (head + $0.0 + "\r\n\r\n", $0.1) }
            + RequestReaderTests.chunks.map { (head + "Transfer-Encoding: chunked\r\n\r\n" + $0, 400) }
        for (text, expected) in cases {
            #expect(
                status(text + "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n") == expected, "\(text.debugDescription)")
        }
    }

    @Test func `HTTP/1.0 knows neither Host nor chunks, and 1.2 is understood as 1.1`() throws {
        #expect(status("GET / HTTP/1.0\r\n\r\n") == nil)
        #expect(status("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") == 400)
        #expect(try head(events("GET / HTTP/1.2\r\nHost: h\r\n\r\n").first).minorVersion == 1)
    }

    @Test func `one empty line may stand before a request`() {
        let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        #expect(events("\r\n" + request + "\r\n" + request).count == 4)
    }

    @Test func `too long a target is 414, too large a head or trailer 431, and memory is bounded by the limit`() {
        let long = String(repeating: "a", count: 10_000)
        #expect(status("GET /" + long) == 414)
        #expect(status("GET / HTTP/1.1\r\nX: " + long) == 431)
        #expect(status("GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 200)) == 431)
        let chunked = "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        #expect(status(chunked + String(repeating: "X: y\r\n", count: 200)) == 431)
    }

    @Test func `how bytes are cut into pieces makes no difference`() {
        let head = "GET / HTTP/1.1\r\nHost: h\r\n"
        let good = [
            "\r\n" + head + "\r\n", head + "Content-Length: 5\r\n\r\nabcde" + head + "\r\n",
            head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n" + head + "\r\n",
        ]
        let bad =
            RequestReaderTests.refused.map(\.0) + RequestReaderTests.framings.map { head + $0.0 + "\r\n\r\n" }
            + RequestReaderTests.chunks.map { head + "Transfer-Encoding: chunked\r\n\r\n" + $0 }
        for text in good + bad {
            let whole = events(text)
            for size in [1, 2, 3, 7] { #expect(events(text, pieces: size) == whole, "\(text.debugDescription)") }
        }
    }

    @Test(arguments: UInt64(1)...4)
    func `any bytes have an answer, the same in any pieces`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = [
            "GET / HTTP/1.1\r\n", "Host: h\r\n", "\r\n", "\r", "\n", "Content-Length: 3\r\n", "abc", "0\r\n",
            "1\r\nx\r\n",
            "Transfer-Encoding: chunked\r\n", ":", " ", ";", "=", "\"", "\0", "\u{7F}", "é", "5",
        ]
        for _ in 0..<3000 {
            var text = "GET / HTTP/1.1\r\nHost: h\r\n"
            for _ in 0..<Int.random(in: 0..<12, using: &random) { text += words.randomElement(using: &random)! }
            let whole = events(text)
            #expect(
                events(text, pieces: Int.random(in: 1...9, using: &random)) == whole,
                "seed \(seed): \(text.debugDescription)")
        }
    }

    /// Heads alike but for the range, and some that only look so.
    private static let likeHeads = [
        "Range: bytes=0-9\r\n", "Range: bytes=10-19\r\n", "Range:bytes=5-\r\n", "Range: \r\n",
        "range: bytes=1-2\r\n",
        "Range: bytes=0-9\r\nX: y\r\n", "Range: bytes=0-9\r\nRange: bytes=1-2\r\n", "", "Range: a\r\n b\r\n",
        "X: range:1\r\n", "Range: bytes=0-9 \r\n", "Range : bytes=0-9\r\n",
        "Range: bytes=0-9\r\nContent-Length: 1\r\n",
    ]

    @Test func `a head is read as if none had been before it`() throws {
        func events(_ text: String, _ reader: inout RequestReader) -> [RequestReader.Event] {
            var bytes = Array(text.utf8)[...]
            var events: [RequestReader.Event] = []
            while let event = reader.read(&bytes) { events.append(event) }
            return events
        }
        for first in RequestReaderTests.likeHeads {
            for second in RequestReaderTests.likeHeads {
                let texts = [first, second].map { "GET /a HTTP/1.1\r\nHost: h\r\n\($0)Y: z\r\n\r\n" }
                var reader = RequestReader(headLimit: RequestReaderTests.limit)
                var alone = RequestReader(headLimit: RequestReaderTests.limit)
                if case .refused? = events(texts[0], &reader).last { continue }
                guard !texts[0].contains("Content-Length") else { continue }
                let events = events(texts[1], &reader)
                #expect(events == self.events(texts[1]), "\(texts)")
                if reader.isRepetition, case .head(var head)? = events.first,
                    case .head(var other)? = alone.read(texts[0])
                {
                    head.fields["Range"] = nil
                    other.fields["Range"] = nil
                    #expect(head == other, "what repeats differs in the range alone")
                }
            }
        }
    }

    @Test func `a head that differs in its range alone is known as a repetition`() {
        var reader = RequestReader(headLimit: RequestReaderTests.limit)
        var seen: [Bool] = []
        for (target, range) in [("/a", "0-1"), ("/a", "2-300"), ("/a", "4-5"), ("/b", "4-5"), ("/b", "6-7")] {
            guard case .head? = reader.read("GET \(target) HTTP/1.1\r\nHost: h\r\nRange: bytes=\(range)\r\n\r\n")
            else { return }
            seen.append(reader.isRepetition)
        }
        #expect(seen == [false, true, true, false, true])
    }
}

extension RequestReader {
    /// The first event of `text`; the rest is taken, too.
    fileprivate mutating func read(_ text: String) -> Event? {
        var bytes = Array(text.utf8)[...]
        let event = read(&bytes)
        while read(&bytes) != nil {}
        return event
    }
}
