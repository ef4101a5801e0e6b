#if Server
    import RepriseHTTP

    extension Clause {
        /// How long an answer is fresh, and what it says of its age.
        static let freshness: [Clause] =
            [
                Clause("RFC 9111 §5.2.2.1", "`max-age` is how long an answer is fresh", cached("max-age=60")),
                Clause("RFC 9111 §5.2.2.1", "`max-age=0` is stale at once", notReused("max-age=0")),
                Clause("RFC 9111 §5.2.2.10", "`s-maxage` goes before `max-age`", cached("max-age=0, s-maxage=60")),
                Clause("RFC 9111 §5.2.2.10", "`s-maxage=0` is stale at once", notReused("max-age=60, s-maxage=0")),
                Clause(
                    "RFC 9111 §4.2.1", "`s-maxage` goes before `Expires`",
                    cached(["Cache-Control": "s-maxage=60", "Expires": "{now-60}"])),
                Clause(
                    "RFC 9111 §5.3", "`max-age` goes before `Expires`",
                    cached(["Cache-Control": "max-age=60", "Expires": "{now-60}"])),
                Clause(
                    "RFC 9111 §5.3", "`max-age=0` goes before `Expires`",
                    notReused(["Cache-Control": "max-age=0", "Expires": "{now+60}"])),
                Clause("RFC 9111 §5.3", "`Expires` in the future is fresh", cached(["Expires": "{now+60}"])),
                Clause("RFC 9111 §5.3", "`Expires` in the past is stale", notReused(["Expires": "{now-60}"])),
                Clause("RFC 9111 §5.3", "`Expires` as `Date` is stale", notReused(["Expires": "{now+0}"])),
                Clause(
                    "RFC 9111 §4.2.1", "`Expires` counts from the origin's `Date`",
                    cached(["Date": "{now-7200}", "Expires": "{now+60}"])),
                Clause("RFC 9111 §4.2.3", "`Age` counts", notReused(["Cache-Control": "max-age=60", "Age": "90"])),
                Clause(
                    "RFC 9111 §4.2.3", "`Age` counts where `Expires` does too",
                    notReused(["Expires": "{now+60}", "Age": "90"])),
                Clause(
                    "RFC 9111 §4.2.3", "an old `Date` is age",
                    notReused(["Cache-Control": "max-age=60", "Date": "{now-90}"])),
                Clause(
                    "RFC 9111 §5.1", "the first of a list of ages counts",
                    cached(["Cache-Control": "max-age=60", "Age": "0, 90"])),
                Clause(
                    "RFC 9111 §5.1", "the first of a list of ages counts where it is the largest",
                    notReused(["Cache-Control": "max-age=60", "Age": "90, 0"])),
                Clause(
                    "RFC 9111 §1.2.2", "an age too large for a number is very old",
                    notReused(["Cache-Control": "max-age=60", "Age": "99999999999999999999"])),
                Clause("RFC 9111 §5.2", "names of directives are told apart in no case", cached("MaX-aGe=60")),
                Clause("RFC 9111 §5.2", "an argument may be quoted", cached("max-age=\"60\"")),
                Clause(
                    "RFC 9111 §5.2", "what a quoted argument holds is no directive",
                    cached("a=\"no-store, max-age=0\", max-age=60")),
                Clause(
                    "RFC 9111 §5.2.3", "unknown directives are passed over", cached("a, b=c, max-age=60, no-storage")),
                Clause("RFC 9110 §5.6.1", "empty members of a list are passed over", cached(", ,max-age=60,,")),
                Clause(
                    "RFC 9110 §5.3", "lines of one name are one list",
                    [
                        .ask(
                            "GET", "", [:],
                            HTTPFields([("Cache-Control", "max-age=60"), ("Cache-Control", "no-store")])),
                        .ask(),
                    ]),
                Clause("RFC 9111 §1.2.2", "leading zeros do not matter", cached("max-age=0060")),
                Clause(
                    "RFC 9111 §1.2.2", "a lifetime too large for a number is very long",
                    cached("max-age=99999999999999999999")),
                Clause("RFC 9111 §4.2.1", "the same lifetime twice is one", cached("max-age=60, max-age=60")),
                Clause("RFC 9111 §4.2.1", "two lifetimes that differ are stale", notReused("max-age=60, max-age=1")),
                Clause(
                    "RFC 9111 §4.2.1", "two `Expires` are stale",
                    [
                        .ask("GET", "", [:], HTTPFields([("Expires", "{now+60}"), ("Expires", "{now-60}")])), .ask(),
                    ]),
                Clause(
                    "RFC 9111 §4.2.2", "a tenth of what it had gone unchanged is a guess",
                    cached(["Last-Modified": "{now-864000}", "Content-Type": "text/plain"])),
                Clause(
                    "RFC 9111 §4.2.2", "nothing is guessed of what has just changed",
                    notReused(["Last-Modified": "{now+0}"])),
                Clause(
                    "RFC 9111 §4.2.2", "nothing is guessed of a status that is not named for it",
                    [.ask("GET", status: 201, ["Last-Modified": "{now-864000}"]), .ask()]),
                Clause(
                    "RFC 9111 §5.2.2.9", "`public` lets a guess be made of any status",
                    cached(["Cache-Control": "public", "Last-Modified": "{now-864000}"], status: 299)),
                Clause(
                    "RFC 9111 §5.4", "`Pragma` of an answer means nothing",
                    cached(["Cache-Control": "max-age=60", "Pragma": "no-cache"])),
                Clause(
                    "RFC 9213 §2.2", "`CDN-Cache-Control` goes before `Cache-Control`",
                    cached(["CDN-Cache-Control": "max-age=60", "Cache-Control": "no-store"])),
                Clause(
                    "RFC 9213 §2.2", "`CDN-Cache-Control: no-store` goes before `Cache-Control`",
                    notReused(["CDN-Cache-Control": "no-store", "Cache-Control": "max-age=60"])),
                Clause(
                    "RFC 9213 §2.2", "`CDN-Cache-Control` goes before `Expires`",
                    notReused(["CDN-Cache-Control": "max-age=0", "Expires": "{now+60}"])),
                Clause(
                    "RFC 9213 §2.1", "`CDN-Cache-Control` that cannot be read does not count",
                    cached(["CDN-Cache-Control": "no-store, =", "Cache-Control": "max-age=60"])),
                Clause(
                    "RFC 9213 §2.1", "an empty `CDN-Cache-Control` does not count",
                    cached(["CDN-Cache-Control": "", "Cache-Control": "max-age=60"])),
                Clause(
                    "RFC 9213 §2.2", "`CDN-Cache-Control` is told to clients",
                    cached(["CDN-Cache-Control": "max-age=60"], told: ["CDN-Cache-Control": "max-age=60"])),
            ]
            + [
                "-1", "0", "Thu, 18 Aug 2050 02:01:18 PST", "Thu, 18 Aug 2050 2:01:18 GMT",
                "Thu 18 Aug 2050 02:01:18 GMT", "18 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 50 02:01:18 GMT",
                "Thu, 18 Aug 2050 02.01.18 GMT",
            ].map {
                Clause("RFC 9111 §5.3", "`Expires` that is no date is stale", form: $0, notReused(["Expires": $0]))
            }
            + ["-1", "1.5", "", "'60'", "60x", "0x3c", "+60"].map { (text: String) in
                Clause(
                    "RFC 9111 §4.2.1", "a lifetime that is no number is stale", form: text,
                    notReused("max-age=\(text)"))
            }
            + ["x", "-90", "90.5", "90 s", ""].map {
                Clause(
                    "RFC 9111 §5.1", "an age that is no number means nothing", form: $0,
                    cached(["Cache-Control": "max-age=60", "Age": $0]))
            }
            + [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map {
                Clause(
                    "RFC 9110 §15.1", "a status that is named for it may be fresh though it does not say so",
                    form: "\($0)",
                    cached(["Last-Modified": "{now-864000}"], status: $0))
            }
            + [
                200, 201, 202, 203, 204, 205, 299, 300, 301, 302, 303, 307, 308, 399, 400, 401, 402, 403, 404, 405, 406,
                408, 409, 410, 411, 412, 413, 414, 415, 417, 418, 421, 422, 423, 424, 425, 426, 451, 499, 500, 501, 502,
                503, 504, 505, 507, 508, 599,
            ].map {
                Clause(
                    "RFC 9111 §3", "any final status that says how long it is fresh is stored", form: "\($0)",
                    cached("max-age=60", status: $0))
            }
            + [428, 429, 431, 511].map {
                Clause(
                    "RFC 6585 §3 to §6", "428, 429, 431 and 511 are never stored", form: "\($0)",
                    [.ask("GET", status: $0, ["Cache-Control": "max-age=60"]), .ask("GET", status: $0)])
            }

        /// An answer with this `Cache-Control` is used again.
        static func cached(_ control: String, status: Int = 200) -> [Step] {
            cached(["Cache-Control": control], status: status)
        }

        /// An answer with these fields is used again.
        static func cached(_ fields: HTTPFields, status: Int = 200, told: [String: String?] = [:]) -> [Step] {
            [.ask("GET", status: status, fields), .hit(told: told)]
        }

        /// An answer with this `Cache-Control` is not used again.
        static func notReused(_ control: String) -> [Step] { notReused(["Cache-Control": control]) }

        /// An answer with these fields is not used again.
        static func notReused(_ fields: HTTPFields) -> [Step] { [.ask("GET", fields), .ask()] }
    }
#endif
