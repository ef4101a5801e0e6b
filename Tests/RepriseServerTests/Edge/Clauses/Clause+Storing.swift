#if Server
    import RepriseHTTP

    extension Clause {
        /// What may be stored and shared.
        static let storing: [Clause] = [
            Clause("RFC 9111 §5.2.2.5", "`no-store` is not stored", notReused("no-store, max-age=60")),
            Clause("RFC 9111 §5.2.2.5", "`No-StorE` is not stored", notReused("max-age=60, No-StorE")),
            Clause("RFC 9111 §5.2.2.7", "`private` is not shared", notReused("private, max-age=60")),
            Clause(
                "RFC 9111 §5.2.2.7", "`private` with names keeps those fields from others",
                [
                    .ask(
                        "GET", ["Cache-Control": "private=\"X-Own\", max-age=60", "X-Own": "1", "X-All": "2"],
                        told: ["X-Own": "1"]),
                    .hit(told: ["X-Own": nil, "X-All": "2"]),
                ]),
            Clause(
                "RFC 9111 §5.2.2.4", "`no-cache` is confirmed before each use",
                [
                    .ask("GET", ["Cache-Control": "no-cache, max-age=60", "ETag": "\"a\""]),
                    .confirmed(asked: ["If-None-Match": "\"a\""]),
                ]),
            Clause("RFC 9111 §5.2.2.4", "`no-cache` without a validator is asked for anew", notReused("no-cache")),
            Clause(
                "RFC 9111 §5.2.2.4", "`no-cache` with names keeps those fields from others",
                [
                    .ask("GET", ["Cache-Control": "no-cache=\"X-Own\", max-age=60", "X-Own": "1"]),
                    .hit(told: ["X-Own": nil]),
                ]),
            Clause(
                "RFC 9111 §5.2.2.3", "`must-understand` goes before `no-store`",
                cached("must-understand, no-store, max-age=60")),
            Clause(
                "RFC 9111 §5.2.2.3", "`must-understand` with an unknown status is not stored",
                [.ask("GET", status: 299, ["Cache-Control": "must-understand, max-age=60"]), .ask()]),
            Clause(
                "RFC 9111 §5.2.1.5", "a request with `no-store` stores nothing",
                [.ask("GET", "", ["Cache-Control": "no-store"], ["Cache-Control": "max-age=60"]), .ask()]),
            Clause(
                "RFC 9111 §3.5", "an answer to `Authorization` is not shared",
                [.ask("GET", "", credentials, ["Cache-Control": "max-age=60"]), .ask()]),
            Clause(
                "RFC 9111 §3.5", "an answer to `Authorization` is not used for the same user either",
                [.ask("GET", "", credentials, ["Cache-Control": "max-age=60"]), .ask("GET", "", credentials)]),
            Clause(
                "RFC 9111 §3.5", "`public` shares an answer to `Authorization`",
                [.ask("GET", "", credentials, ["Cache-Control": "public, max-age=60"]), .hit()]),
            Clause(
                "RFC 9111 §3.5", "`s-maxage` shares an answer to `Authorization`",
                [.ask("GET", "", credentials, ["Cache-Control": "s-maxage=60"]), .hit()]),
            Clause(
                "RFC 9111 §3.5", "`must-revalidate` shares an answer to `Authorization`",
                [.ask("GET", "", credentials, ["Cache-Control": "must-revalidate, max-age=60"]), .hit()]),
            Clause(
                "RFC 9111 §3.1", "fields of the connection are not stored",
                [
                    .ask(
                        "GET",
                        [
                            "Cache-Control": "max-age=60", "Connection": "X-Hop", "X-Hop": "1", "X-End": "2",
                            "Keep-Alive": "3", "Proxy-Authenticate": "Basic", "Proxy-Authentication-Info": "a=b",
                        ], told: ["X-Hop": nil, "X-End": "2"]),
                    .hit(told: [
                        "X-Hop": nil, "X-End": "2", "Keep-Alive": nil, "Proxy-Authenticate": nil,
                        "Proxy-Authentication-Info": nil,
                    ]),
                ]),
            Clause(
                "RFC 9111 §3.1", "all other fields are stored",
                [
                    .ask("GET", (["Cache-Control": "max-age=60"] as HTTPFields).adding(others)),
                    .hit(told: Dictionary(uniqueKeysWithValues: others.lines.map { ($0.name, $0.value) })),
                ]),
            Clause(
                "RFC 9110 §9.3.3", "an answer to POST is not stored",
                [.ask("POST", ["Cache-Control": "max-age=60"]), .ask()]),
            Clause(
                "RFC 9111 §2", "URLs that differ in their query are two",
                [.ask("GET", "?a=1", [:], ["Cache-Control": "max-age=60"]), .ask("GET", "?a=2"), .hit(0, "?a=1")]),
            Clause(
                "RFC 9111 §7.3", "an answer that sets a cookie is not shared",
                notReused(["Cache-Control": "max-age=60", "Set-Cookie": "a=b"])),
            Clause(
                "RFC 9111 §7.3", "what sets a cookie and is `public` is stored without it",
                [
                    .ask(
                        "GET", ["Cache-Control": "public, max-age=60", "Set-Cookie": "a=b"], told: ["Set-Cookie": "a=b"]
                    ),
                    .hit(told: ["Set-Cookie": nil]),
                ]),
            Clause(
                "RFC 9111 §7.3", "an answer to a cookie is not shared",
                [.ask("GET", "", ["Cookie": "a=b"], ["Cache-Control": "max-age=60"]), .ask()]),
            Clause(
                "RFC 9111 §7.3", "`public` shares an answer to a cookie",
                [.ask("GET", "", ["Cookie": "a=b"], ["Cache-Control": "public, max-age=60"]), .hit()]),
        ]

        private static let credentials: HTTPFields = ["Authorization": "Basic YTpi"]

        private static let others: HTTPFields = [
            "Accept-CH": "DPR", "Content-Disposition": "inline", "Content-Language": "en", "Content-Location": "/b",
            "Content-Security-Policy": "default-src 'self'", "Content-Type": "text/plain; a=b",
            "Link": "</b>; rel=next",
            "Location": "/c", "Public-Key-Pins": "a", "Refresh": "5", "Server": "s",
            "Strict-Transport-Security": "max-age=5",
            "Retry-After": "5", "X-Frame-Options": "DENY", "X-XSS-Protection": "1", "Clear-Site-Data": "\"cache\"",

            "ETag": "\"a\"", "Last-Modified": "Thu, 01 Oct 2026 00:00:00 GMT", "Content-MD5": "YQ==",
        ]
    }

    extension HTTPFields {
        /// These fields and others behind them.
        func adding(_ others: HTTPFields) -> HTTPFields {
            HTTPFields((lines + others.lines).map { ($0.name, $0.value) })
        }
    }
#endif
