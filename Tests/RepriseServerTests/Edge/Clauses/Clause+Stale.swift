#if Server
    import RepriseHTTP

    extension Clause {
        /// What is stale, and origins that fail.
        static let stale: [Clause] = [
            Clause("RFC 9111 §4.2.4", "a dead origin is stood in for", [old(), .deadButStored()]),
            Clause(
                "RFC 5861 §4", "`stale-if-error` stands in for a dead origin",
                [old("stale-if-error=60"), .deadButStored()]),
            Clause(
                "RFC 5861 §4", "`stale-if-error` stands in for 500",
                [old("stale-if-error=60"), .confirmed(status: 500)]),
            Clause(
                "RFC 5861 §4", "`stale-if-error` stands in for 503",
                [old("stale-if-error=60"), .confirmed(status: 503)]),
            Clause(
                "RFC 5861 §4", "`stale-if-error` ends",
                [
                    old("stale-if-error=10"),
                    Step(answer: OriginAnswer(status: 503), outcome: .passed),
                ]),
            Clause("RFC 5861 §4", "404 is no failure", [old("stale-if-error=60"), .ask(status: 404)]),
            Clause("RFC 9111 §5.2.2.2", "`must-revalidate` is not stood in for", [old("must-revalidate"), .dead(502)]),
            Clause(
                "RFC 9111 §5.2.2.8", "`proxy-revalidate` is not stood in for", [old("proxy-revalidate"), .dead(502)]),
            Clause(
                "RFC 9111 §5.2.2.10", "`s-maxage` is not stood in for",
                [.ask("GET", ["Cache-Control": "s-maxage=60", "Age": "90", "ETag": "\"a\""]), .dead(502)]),
            Clause(
                "RFC 9111 §5.2.2.4", "`no-cache` is not stood in for",
                [
                    .ask("GET", ["Cache-Control": "no-cache", "ETag": "\"a\""]), .dead(502),
                ]),
            Clause(
                "RFC 9111 §5.2.2.2", "`must-revalidate` goes before `stale-if-error`",
                [
                    old("must-revalidate, stale-if-error=60"), .ask("GET", status: 503),
                ]),
            Clause(
                "RFC 5861 §3", "`stale-while-revalidate` answers at once and asks meanwhile",
                [
                    old("stale-while-revalidate=60"),
                    .confirmed(
                        0, [:], ["Cache-Control": "max-age=60", "ETag": "\"a\"", "X-New": "1"]),
                    .hit(0, told: ["X-New": "1"]),
                ]),
            Clause(
                "RFC 5861 §3", "`stale-while-revalidate` ends",
                [
                    old("stale-while-revalidate=10"),
                    .confirmed(
                        0, [:], ["Cache-Control": "max-age=60", "ETag": "\"a\"", "X-New": "1"], told: ["X-New": "1"]),
                ]),
            Clause(
                "RFC 9111 §4.3.3", "an origin that fails without anything stored is told as it is",
                [.ask(status: 503, ["Retry-After": "5"], told: ["Retry-After": "5"])]),
        ]

        /// Parts of what is stored, and what is stored of parts.
        static let ranges: [Clause] = [
            Clause(
                "RFC 9110 §14.2", "a part of what is stored",
                [
                    tagged, .part(of: 5..<10, ["Range": "bytes=5-9"], told: ["Content-Range": "bytes 5-9/54"]),
                ]),
            Clause(
                "RFC 9110 §14.2", "the rest of what is stored", [tagged, .part(of: 50..<54, ["Range": "bytes=50-"])]),
            Clause(
                "RFC 9110 §14.2", "the end of what is stored", [tagged, .part(of: 44..<54, ["Range": "bytes=-10"])]),
            Clause(
                "RFC 9110 §15.5.17", "what lies behind the end: 416",
                [tagged, .own(416, ["Range": "bytes=60-"], told: ["Content-Range": "bytes */54"])]),
            Clause(
                "RFC 9110 §14.2", "a unit that is not known means nothing",
                [tagged, .hit(0, "", ["Range": "lines=5-9"])]),
            Clause(
                "RFC 9110 §13.1.5", "`If-Range` with the tag: the part",
                [tagged, .part(of: 5..<10, ["Range": "bytes=5-9", "If-Range": "\"a\""])]),
            Clause(
                "RFC 9110 §13.1.5", "`If-Range` with another tag: the whole",
                [tagged, .hit(0, "", ["Range": "bytes=5-9", "If-Range": "\"b\""])]),
            Clause(
                "RFC 9110 §15.3.7.2", "several ranges of what is stored come as parts",
                [
                    Step(answer: OriginAnswer(fields: lasting, resource: long), outcome: .failed(200)),
                    .own(206, ["Range": "bytes=0-4,10-14"], told: ["Content-Range": nil]),
                ]),
            Clause(
                "RFC 9110 §13.1.5", "`If-Range` with a date that is not strong: the whole",
                [
                    .ask("GET", ["Cache-Control": "max-age=99999999", "Last-Modified": modified, "Date": modified]),
                    .hit(0, "", ["Range": "bytes=5-9", "If-Range": modified]),
                ]),
            Clause(
                "RFC 9110 §13.1.5", "`If-Range` with the date: the part",
                [dated, .part(of: 5..<10, ["Range": "bytes=5-9", "If-Range": modified])]),
            Clause(
                "RFC 9111 §3.3", "a user whose answers are not shared gets all of what is stored in part",
                [
                    .range("bytes=0-9", of: long, lasting),
                    Step(
                        fields: ["Cookie": "s=1"], answer: OriginAnswer(fields: lasting, resource: long),
                        outcome: .failed(200), told: ["Content-Length": "600000"]),
                    Step(
                        fields: ["Cookie": "s=1", "Range": "bytes=0-9", "If-Range": "\"b\""],
                        answer: OriginAnswer(fields: lasting, resource: long), outcome: .failed(200),
                        told: ["Content-Length": "600000"]),
                ]),
            Clause(
                "RFC 9110 §13.1.5", "`If-Range` compares strongly",
                [
                    .ask("GET", ["Cache-Control": "max-age=60", "ETag": "W/\"a\""]),
                    .hit(0, "", ["Range": "bytes=5-9", "If-Range": "W/\"a\""]),
                ]),
            Clause(
                "RFC 9111 §3.3", "what came with a part is not asked for again",
                [
                    .range("bytes=2-4", of: "0123456789", lasting, told: ["Content-Range": "bytes 2-4/10"]),
                    Step(
                        fields: ["Range": "bytes=3-7"], answer: OriginAnswer(body: "0123456789"),
                        outcome: .part(1, 3..<8)),
                ]),
            Clause(
                "RFC 9111 §3.3", "the end of what is not stored",
                [.range("bytes=-4", of: "0123456789", lasting, told: ["Content-Range": "bytes 6-9/10"])]),
            Clause(
                "RFC 9110 §15.5.17", "what lies behind the end of what is not stored: 416",
                [
                    Step(
                        fields: ["Range": "bytes=50-59"], answer: OriginAnswer(fields: lasting, resource: "0123456789"),
                        outcome: .failed(416), told: ["Content-Range": "bytes */10"])
                ]),
            Clause(
                "RFC 9111 §3.4", "the rest of a part is asked for under its tag",
                [
                    .range("bytes=0-9", of: long, lasting),
                    .range(
                        "bytes=590000-590009", of: long, lasting, told: ["Content-Range": "bytes 590000-590009/600000"],
                        asked: ["If-Range": "\"a\""]),
                    Step(
                        answer: OriginAnswer(fields: lasting, resource: long), outcome: .failed(200),
                        asked: ["If-Range": "\"a\""]),
                    Step(answer: OriginAnswer(body: long), outcome: .stored(3)),
                ]),
            Clause(
                "RFC 9111 §3.4", "the rest of a part whose tag is weak is not put to it",
                [
                    .range("bytes=0-9", of: long, ["Cache-Control": "max-age=60", "ETag": "W/\"a\""]),
                    Step(
                        answer: OriginAnswer(
                            fields: ["Cache-Control": "max-age=60", "ETag": "W/\"a\""], resource: long),
                        outcome: .failed(200), asked: ["If-Range": nil]),
                ]),
        ]

        private static let lasting: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        /// More than the cache asks for at once.
        private static let long = String(repeating: "0123456789", count: 60_000)

        /// What is told of an answer's way.
        static let messages: [Clause] = [
            Clause(
                "RFC 9110 §7.6.3", "`Via` names the node, to both sides",
                [
                    .ask(
                        "GET", "", ["Via": "1.0 x"], ["Via": "1.1 y"], told: ["Via": "1.1 y, 1.1 node-1"],
                        asked: ["Via": "1.0 x, 1.1 node-1"])
                ]),
            Clause(
                "RFC 9110 §7.6.1", "fields of the client's connection do not go on",
                [
                    .ask(
                        "GET", "",
                        [
                            "Connection": "X-Hop", "X-Hop": "1", "X-End": "2", "Keep-Alive": "3", "TE": "trailers",
                            "Upgrade": "x",
                        ],
                        asked: ["X-Hop": nil, "X-End": "2", "Keep-Alive": nil, "Upgrade": nil])
                ]),
            Clause(
                "RFC 9110 §6.6.1", "`Date` is the origin's", [.ask("GET", ["Date": modified], told: ["Date": modified])]
            ),
            Clause(
                "RFC 9110 §7.6.2", "OPTIONS goes on as often as it says",
                [
                    .ask("OPTIONS", "", ["Max-Forwards": "5"], asked: ["Max-Forwards": "4"]),
                    .own(204, ["Max-Forwards": "0"], method: "OPTIONS"),
                ]),
            Clause("RFC 9111 §5.1", "what was made for this request has no `Age`", [.ask(told: ["Age": nil])]),
            Clause(
                "RFC 9111 §5.1", "the origin's own `Age` goes through",
                [.ask("GET", ["Age": "2147483648"], told: ["Age": "2147483648"])]),
            Clause(
                "RFC 9211 §2.3", "a miss says so",
                [
                    .ask("GET", ["Cache-Control": "max-age=60, s-maxage=60"]), .hit(),
                ]),
            Clause(
                "RFC 9211 §2", "another cache's `Cache-Status` stands before ours",
                [
                    .ask("POST", ["Cache-Status": "far; hit"], told: ["Cache-Status": "far; hit, node-1; fwd=method"])
                ]),
            Clause(
                "RFC 9110 §7.7", "unknown fields go through, to the origin and back",
                [
                    .ask(
                        "GET", "", ["X-Unknown": "á, \"b\""], ["X-Other": "c;d=\"e\""], told: ["X-Other": "c;d=\"e\""],
                        asked: ["X-Unknown": "á, \"b\""])
                ]),
            Clause(
                "RFC 9110 §15.4", "a redirect is the client's to follow",
                [
                    .ask(
                        "GET", status: 302, ["Location": "http://other.example/b"],
                        told: ["Location": "http://other.example/b"])
                ]),
        ]
    }
#endif
