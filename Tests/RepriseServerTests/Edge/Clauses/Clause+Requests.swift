#if Server
    import RepriseHTTP

    extension Clause {
        /// What a client asks of the cache.
        static let requests: [Clause] = [
            Clause(
                "RFC 9111 §5.2.1.4", "`no-cache` has the answer confirmed",
                [tagged, .confirmed(0, ["Cache-Control": "no-cache"])]),
            Clause(
                "RFC 9111 §5.4", "`Pragma: no-cache` has the answer confirmed",
                [tagged, .confirmed(0, ["Pragma": "no-cache"])]),
            Clause(
                "RFC 9111 §5.4", "`Pragma` beside `Cache-Control` means nothing",
                [tagged, .hit(0, "", ["Pragma": "no-cache", "Cache-Control": "max-age=30"])]),
            Clause(
                "RFC 9111 §5.2.1.1", "`max-age=0` has the answer confirmed",
                [tagged, .confirmed(0, ["Cache-Control": "max-age=0"])]),
            Clause(
                "RFC 9111 §5.2.1.1", "`max-age` refuses what is older",
                [aged, .confirmed(0, ["Cache-Control": "max-age=20"])]),
            Clause(
                "RFC 9111 §5.2.1.1", "`max-age` takes what is younger",
                [aged, .hit(0, "", ["Cache-Control": "max-age=90"])]),
            Clause(
                "RFC 9111 §5.2.1.3", "`min-fresh` refuses what will be stale by then",
                [aged, .confirmed(0, ["Cache-Control": "min-fresh=50"])]),
            Clause(
                "RFC 9111 §5.2.1.3", "`min-fresh` takes what will be fresh by then",
                [aged, .hit(0, "", ["Cache-Control": "min-fresh=10"])]),
            Clause(
                "RFC 9111 §5.2.1.2", "`max-stale` takes what is stale",
                [old(), .hit(0, "", ["Cache-Control": "max-stale"])]),
            Clause(
                "RFC 9111 §5.2.1.2", "`max-stale` takes what is not too stale",
                [old(), .hit(0, "", ["Cache-Control": "max-stale=90"])]),
            Clause(
                "RFC 9111 §5.2.1.2", "`max-stale` refuses what is too stale",
                [old(), .confirmed(0, ["Cache-Control": "max-stale=10"])]),
            Clause(
                "RFC 9111 §5.2.2.2", "`must-revalidate` goes before `max-stale`",
                [old("must-revalidate"), .confirmed(0, ["Cache-Control": "max-stale"])]),
            Clause(
                "RFC 9111 §5.2.2.8", "`proxy-revalidate` goes before `max-stale`",
                [old("proxy-revalidate"), .confirmed(0, ["Cache-Control": "max-stale"])]),
            Clause(
                "RFC 9111 §5.2.2.10", "`s-maxage` goes before `max-stale`",
                [
                    .ask("GET", ["Cache-Control": "s-maxage=60", "Age": "90", "ETag": "\"a\""]),
                    .confirmed(0, ["Cache-Control": "max-stale"]),
                ]),
            Clause(
                "RFC 9111 §5.2.1.7", "`only-if-cached` does not ask the origin",
                [.own(504, ["Cache-Control": "only-if-cached"])]),
            Clause(
                "RFC 9111 §5.2.1.7", "`only-if-cached` takes what is stored",
                [tagged, .hit(0, "", ["Cache-Control": "only-if-cached"])]),
            Clause(
                "RFC 9111 §5.2.1.7", "`only-if-cached` takes nothing stale",
                [old(), .own(504, ["Cache-Control": "only-if-cached"])]),
        ]

        /// How an answer that is stored is confirmed, and clients' conditions are answered.
        static let validation: [Clause] = [
            Clause(
                "RFC 9111 §4.3.1", "a tag is asked about",
                [old(), .confirmed(asked: ["If-None-Match": "\"a\"", "If-Modified-Since": nil])]),
            Clause(
                "RFC 9111 §4.3.1", "a weak tag is asked about as it came",
                [
                    .ask("GET", ["Cache-Control": "max-age=0", "ETag": "W/\"a\""]),
                    .confirmed(asked: ["If-None-Match": "W/\"a\""]),
                ]),
            Clause(
                "RFC 9111 §4.3.1", "a date of change is asked about",
                [
                    .ask("GET", ["Cache-Control": "max-age=0", "Last-Modified": modified]),
                    .confirmed(asked: ["If-Modified-Since": modified]),
                ]),
            Clause(
                "RFC 9111 §4.3.1", "a tag and a date are both asked about",
                [
                    .ask("GET", ["Cache-Control": "max-age=0", "Last-Modified": modified, "ETag": "\"a\""]),
                    .confirmed(asked: ["If-Modified-Since": modified, "If-None-Match": "\"a\""]),
                ]),
            Clause(
                "RFC 9111 §4.3.3", "another answer takes its place",
                [old(), .ask("GET", ["Cache-Control": "max-age=60"]), .hit(1)]),
            Clause(
                "RFC 9111 §4.3.4", "304 makes it fresh again",
                [old(), .confirmed(0, ["Cache-Control": "max-age=60", "ETag": "\"a\""]), .hit(0)]),
            Clause(
                "RFC 9111 §4.3.4", "304 brings new fields",
                [
                    .ask("GET", ["Cache-Control": "max-age=0", "ETag": "\"a\"", "X-Old": "1", "X-Both": "1"]),
                    .confirmed(
                        0, [:], ["Cache-Control": "max-age=60", "ETag": "\"a\"", "X-New": "2", "X-Both": "2"],
                        told: ["X-Old": "1", "X-New": "2", "X-Both": "2"]),
                    .hit(0, told: ["X-Old": "1", "X-New": "2", "X-Both": "2"]),
                ]),
            Clause(
                "RFC 9111 §3.2", "304 does not change what says how the body is written",
                [
                    .ask("GET", ["Cache-Control": "max-age=0", "ETag": "\"a\"", "Content-Type": "text/plain"]),
                    .confirmed(
                        0, [:],
                        [
                            "Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Length": "5",
                            "Content-Range": "bytes 0-4/5",
                        ]),
                    .hit(0, told: ["Content-Range": nil]),
                ]),
            Clause(
                "RFC 9111 §4.3.4", "304 brings its `Date`",
                [
                    .ask(
                        "GET", ["Cache-Control": "max-age=0", "ETag": "\"a\"", "Date": "Thu, 01 Oct 2026 00:00:00 GMT"]),
                    .confirmed(
                        0, [:], ["Cache-Control": "max-age=99999999", "ETag": "\"a\"", "Date": modified],
                        told: ["Date": modified]),
                ]),
            Clause(
                "RFC 9110 §13.1.2", "the same tag: 304",
                [tagged, .own(304, ["If-None-Match": "\"a\""], told: ["ETag": "\"a\""])]),
            Clause("RFC 9110 §13.1.2", "another tag: the whole", [tagged, .hit(0, "", ["If-None-Match": "\"b\""])]),
            Clause("RFC 9110 §13.1.2", "tags compare weakly", [tagged, .own(304, ["If-None-Match": "W/\"a\""])]),
            Clause(
                "RFC 9110 §13.1.2", "a weak tag compares weakly",
                [
                    .ask("GET", ["Cache-Control": "max-age=60", "ETag": "W/\"a\""]),
                    .own(304, ["If-None-Match": "\"a\""], told: ["ETag": "W/\"a\""]),
                ]),
            Clause(
                "RFC 9110 §13.1.2", "a tag in a list: 304",
                [tagged, .own(304, ["If-None-Match": "\"x,y\", W/\"b\" ,\"a\""])]),
            Clause("RFC 9110 §13.1.2", "`*`: 304", [tagged, .own(304, ["If-None-Match": "*"])]),
            Clause(
                "RFC 9110 §8.8.3", "a tag without quotes is told as it came",
                [
                    .ask("GET", ["Cache-Control": "max-age=60", "ETag": "abc"]), .hit(0, told: ["ETag": "abc"]),
                    .own(304, ["If-None-Match": "abc"]),
                ]),
            Clause(
                "RFC 9110 §13.1.3", "unchanged since: 304",
                [dated, .own(304, ["If-Modified-Since": modified], told: ["Last-Modified": modified])]),
            Clause(
                "RFC 9110 §13.1.3", "unchanged since a later date: 304",
                [dated, .own(304, ["If-Modified-Since": "{now-60}"])]),
            Clause(
                "RFC 9110 §13.1.3", "changed since: the whole",
                [dated, .hit(0, "", ["If-Modified-Since": "Thu, 01 Oct 2026 00:00:00 GMT"])]),
            Clause(
                "RFC 9110 §13.1.3", "a date that cannot be read means nothing",
                [dated, .hit(0, "", ["If-Modified-Since": "yesterday"])]),
            Clause(
                "RFC 9111 §4.3.2", "without a date of change its `Date` counts",
                [.ask("GET", ["Cache-Control": "max-age=60"]), .own(304, ["If-Modified-Since": "{now+5}"])]),
            Clause(
                "RFC 9110 §5.6.7", "dates are read in all three forms",
                [
                    dated, .own(304, ["If-Modified-Since": "Tuesday, 10-Nov-26 10:00:00 GMT"]),
                    .own(304, ["If-Modified-Since": "Tue Nov 10 10:00:00 2026"]),
                ]),
            Clause(
                "RFC 9110 §13.2.2", "a condition goes before a range",
                [tagged, .own(304, ["If-None-Match": "\"a\"", "Range": "bytes=5-9"])]),
            Clause(
                "RFC 9110 §13.1.1", "`If-Match` compares strongly",
                [
                    .ask("GET", ["Cache-Control": "max-age=60", "ETag": "W/\"a\""]),
                    .own(412, ["If-Match": "W/\"a\""]),
                ]),
            Clause(
                "RFC 9110 §13.2.1", "conditions of a method that is passed on are the origin's",
                [tagged, .ask("PUT", "", ["If-Match": "\"x\""], status: 412, asked: ["If-Match": "\"x\""])]),
            Clause(
                "RFC 9110 §15.4.5", "304 tells what 200 would",
                [
                    .ask(
                        "GET",
                        [
                            "Cache-Control": "max-age=60", "ETag": "\"a\"", "Vary": "X-A", "Content-Location": "/b",
                            "Expires": modified, "Date": modified, "Content-Type": "text/plain", "Age": "0",
                        ]),
                    .confirmed(
                        0, [:], ["Cache-Control": "max-age=99999999", "ETag": "\"a\"", "Date": modified]),
                    .own(
                        304, ["If-None-Match": "\"a\""],
                        told: [
                            "Cache-Control": "max-age=99999999", "ETag": "\"a\"", "Vary": "X-A",
                            "Content-Location": "/b", "Expires": modified, "Date": modified, "Content-Type": nil,
                        ]),
                ]),
            Clause(
                "RFC 9111 §5.2", "directives go through, known or not, to both sides",
                [
                    .ask(
                        "GET", "", ["Cache-Control": "no-cache, x=y"], ["Cache-Control": "max-age=60, z"],
                        told: ["Cache-Control": "max-age=60, z"], asked: ["Cache-Control": "no-cache, x=y"])
                ]),
            Clause(
                "RFC 9110 §13.2.2", "a tag goes before a date",
                [dated, .hit(0, "", ["If-None-Match": "\"b\"", "If-Modified-Since": modified])]),
            Clause("RFC 9110 §13.1.1", "`If-Match` with another tag: 412", [tagged, .own(412, ["If-Match": "\"b\""])]),
            Clause(
                "RFC 9110 §13.1.1", "`If-Match` with the tag: the whole",
                [tagged, .hit(0, "", ["If-Match": "\"b\", \"a\""])]),
            Clause(
                "RFC 9110 §13.1.4", "changed since `If-Unmodified-Since`: 412",
                [dated, .own(412, ["If-Unmodified-Since": "Thu, 01 Oct 2026 00:00:00 GMT"])]),
            Clause(
                "RFC 9110 §13.2.1", "conditions are about success: an error goes before",
                [
                    .ask("GET", status: 404, ["Cache-Control": "max-age=60", "ETag": "\"a\""]),
                    .hit(0, "", ["If-None-Match": "\"a\""]),
                ]),
            Clause(
                "RFC 9111 §4.3.2", "a client's condition on what is stale is answered after it is confirmed",
                [
                    old(),
                    Step(
                        fields: ["If-None-Match": "\"a\""],
                        answer: OriginAnswer(status: 304, fields: ["ETag": "\"a\""]), outcome: .failed(304)),
                ]),
            Clause(
                "RFC 9111 §4.3.2", "a client's condition on what is not stored is answered by what comes",
                [
                    Step(
                        fields: ["If-None-Match": "\"a\""], answer: OriginAnswer(fields: ["ETag": "\"a\""]),
                        outcome: .failed(304), told: ["ETag": "\"a\""])
                ]),
            Clause(
                "RFC 9111 §4.3.5", "HEAD makes what it is about fresh again",
                [
                    old(),
                    .head([:], ["Cache-Control": "max-age=60", "ETag": "\"a\"", "X-New": "1"], told: ["X-New": "1"]),
                    .hit(0, told: ["X-New": "1"]),
                ]),
            Clause(
                "RFC 9111 §4.3.5", "HEAD with another tag has what is stored confirmed",
                [tagged, .head(reloading, ["Cache-Control": "max-age=60", "ETag": "\"b\""]), .confirmed()]),
            Clause(
                "RFC 9111 §4.3.5", "HEAD with another date has what is stored confirmed",
                [
                    tagged, .head(reloading, ["ETag": "\"a\"", "Last-Modified": modified]), .confirmed(),
                ]),
            Clause(
                "RFC 9111 §4.3.5", "HEAD with another length has what is stored confirmed",
                [tagged, .head(reloading, ["ETag": "\"a\"", "Content-Length": "55"]), .confirmed()]),
            Clause(
                "RFC 9111 §4.3.5", "HEAD that is refused says nothing of what is stored",
                [tagged, .head(reloading, status: 404), .hit()]),
            Clause(
                "RFC 9111 §4.3.5", "HEAD that is for one user says nothing of what is stored",
                [tagged, .head(reloading, ["ETag": "\"b\"", "Cache-Control": "private"]), .hit()]),
            Clause(
                "RFC 9111 §4.3.5", "HEAD for other fields says nothing of what is stored",
                [
                    .ask("GET", "", ["X-A": "1"], ["Cache-Control": "max-age=60", "Vary": "X-A", "ETag": "\"a\""]),
                    .head(["X-A": "2"], ["Cache-Control": "max-age=60", "Vary": "X-A", "ETag": "\"b\""]),
                    .hit(0, "", ["X-A": "1"]),
                ]),
            Clause(
                "RFC 5861 §3", "HEAD of what is stale is asked for also within `stale-while-revalidate`",
                [
                    old("stale-while-revalidate=60"), .head([:], ["Cache-Control": "max-age=60", "ETag": "\"a\""]),
                    .hit(),
                ]),
            Clause(
                "RFC 9111 §4.3.5", "HEAD without validators and length says nothing of what is stored",
                [
                    .ask("GET", ["Cache-Control": "max-age=60"]), .head(reloading, ["Transfer-Encoding": "chunked"]),
                    .hit(),
                ]),
            Clause(
                "RFC 9111 §4.2.4", "HEAD whose origin is dead is answered from what is stored",
                [old(), Step(method: "HEAD", answer: OriginAnswer(isNone: true), outcome: .confirmed(0))]),
            Clause(
                "RFC 5861 §4", "HEAD whose origin fails is answered from what is stored",
                [
                    old("stale-if-error=60"),
                    Step(method: "HEAD", answer: OriginAnswer(status: 503), outcome: .confirmed(0)),
                ]),
            Clause(
                "RFC 9111 §5.2.1.7", "HEAD with `only-if-cached` does not ask the origin",
                [.own(504, ["Cache-Control": "only-if-cached"], method: "HEAD")]),
            Clause(
                "RFC 9211 §2.2", "`Cache-Status` says why HEAD went on",
                [
                    .head(told: ["Cache-Status": "node-1; fwd=uri-miss; fwd-status=200"]),
                    .ask("GET", "", ["X-A": "1"], ["Cache-Control": "max-age=60", "Vary": "X-A", "ETag": "\"a\""]),
                    .head(
                        ["X-A": "1", "Cache-Control": "max-age=0"], ["ETag": "\"a\""],
                        told: ["Cache-Status": "node-1; fwd=request; fwd-status=200"]),
                    .head(
                        ["X-A": "1", "Cache-Control": "min-fresh=90"], ["ETag": "\"a\""],
                        told: ["Cache-Status": "node-1; fwd=request; fwd-status=200"]),
                    .head(["X-A": "2"], told: ["Cache-Status": "node-1; fwd=vary-miss; fwd-status=200"]),
                    .head(
                        ["X-A": "1", "Cache-Control": "no-cache"], ["ETag": "\"b\""],
                        told: ["Cache-Status": "node-1; fwd=request; fwd-status=200"]),
                ]),
            Clause(
                "RFC 9110 §13.2.1", "conditions hold for every success",
                [
                    .ask("GET", status: 203, ["Cache-Control": "max-age=60", "ETag": "\"a\""]),
                    .own(412, ["If-Match": "\"b\""]), .own(304, ["If-None-Match": "\"a\""]),
                ]),
            Clause(
                "RFC 9110 §14.3", "`Accept-Ranges` of what is not the resource is the origin's",
                [
                    .ask(
                        "GET", status: 404, ["Cache-Control": "max-age=60", "Accept-Ranges": "bytes"],
                        told: ["Accept-Ranges": "bytes"]), .hit(0, told: ["Accept-Ranges": "bytes"]),
                ]),
        ]

        private static let reloading: HTTPFields = ["Cache-Control": "no-cache"]

        static let modified = "Tue, 10 Nov 2026 10:00:00 GMT"

        /// An answer that is fresh and has a tag.
        static let tagged = Step.ask("GET", ["Cache-Control": "max-age=60", "ETag": "\"a\""])

        /// An answer that is fresh and has a date of change.
        static let dated = Step.ask("GET", ["Cache-Control": "max-age=60", "Last-Modified": modified])

        /// An answer that is fresh, but half as old as it may get.
        static let aged = Step.ask("GET", ["Cache-Control": "max-age=60", "Age": "30", "ETag": "\"a\""])

        /// An answer that is stored and stale.
        static func old(_ control: String = "") -> Step {
            Step.ask("GET", ["Cache-Control": "max-age=60, " + control, "Age": "90", "ETag": "\"a\""])
        }
    }
#endif
