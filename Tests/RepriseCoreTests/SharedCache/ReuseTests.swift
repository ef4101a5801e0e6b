import RepriseCore
import RepriseHTTP
import Testing

/// Whether a stored answer is given to a request, and what the request may say about it.
@Suite("Reusing a stored answer")
struct ReuseTests {
    private func verdict(
        _ control: String, age: Int64, _ request: String? = nil, pragma: String? = nil
    ) -> ReuseRule.Verdict {
        var fields = HTTPFields()
        fields["Cache-Control"] = request
        fields["Pragma"] = pragma
        return ReuseRule(
            stored: Moment.stored(["Cache-Control": control], ago: age), request: RequestCacheControl(fields),
            now: Moment.now
        ).verdict
    }

    @Test func `a fresh answer is used, RFC 9111 §4`() { #expect(verdict("max-age=10", age: 9) == .use) }

    @Test func `a stale answer is confirmed first, RFC 9111 §4`() {
        #expect(verdict("max-age=10", age: 10) == .confirm(.stale))
    }

    @Test func `no-cache in the answer has it confirmed first, RFC 9111 §5.2.2.4`() {
        #expect(verdict("no-cache, max-age=10", age: 0) == .confirm(.stale))
        #expect(verdict("no-cache, max-age=10", age: 0, "max-stale") == .confirm(.stale))
    }

    @Test func `must-revalidate allows what is fresh, RFC 9111 §5.2.2.2`() {
        #expect(verdict("must-revalidate, max-age=10", age: 9) == .use)
    }

    @Test func `immutable changes nothing once it is stale, RFC 8246 §2`() {
        #expect(verdict("max-age=10, immutable", age: 11) == .confirm(.stale))
    }

    @Test func `a request with no-cache has a fresh answer confirmed, RFC 9111 §5.2.1.4`() {
        #expect(verdict("max-age=10", age: 0, "no-cache") == .confirm(.request))
    }

    @Test func `a request with Pragma no-cache has it confirmed, RFC 9111 §5.4`() {
        #expect(verdict("max-age=10", age: 0, pragma: "no-cache") == .confirm(.request))
    }

    @Test func `a request's max-age bounds the age, RFC 9111 §5.2.1.1`() {
        #expect(verdict("max-age=100", age: 10, "max-age=10") == .use)
        #expect(verdict("max-age=100", age: 11, "max-age=10") == .confirm(.request))
        #expect(verdict("max-age=100", age: 1, "max-age=0") == .confirm(.request))
    }

    @Test func `a request's max-age makes nothing last longer, RFC 9111 §5.2.1.1`() {
        #expect(verdict("max-age=10", age: 11, "max-age=100") == .confirm(.stale))
    }

    @Test func `a request's min-fresh is what must be left, RFC 9111 §5.2.1.3`() {
        #expect(verdict("max-age=100", age: 90, "min-fresh=10") == .use)
        #expect(verdict("max-age=100", age: 91, "min-fresh=10") == .confirm(.request))
    }

    @Test func `a request's max-stale tolerates so much, RFC 9111 §5.2.1.2`() {
        #expect(verdict("max-age=10", age: 15, "max-stale=5") == .useStale)
        #expect(verdict("max-age=10", age: 16, "max-stale=5") == .confirm(.stale))
        #expect(verdict("max-age=10", age: 100_000, "max-stale") == .useStale)
    }

    @Test func `max-stale beside max-age still bounds the age, RFC 9111 §5.2.1.1`() {
        #expect(verdict("max-age=10", age: 15, "max-stale=10, max-age=20") == .useStale)
        #expect(verdict("max-age=10", age: 15, "max-stale=10, max-age=12") == .confirm(.stale))
    }

    @Test(arguments: ["must-revalidate", "proxy-revalidate", "s-maxage=10", "no-cache"])
    func `max-stale does not lift what the origin forbids, RFC 9111 §4.2.4`(control: String) {
        #expect(verdict(control + ", max-age=10", age: 11, "max-stale") == .confirm(.stale))
    }

    @Test func `only-if-cached is given what is stored and fresh, RFC 9111 §5.2.1.7`() {
        #expect(verdict("max-age=10", age: 5, "only-if-cached") == .use)
        #expect(verdict("max-age=10", age: 15, "only-if-cached, max-stale") == .useStale)
    }

    @Test func `only-if-cached is not given what would have to be confirmed, RFC 9111 §5.2.1.7`() {
        #expect(verdict("max-age=10", age: 15, "only-if-cached") == .unsatisfiable)
        #expect(verdict("max-age=10", age: 5, "only-if-cached, no-cache") == .unsatisfiable)
    }

    @Test func `only-if-cached has nothing confirmed behind the scenes, RFC 9111 §5.2.1.7`() {
        #expect(verdict("max-age=10, stale-while-revalidate=9", age: 15, "only-if-cached") == .useStale)
    }

    @Test func `what was invalidated is confirmed first, RFC 9111 §4.4`() {
        let stored = Freshness(fields: ["Cache-Control": "max-age=999999999"], checked: Freshness.invalidated)
        for request: HTTPFields in [[:], ["Cache-Control": "max-stale"]] {
            let rule = ReuseRule(stored: stored, request: RequestCacheControl(request), now: 10)
            #expect(rule.verdict == .confirm(.stale) && !rule.mayStandIn)
        }
    }
}

/// What may be served though it is stale.
@Suite("Serving stale")
struct StaleTests {
    private func rule(_ control: String, staleFor: Int64, _ request: HTTPFields = [:]) -> ReuseRule {
        ReuseRule(
            stored: Moment.stored(["Cache-Control": control], ago: 10 + staleFor),
            request: RequestCacheControl(request), now: Moment.now)
    }

