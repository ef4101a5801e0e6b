#if Server
    import RepriseHTTP

    extension Clause {
        /// Which of several answers a request means.
        static let selection: [Clause] = [
            Clause(
                "RFC 9111 §4.1", "the same field: the same answer",
                [
                    .ask("GET", "", ["X-A": "1"], varying), .hit(0, "", ["X-A": "1"]),
                ]),
            Clause(
                "RFC 9111 §4.1", "another field: another answer",
                [
                    .ask("GET", "", ["X-A": "1"], varying), .ask("GET", "", ["X-A": "2"], varying),
                    .hit(1, "", ["X-A": "2"]),
                    .hit(0, "", ["X-A": "1"]),
                ]),
            Clause(
                "RFC 9111 §4.1", "a field that is absent matches one that is absent", [.ask("GET", varying), .hit()]),
            Clause(
                "RFC 9111 §4.1", "a field that is absent is another", [.ask("GET", "", ["X-A": "1"], varying), .ask()]),
            Clause(
                "RFC 9111 §4.1", "fields that do not select mean nothing",
                [
                    .ask("GET", "", ["X-A": "1", "X-B": "1"], varying), .hit(0, "", ["X-A": "1", "X-B": "2"]),
                ]),
            Clause(
                "RFC 9111 §4.1", "every field that selects has to match",
                [
                    .ask("GET", "", ["X-A": "1", "X-B": "1"], ["Cache-Control": "max-age=60", "Vary": "X-A, x-b"]),
                    .hit(0, "", ["X-A": "1", "X-B": "1"]), .ask("GET", "", ["X-A": "1", "X-B": "2"]),
                ]),
            Clause(
                "RFC 9111 §4.1", "lines of one field match their list",
                [
                    .ask("GET", "", HTTPFields([("X-A", "1"), ("X-A", "2")]), varying), .hit(0, "", ["X-A": "1, 2"]),
                ]),
            Clause(
                "RFC 9111 §4.1", "white space in a list means nothing",
                [
                    .ask("GET", "", ["X-A": "1,2"], varying), .hit(0, "", ["X-A": "1,  2"]),
                ]),
            Clause(
                "RFC 9111 §4.1", "`Vary: *` matches nothing", notReused(["Cache-Control": "max-age=60", "Vary": "*"])),
            Clause(
                "RFC 9111 §4.1", "`*` among others matches nothing",
                notReused(["Cache-Control": "max-age=60", "Vary": "X-A, *"])),
            Clause(
                "RFC 9111 §4.1", "each answer is confirmed by its own tag",
                [
                    .ask("GET", "", ["X-A": "1"], ["Cache-Control": "max-age=0", "Vary": "X-A", "ETag": "\"a\""]),
                    .ask("GET", "", ["X-A": "2"], ["Cache-Control": "max-age=0", "Vary": "X-A", "ETag": "\"b\""]),
                    .confirmed(0, ["X-A": "1"], ["ETag": "\"a\""], asked: ["If-None-Match": "\"a\""]),
                ]),
            Clause(
                "RFC 9110 §12.5.3", "the codings that a client takes are asked for",
                [
                    .ask(
                        "GET", "", ["Accept-Encoding": "GZIP, br;q=1"], ["Content-Encoding": "gzip"],
                        told: ["Content-Encoding": "gzip"], asked: ["Accept-Encoding": "br,gzip"]),
                    .ask("GET", told: ["Content-Encoding": nil], asked: ["Accept-Encoding": "identity"]),
                    .ask("POST", "", ["Accept-Encoding": "GZIP, br;q=1"], asked: ["Accept-Encoding": "GZIP, br;q=1"]),
                    Clause.Step(
                        method: "HEAD", query: "?h", fields: ["Accept-Encoding": "gzip"],
                        answer: OriginAnswer(fields: ["Content-Encoding": "gzip"]), outcome: .passed,
                        told: ["Content-Encoding": "gzip"], asked: ["Accept-Encoding": "gzip"]),
                ]),
            Clause(
                "RFC 9110 §12.5.3", "a part is asked for as it is",
                [
                    .range(
                        "bytes=0-4", of: "0123456789", ["Cache-Control": "max-age=60"], taking: "gzip",
                        asked: ["Accept-Encoding": "identity"])
                ]),
            Clause(
                "RFC 9111 §4.1", "a coded answer is for clients that take its coding",
                [
                    .ask("GET", "", ["Accept-Encoding": "gzip"], coded), .hit(0, "", ["Accept-Encoding": "x-gzip;q=1"]),
                    .ask(),
                    .hit(0, "", ["Accept-Encoding": "gzip"], method: "HEAD", told: ["Content-Encoding": "gzip"]),
                ]),
            Clause(
                "RFC 9111 §4.1", "media without a coding is for all, whatever codings they take",
                [
                    .ask(
                        "GET", "", ["Accept-Encoding": "gzip"],
                        ["Cache-Control": "max-age=60", "Vary": "Accept-Encoding", "Content-Type": "video/mp4"]),
                    .hit(), .hit(0, "", ["Accept-Encoding": "br"]),
                ]),
            Clause(
                "RFC 9110 §14.2", "a range means nothing to HEAD",
                [
                    tagged,
                    .hit(
                        0, "", ["Range": "bytes=5-9"], method: "HEAD",
                        told: ["Content-Length": "54", "Content-Range": nil]),
                ]),
            Clause(
                "RFC 9111 §4", "HEAD is answered from what is stored",
                [
                    .ask("GET", ["Cache-Control": "max-age=60", "X-B": "1"]),
                    .hit(0, method: "HEAD", told: ["X-B": "1", "Content-Length": "54"]),
                ]),
            Clause(
                "RFC 9110 §9.3.2", "HEAD of what is not stored goes on",
                [
                    .head(
                        [:], ["Cache-Control": "max-age=60", "X-B": "1"], told: ["X-B": "1", "Content-Length": "54"]),
                    .ask(),
                ]),
        ]

        /// What an unsafe request does to what is stored.
        static let invalidation: [Clause] =
            [
                Clause(
                    "RFC 9111 §4.4", "an unsafe request invalidates every variant",
                    [
                        .ask("GET", "", ["X-A": "1"], varying.adding(["ETag": "\"a\""])),
                        .ask("GET", "", ["X-A": "2"], varying.adding(["ETag": "\"b\""])), .ask("POST"),
                        .confirmed(0, ["X-A": "1"], ["ETag": "\"a\""]),
                        .confirmed(1, ["X-A": "2"], ["ETag": "\"b\""]),
                    ])
            ]
            + ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "QUERIED"].map {
                Clause(
                    "RFC 9111 §4.4", "a method that is not known to be safe invalidates", form: $0,
                    [tagged, .ask($0), .confirmed()])
            }
            + ["OPTIONS", "PROPFIND", "REPORT", "SEARCH"].map {
                Clause("RFC 9111 §4.4", "a safe method invalidates nothing", form: $0, [tagged, .ask($0), .hit()])
            }
            + [400, 404, 500, 503].map {
                Clause(
                    "RFC 9111 §4.4", "an unsafe request that fails invalidates nothing", form: "\($0)",
                    [tagged, .ask("POST", status: $0), .hit()])
            }
            + [201, 204, 302, 303].map {
                Clause(
                    "RFC 9111 §4.4", "an unsafe request that is done invalidates", form: "\($0)",
                    [tagged, .ask("POST", status: $0), .confirmed()])
            }
            + ["Location", "Content-Location"].flatMap { name in
                [
                    Clause(
                        "RFC 9111 §4.4", "what the answer names is invalidated too", form: name,
                        [tagged, .ask("POST", "?b", [:], status: 201, [name: "/clause"]), .confirmed()]),
                    Clause(
                        "RFC 9111 §4.4", "what the answer names at another origin is not invalidated", form: name,
                        [tagged, .ask("POST", "?b", [:], status: 201, [name: "http://other.example/clause"]), .hit()]),
                ]
            }

        private static let varying: HTTPFields = ["Cache-Control": "max-age=60", "Vary": "X-A"]

        private static let coded: HTTPFields = ["Cache-Control": "max-age=60", "Content-Encoding": "gzip"]
    }
#endif
