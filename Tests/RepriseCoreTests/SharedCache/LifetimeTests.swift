import RepriseCore
import RepriseHTTP
import Testing

/// The moment these tests are at, and dates around it.
enum Moment {
    static let now: Int64 = 1_000_000

    static func date(_ offset: Int64) -> String { HTTPDate.format(now + offset) }

    /// An answer that came at this moment, or was confirmed `ago` seconds before it.
    static func stored(_ fields: HTTPFields, ago: Int64 = 0) -> Freshness {
        Freshness(fields: fields, checked: now - ago)
    }
}

/// How long an answer is fresh.
@Suite("The lifetime of an answer")
struct LifetimeTests {
    private func lifetime(_ fields: HTTPFields) -> Int64 { Moment.stored(fields).lifetime }

    @Test func `s-maxage wins over max-age and Expires, RFC 9111 §4.2.1 and §5.2.2.10`() {
        #expect(lifetime(["Cache-Control": "max-age=10, s-maxage=20", "Expires": Moment.date(500)]) == 20)
        #expect(lifetime(["Cache-Control": "s-maxage=0, max-age=100"]) == 0)
    }

    @Test func `max-age wins over Expires, RFC 9111 §5.3`() {
        let fields: HTTPFields = ["Cache-Control": "max-age=10", "Expires": Moment.date(500), "Date": Moment.date(0)]
        #expect(lifetime(fields) == 10)
        #expect(lifetime(["Cache-Control": "max-age=x", "Expires": Moment.date(500)]) == 0)
    }

    @Test func `Expires counts from Date, RFC 9111 §4.2.1`() {
        #expect(lifetime(["Expires": Moment.date(500), "Date": Moment.date(100)]) == 400)
    }

    @Test func `Expires without Date counts from its arrival, RFC 9111 §4.2.1`() {
        #expect(lifetime(["Expires": Moment.date(500)]) == 500)
    }

    @Test func `an Expires in the past is stale, RFC 9111 §5.3`() {
        #expect(lifetime(["Expires": Moment.date(-500), "Date": Moment.date(0)]) == 0)
    }

    @Test(arguments: [
        "0", "-1", "never", "", "Thu, 32 Jan 1970 00:00:00 GMT", "Sun 06 Nov 2094 08:49:47 GMT",
        "Sun, 6 Nov 2094 08:49:47 GMT", "Sun, 06  Nov 2094 08:49:47 GMT", "Sun, 06-Nov-2094 08:49:47 GMT",
        "Sun, 06 Nov 2094 8:49:47 GMT", "Sun, 06 Nov 2094 08:49 GMT", "Sun, 06 Nov 2094 08:49:47 UTC",
        "Sun, 06 Nov 2094 08:49:47 PST", "Sun, 06 Nov 2094 08:49:47 +0000", "Sun, 06 Nov 2094 08:49:47",
        "Sun, 06 Nov 2094 08:49:47 gmt", "sun, 06 nov 2094 08:49:47 GMT", "Xxx, 06 Nov 2094 08:49:47 GMT",
        "06 Nov 2094 08:49:47 GMT", "Sun, 06 Nov 94 08:49:47 GMT", "Sun, 06-Nov-62 08:49:47 GMT",
        "Sunday, 06 Nov 2094 08:49:47 GMT", "Sun Nov 6 08:49:47 2094", "4000000000",
    ])
    func `an Expires that is no date has passed, RFC 9111 §5.3`(field: String) {
        #expect(lifetime(["Expires": field]) == 0)
    }

    @Test func `two Expires are none that can be read, RFC 9111 §4.2.1`() {
        #expect(lifetime(["Expires": Moment.date(500), "expires": Moment.date(600)]) == 0)
    }

    @Test func `every form of date is read, RFC 9110 §5.6.7`() {
        #expect(Freshness(fields: ["Expires": "Sunday, 06-Nov-94 08:49:47 GMT"], checked: 784_111_777).lifetime == 10)
        #expect(Freshness(fields: ["Expires": "Sun Nov  6 08:49:47 1994"], checked: 784_111_777).lifetime == 10)
        #expect(Freshness(fields: ["Expires": "Sun, 06 Nov 1994 08:49:47 GMT"], checked: 784_111_777).lifetime == 10)
        #expect(Freshness(fields: ["Expires": "Wed Nov 16 08:49:47 1994"], checked: 784_975_777).lifetime == 10)
    }