    @Test func `a stale answer may stand in for an origin that is gone, RFC 9111 §4.2.4`() {
        #expect(rule("max-age=10", staleFor: 1_000).mayStandIn)
    }

    @Test(arguments: ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=10"])
    func `nothing stale stands in where the origin forbids it, RFC 9111 §4.2.4`(control: String) {
        #expect(!rule(control + ", max-age=10", staleFor: 1).mayStandIn)
    }

    @Test func `nothing stale stands in for a request that wants confirmation, RFC 9111 §5.2.1.4`() {
        #expect(!rule("max-age=10", staleFor: 1, ["Cache-Control": "no-cache"]).mayStandIn)
    }

    @Test func `stale-if-error bounds how long it stands in, RFC 5861 §4`() {
        #expect(rule("max-age=10, stale-if-error=60", staleFor: 60).mayStandIn)
        #expect(!rule("max-age=10, stale-if-error=60", staleFor: 61).mayStandIn)
    }

    @Test func `stale-if-error in a request bounds it, too, RFC 5861 §4`() {
        #expect(rule("max-age=10", staleFor: 5, ["Cache-Control": "stale-if-error=5"]).mayStandIn)
        #expect(!rule("max-age=10", staleFor: 6, ["Cache-Control": "stale-if-error=5"]).mayStandIn)
    }

    @Test func `stale-if-error beside s-maxage is the origin's own word, RFC 5861 §4`() {
        #expect(rule("s-maxage=10, stale-if-error=60", staleFor: 60).mayStandIn)
        #expect(!rule("s-maxage=10", staleFor: 1, ["Cache-Control": "stale-if-error=60"]).mayStandIn)
    }

    @Test func `stale-if-error does not lift must-revalidate, RFC 9111 §5.2.2.2`() {
        #expect(!rule("max-age=10, must-revalidate, stale-if-error=60", staleFor: 1).mayStandIn)
    }

    @Test func `where stale-if-error is given nobody waits for a second try, RFC 5861 §4`() {
        #expect(rule("max-age=10, stale-if-error=60", staleFor: 1).standsInAtOnce)
        #expect(!rule("max-age=10", staleFor: 1).standsInAtOnce)
        #expect(!rule("max-age=10, stale-if-error=60", staleFor: 61).standsInAtOnce)
    }

    @Test func `stale-while-revalidate is used while it is confirmed, RFC 5861 §3`() {
        #expect(rule("max-age=10, stale-while-revalidate=30", staleFor: 30).verdict == .useWhileConfirming)
        #expect(rule("max-age=10, stale-while-revalidate=30", staleFor: 31).verdict == .confirm(.stale))
        #expect(rule("s-maxage=10, stale-while-revalidate=30", staleFor: 1).verdict == .useWhileConfirming)
    }

    @Test func `stale-while-revalidate does not lift must-revalidate, RFC 9111 §5.2.2.2`() {
        let verdict = rule("max-age=10, stale-while-revalidate=30, must-revalidate", staleFor: 1).verdict
        #expect(verdict == .confirm(.stale))
    }

    @Test func `a request that gives a highest age is not given what is stale, RFC 9111 §5.2.1.1`() {
        let request: HTTPFields = ["Cache-Control": "max-age=1000"]
        #expect(rule("max-age=10, stale-while-revalidate=30", staleFor: 1, request).verdict == .confirm(.stale))
    }
}
