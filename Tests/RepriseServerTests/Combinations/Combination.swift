#if Server
    import RepriseHTTP
    import RepriseRanges
    import RepriseTesting

    /// One answer of an origin and one request of a client, each as bad as its number makes them.
    struct Combination: Sendable, CustomStringConvertible {
        /// How the origin says where its body ends.
        enum Framing: CaseIterable {
            case length, chunked, close
            /// Nothing, and the connection stays open.
            case none
            case lengthAndChunked, twoLengths, lengthTwice, lengthOfLetters, lengthBelowZero, lengthBeyondNumbers
            case longerThanTold, shorterThanTold, chunkOfLetters, chunkWithoutEnd, chunkBeyondNumbers, chunkedTwice

            /// Whether a recipient knows the whole body by it (RFC 9112 §6.3).
            var isHonest: Bool { self == .length || self == .chunked || self == .close }
        }

        enum Validators: CaseIterable { case none, strong, weak, date, both, garbage, twoTags }

        enum OriginFields: CaseIterable {
            case usual, huge, thousands, folded, nul, nonASCII, noColon, spaceInName, connectionNamed, statusOnly

            /// Whether HTTP lets it be; what it does not, any recipient may refuse.
            var isHonest: Bool {
                self == .usual || self == .nonASCII || self == .connectionNamed || self == .statusOnly
            }
        }

        /// What becomes of the answer on its way.
        enum Timing: CaseIterable { case whole, drip, reset, close, stall }

        /// Where that happens.
        enum Phase: CaseIterable { case start, statusLine, fields, body, end }

        /// What an origin of ranges makes of them.
        enum Ranges: CaseIterable { case ignored, honoured, earlier, noContentRange, garbage, refused }

        enum Kind: CaseIterable { case media, page, json, none }

        enum Client: CaseIterable {
            case usual, old, pipelined, halfClosed, slow, gone, leaves, absoluteForm, expects, upgrades
        }

        enum ClientFields: CaseIterable {
            case usual, range, suffix, empty, twoRanges, noRange, condition, nonASCII
            case huge, thousands, folded, nul, twoLengths, lengthAndChunked, noHost, twoHosts, spaceBeforeColon

            /// Whether HTTP lets it be and our limits do.
            var isHonest: Bool {
                switch self {
                case .usual, .range, .suffix, .empty, .twoRanges, .noRange, .condition, .nonASCII: true
                default: false
                }
            }
        }

        let number: Int
        let status: Int
        let framing: Framing
        let validators: Validators
        let originFields: OriginFields
        let timing: Timing
        let phase: Phase
        let ranges: Ranges
        let kind: Kind
        let cacheControl: String?
        let bodyLength: Int64
        let interim: Bool
        let method: String
        let client: Client
        let clientFields: ClientFields

        /// What a number stands for. Half of all origins have one fault at most, so that a fault is met by itself.
        init(number: Int) {
            var random = SeededGenerator(seed: UInt64(number))
            func draw<Value>(_ usual: Value, _ all: [Value], one chance: Int) -> Value {
                Int.random(in: 0..<chance, using: &random) == 0 ? all.randomElement(using: &random) ?? usual : usual
            }
            self.number = number
            let chance = Int.random(in: 2...8, using: &random)
            status =
                Bool.random(using: &random) ? 200 : Int.random(in: 200...599, using: &random)
            framing = draw(
                [.length, .chunked, .close].randomElement(using: &random) ?? .length, Framing.allCases, one: chance)
            validators = draw(.strong, Validators.allCases, one: 2)
            originFields = draw(.usual, OriginFields.allCases, one: chance)
            timing = draw(.whole, Timing.allCases, one: chance)
            phase = Phase.allCases.randomElement(using: &random) ?? .start
            ranges = draw(.honoured, Ranges.allCases, one: 2)
            kind = draw(.media, Kind.allCases, one: 2)
            cacheControl = draw(nil, ["max-age=60", "no-store", "private", "no-cache", "max-age=\u{301}1"], one: 2)
            bodyLength = [0, 1, 100, 5000, 70_000, 400_000].randomElement(using: &random) ?? 0
            interim = draw(false, [true], one: 8)
            method = draw("GET", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"], one: 4)
            client = draw(.usual, Client.allCases, one: 2)
            clientFields = draw(.usual, ClientFields.allCases, one: 2)
        }

        var description: String {
            let origin =
                "\(status) \(framing) \(validators) \(originFields) \(timing) at \(phase), ranges \(ranges), \(kind)"
            let more = "\(cacheControl ?? "no Cache-Control"), \(bodyLength) bytes\(interim ? ", 103" : "")"
            return "origin: \(origin), \(more); client: \(method) \(client), fields \(clientFields)"
        }

        /// The bytes that the origin has at this number's path, which are at no other's.
        var content: PositionCodedContent { PositionCodedContent(length: bodyLength, generation: number + 1) }

        /// Whether the origin's answer is one that HTTP allows and that comes whole.
        var isOriginHonest: Bool {
            framing.isHonest && originFields.isHonest && (timing == .whole || timing == .drip)
                && (ranges == .honoured || ranges == .ignored)
        }

        /// A body is never sent with these (RFC 9110 §6.4.1).
        static func isBodyless(_ status: Int) -> Bool { status == 204 || status == 304 }

        /// Whether the client's request has a body.
        var hasRequestBody: Bool { ["POST", "PUT", "PATCH", "PROPFIND"].contains(method) }
    }

    // MARK: - What the origin says

    extension Combination {
        /// What the origin does with its connection, one after the other.
        enum Move: Equatable {
            case send([UInt8])
            /// The same in many small pieces.
            case drip([UInt8])
            case reset, close
            /// Nothing more, whatever the other side waits.
            case stall
        }

        /// Its answer to a request for `range` by `method`.
        func moves(method: String, range: RangeSpecifier?) -> [Move] {
            var answered = status
            var part = ByteRange(0, bodyLength)
            var fields = ["X-Own: \(number)"]
            if status == 200, method == "GET", let range { (answered, part) = answer(to: range, &fields) }
            if kind != .none {
                let types: [Kind: String] = [.media: "audio/mpeg", .page: "text/html", .json: "application/json"]
                fields.append("Content-Type: \(types[kind] ?? "")")
            }
            if let cacheControl { fields.append("Cache-Control: \(cacheControl)") }
            fields += validatorFields + badFields
            let isBodyless = method == "HEAD" || Combination.isBodyless(answered)
            let body = content.bytes(in: part)
            fields += framingFields(body.count)
            let first =
                (interim ? "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" : "") + "HTTP/1.1 \(answered) Answer\r\n"
            let lines = fields.map { $0 + "\r\n" }.joined() + "\r\n"
            let sent = isBodyless ? [] : framed(body)
            let parts = [Array(first.utf8), Array(lines.utf8), sent]
            var moves = disturbed(parts)
            let ends = framing == .close || framing == .shorterThanTold || framing == .chunkWithoutEnd
            if ends, moves.last != .stall, moves.last != .reset, moves.last != .close { moves.append(.close) }
            return moves
        }

        private func answer(to range: RangeSpecifier, _ fields: inout [String]) -> (Int, ByteRange) {
            let whole = ByteRange(0, bodyLength)
            guard ranges != .ignored else { return (200, whole) }
            guard ranges != .refused, let part = range.resolved(length: bodyLength) else {
                fields.append("Content-Range: bytes */\(bodyLength)")
                return (416, ByteRange(0, 0))
            }
            switch ranges {
            case .noContentRange: break
            case .garbage: fields.append("Content-Range: bytes of it")
            case .earlier where part.lowerBound > 0:
                let earlier = ByteRange(part.lowerBound - 1, part.upperBound - 1)
                fields.append("Content-Range: bytes \(earlier.lowerBound)-\(earlier.upperBound - 1)/\(bodyLength)")
                return (206, earlier)
            default: fields.append("Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/\(bodyLength)")
            }
            return (206, part)
        }

        private var validatorFields: [String] {
            let date = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
            return switch validators {
            case .none: []
            case .strong: ["ETag: \"\(number)\""]
            case .weak: ["ETag: W/\"\(number)\""]
            case .date: [date]
            case .both: ["ETag: \"\(number)\"", date]
            case .garbage: ["ETag: \(number)\"\"a", "Last-Modified: yesterday"]
            case .twoTags: ["ETag: \"\(number)\"", "ETag: \"other\""]
            }
        }

        private var badFields: [String] {
            switch originFields {
            case .usual: ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Server: combination"]
            case .huge: ["X-Huge: " + String(repeating: "x", count: 64 * 1024)]
            case .thousands: (0..<10_000).map { "X-\($0): y" }
            case .folded: ["X-Folded: a\r\n b"]
            case .nul: ["X-Nul: a\0b"]
            case .nonASCII: ["X-Name: Gr\u{FC}\u{DF}e"]
            case .noColon: ["no colon"]
            case .spaceInName: ["X Space: a", "X-Before : b"]
            case .connectionNamed: ["Connection: X-Hop", "X-Hop: 1"]
            case .statusOnly: []
            }
        }

        private func framingFields(_ length: Int) -> [String] {
            switch framing {
            case .length: ["Content-Length: \(length)"]
            case .chunked, .chunkOfLetters, .chunkWithoutEnd, .chunkBeyondNumbers: ["Transfer-Encoding: chunked"]
            case .chunkedTwice: ["Transfer-Encoding: chunked, chunked"]
            case .close, .none: []
            case .lengthAndChunked: ["Content-Length: \(length)", "Transfer-Encoding: chunked"]
            case .twoLengths: ["Content-Length: \(length)", "Content-Length: \(length + 1)"]
            case .lengthTwice: ["Content-Length: \(length)", "Content-Length: \(length)"]
            case .lengthOfLetters: ["Content-Length: many"]
            case .lengthBelowZero: ["Content-Length: -1"]
            case .lengthBeyondNumbers: ["Content-Length: 99999999999999999999"]
            case .longerThanTold: ["Content-Length: \(length / 2)"]
            case .shorterThanTold: ["Content-Length: \(length + 10)"]
            }
        }

        private func framed(_ body: [UInt8]) -> [UInt8] {
            let size = String(body.count, radix: 16)
            let chunk = body.isEmpty ? [] : Array("\(size)\r\n".utf8) + body + Array("\r\n".utf8)
            switch framing {
            case .chunked, .lengthAndChunked, .chunkedTwice: return chunk + Array("0\r\n\r\n".utf8)
            case .chunkWithoutEnd: return chunk
            case .chunkOfLetters: return chunk + Array("zz\r\n".utf8)
            case .chunkBeyondNumbers: return chunk + Array("fffffffffffffffff\r\nabc".utf8)
            default: return body
            }
        }

        // The parts of an answer, with what becomes of it at its phase.
        private func disturbed(_ parts: [[UInt8]]) -> [Move] {
            let all = parts.flatMap { $0 }
            let cut =
                switch phase {
                case .start: 0
                case .statusLine: parts[0].count / 2
                case .fields: parts[0].count + parts[1].count / 2
                case .body: parts[0].count + parts[1].count + parts[2].count / 2
                case .end: max(all.count - 1, 0)
                }
            let before = Array(all[..<cut])
            switch timing {
            case .whole: return [.send(all)]
            case .drip: return [.send(before), .drip(Array(all[cut...]))]
            case .reset: return [.send(before), .reset]
            case .close: return [.send(before), .close]
            case .stall: return [.send(before), .stall]
            }
        }
    }

    // MARK: - What the client says

    extension Combination {
        static let requestBody = "a=1"

        /// The bytes of its request for `target`, which is at `authority`.
        func request(_ target: String, authority: String) -> [UInt8] {
            let place = client == .absoluteForm ? "http://\(authority)\(target)" : target
            var lines = ["\(method) \(place) HTTP/1.\(client == .old ? 0 : 1)"]
            if clientFields != .noHost { lines.append("Host: \(authority)") }
            if clientFields == .twoHosts { lines.append("Host: other.example") }
            switch client {
            case .expects: lines.append("Expect: 100-continue")
            case .upgrades: lines += ["Connection: Upgrade", "Upgrade: websocket"]
            default: break
            }
            let length = "Content-Length: \(Combination.requestBody.utf8.count)"
            if hasRequestBody, clientFields != .lengthAndChunked { lines.append(length) }
            lines += ownFields
            let text = lines.map { $0 + "\r\n" }.joined() + "\r\n"
            return Array(text.utf8) + (hasRequestBody ? Array(Combination.requestBody.utf8) : [])
        }

        private var ownFields: [String] {
            switch clientFields {
            case .usual, .noHost, .twoHosts: []
            case .range: ["Range: bytes=\(bodyLength / 4)-\(bodyLength / 2)"]
            case .suffix: ["Range: bytes=-7"]
            case .empty: ["Range: bytes=\(bodyLength)-"]
            case .twoRanges: ["Range: bytes=0-1,\(bodyLength / 2)-"]
            case .noRange: ["Range: bytes=7-3"]
            case .condition: ["If-None-Match: \"\(number)\""]
            case .nonASCII: ["X-Name: Gr\u{FC}\u{DF}e"]
            case .huge: ["X-Huge: " + String(repeating: "x", count: 64 * 1024)]
            case .thousands: (0..<10_000).map { "X-\($0): y" }
            case .folded: ["X-Folded: a\r\n b"]
            case .nul: ["X-Nul: a\0b"]
            case .twoLengths: ["Content-Length: 3", "Content-Length: 40"]
            case .lengthAndChunked: ["Content-Length: 3", "Transfer-Encoding: chunked"]
            case .spaceBeforeColon: ["X-Before : b"]
            }
        }
    }
#endif