    @Test func `what is told to this cache alone has no Expires, RFC 9213 §2.2`() {
        let fields: HTTPFields = [
            "CDN-Cache-Control": "public", "Expires": Moment.date(500), "Cache-Control": "max-age=9",
        ]
        #expect(lifetime(fields) == 0)
    }

    @Test func `a status that is not said to be fresh is not guessed to be, unless it is public, RFC 9111 §4.2.2`() {
        let old: HTTPFields = ["Last-Modified": HTTPDate.format(0)]
        #expect(Freshness(fields: old, status: 404, checked: 500_000_000).lifetime == 86_400)
        #expect(Freshness(fields: old, status: 302, checked: 500_000_000).lifetime == 0)
        let isPublic: HTTPFields = ["Last-Modified": HTTPDate.format(0), "Cache-Control": "public"]
        #expect(Freshness(fields: isPublic, status: 302, checked: 500_000_000).lifetime == 86_400)
    }

    @Test func `max-age 0 is stale at once, RFC 9111 §4.2`() {
        let stored = Moment.stored(["Cache-Control": "max-age=0"])
        #expect(stored.lifetime == 0 && !stored.isFresh(now: Moment.now))
    }

    @Test func `without a word a tenth of the time it went unchanged, RFC 9111 §4.2.2`() {
        #expect(lifetime(["Last-Modified": Moment.date(-100_000), "Date": Moment.date(0)]) == 10_000)
    }

    @Test func `a guess is never longer than a day, RFC 9111 §4.2.2`() {
        #expect(Freshness(fields: ["Last-Modified": HTTPDate.format(0)], checked: 500_000_000).lifetime == 86_400)
    }

    @Test func `nothing is guessed from a date in the future, RFC 9111 §4.2.2`() {
        #expect(lifetime(["Last-Modified": Moment.date(50), "Date": Moment.date(0)]) == 0)
    }

    @Test func `nothing is guessed beside a time that is told, RFC 9111 §4.2.2`() {
        let modified = Moment.date(-100_000)
        #expect(lifetime(["Last-Modified": modified, "Cache-Control": "max-age=5"]) == 5)
        #expect(lifetime(["Last-Modified": modified, "Expires": "0"]) == 0)
        #expect(Moment.stored(["Last-Modified": modified]).explicitLifetime == nil)
    }

    @Test func `without a word and a date nothing is fresh, RFC 9111 §4.2.2`() { #expect(lifetime([:]) == 0) }

    @Test func `fresh until its lifetime is over, not a second longer, RFC 9111 §4.2`() {
        let stored = Moment.stored(["Cache-Control": "max-age=10", "Date": Moment.date(0)])
        #expect(stored.isFresh(now: Moment.now + 9) && !stored.isFresh(now: Moment.now + 10))
        #expect(stored.timeLeft(now: Moment.now + 4) == 6 && stored.timeLeft(now: Moment.now + 14) == -4)
    }

    @Test func `what came after now has an age that nobody knows`() {
        let stored = Moment.stored(["Cache-Control": "max-age=1000"])
        #expect(stored.isFresh(now: Moment.now - 60) && !stored.isFresh(now: Moment.now - 61))
    }

    @Test func `no-cache is never fresh, RFC 9111 §5.2.2.4`() {
        #expect(!Moment.stored(["Cache-Control": "no-cache, max-age=100"]).isFresh(now: Moment.now))
        #expect(Moment.stored(["Cache-Control": "no-cache=\"X\", max-age=100"]).isFresh(now: Moment.now))
    }

    @Test func `Pragma in an answer means nothing, RFC 9111 §5.4`() {
        #expect(Moment.stored(["Cache-Control": "max-age=100", "Pragma": "no-cache"]).isFresh(now: Moment.now))
        #expect(lifetime(["Pragma": "max-age=100"]) == 0)
    }

    @Test func `Warning means nothing, RFC 9111 §5.5`() {
        let fields: HTTPFields = ["Cache-Control": "max-age=100", "Warning": "110 - \"Response is Stale\""]
        #expect(Moment.stored(fields).isFresh(now: Moment.now))
    }

    @Test func `lifetimes past all reckoning do not overflow, RFC 9111 §1.2.2`() {
        let fields: HTTPFields = ["Cache-Control": "max-age=99999999999999999999", "Age": "9223372036854775807"]
        let stored = Freshness(fields: fields, checked: 0)
        #expect(!stored.isFresh(now: .max) && stored.age(now: 5) > 0)
        #expect(Freshness(fields: [:], checked: .max).age(now: .min) >= 0)
    }
}
