import RepriseCore
import RepriseHTTP
import Testing

/// RFC 9111's arithmetic, clause by clause. `now` is 1,000,000 unless said otherwise.
@Suite struct FreshnessTests {
    static let now: Int64 = 1_000_000
    static func date(_ offset: Int64) -> String { HTTPDate.format(now + offset) }

    @Test func `s-maxage wins over max-age and that over Expires, section 4 2 1`() {
        let cases: [(HTTPFields, Int64)] = [
            (["Cache-Control": "max-age=10, s-maxage=20", "Expires": Self.date(500), "Date": Self.date(0)], 20),
            (["Cache-Control": "max-age=10", "Expires": Self.date(500), "Date": Self.date(0)], 10),
            (["Expires": Self.date(500), "Date": Self.date(100)], 400),
            (["Expires": Self.date(500)], 500),
            (["Expires": Self.date(-500), "Date": Self.date(0)], 0),
            (["Expires": "0"], 0),
            (["Expires": "never"], 0),
            (["Cache-Control": "max-age=0"], 0),
            (["Cache-Control": "max-age=potato"], 0),
            (["Cache-Control": "s-maxage=0, max-age=100"], 0),
            ([:], 0),
        ]
        for (fields, lifetime) in cases {
            #expect(Freshness(fields: fields, checked: Self.now).lifetime == lifetime, "\(fields)")
        }
    }

    @Test func `without a word a tenth of its age, at most a day, section 4 2 2`() {
        let week: HTTPFields = ["Last-Modified": Self.date(-100_000), "Date": Self.date(0)]
        #expect(Freshness(fields: week, checked: Self.now).lifetime == 10_000)
        let old: HTTPFields = ["Last-Modified": HTTPDate.format(0)]
        #expect(Freshness(fields: old, checked: 500_000_000).lifetime == 86_400)
        let future: HTTPFields = ["Last-Modified": Self.date(50), "Date": Self.date(0)]
        #expect(Freshness(fields: future, checked: Self.now).lifetime == 0)
    }

    @Test func `age counts what other caches and the way here took, section 4 2 3`() {
        let plain = Freshness(fields: ["Date": Self.date(0)], checked: Self.now)
        #expect(plain.age(now: Self.now + 7) == 7)
        let aged = Freshness(fields: ["Date": Self.date(0), "Age": "30"], checked: Self.now)
        #expect(aged.age(now: Self.now + 7) == 37)
        let late = Freshness(fields: ["Date": Self.date(-50), "Age": "30"], checked: Self.now)
        #expect(late.age(now: Self.now) == 50)
        let ahead = Freshness(fields: ["Date": Self.date(90)], checked: Self.now)
        #expect(ahead.age(now: Self.now + 1) == 1)
        #expect(Freshness(fields: ["Age": "potato"], checked: Self.now).age(now: Self.now + 2) == 2)
        #expect(Freshness(fields: [:], checked: Self.now).age(now: Self.now - 10) == 0, "a clock set back")
    }

    @Test func `fresh until its lifetime is over, not a second longer`() {
        let freshness = Freshness(fields: ["Cache-Control": "max-age=10", "Date": Self.date(0)], checked: Self.now)
        #expect(freshness.isFresh(now: Self.now + 9))
        #expect(!freshness.isFresh(now: Self.now + 10))
    }

    @Test func `no-cache is never fresh`() {
        let freshness = Freshness(fields: ["Cache-Control": "no-cache, max-age=100"], checked: Self.now)
        #expect(!freshness.isFresh(now: Self.now))
    }

    @Test func `lifetimes past all reckoning do not overflow`() {
        let fields: HTTPFields = ["Cache-Control": "max-age=99999999999999999999", "Age": "9223372036854775807"]
        let freshness = Freshness(fields: fields, checked: 0)
        #expect(!freshness.isFresh(now: .max))
        #expect(freshness.age(now: 5) > 0)
    }

    @Test(
        arguments: [
            ("", true), ("max-age=5", true), ("must-revalidate", false), ("proxy-revalidate", false),
            ("no-cache", false),
            ("s-maxage=5", false),
        ])
    func `a stale answer may stand in unless the origin forbids it, section 4 2 4`(control: String, allowed: Bool) {
        #expect(Freshness(fields: ["Cache-Control": control], checked: 0).mayServeStale == allowed)
    }

    struct Share: Sendable, CustomStringConvertible {
        var answer: HTTPFields = [:]
        var request: HTTPFields = [:]
        var status = 200
        var isShareable: Bool
        var description: String { "\(status) \(answer.lines.map(\.value)) \(request.lines.map(\.name))" }
    }

    @Test(
        arguments: [
            Share(isShareable: true),
            Share(status: 206, isShareable: true),
            Share(status: 203, isShareable: true),
            Share(status: 404, isShareable: false),
            Share(status: 500, isShareable: false),
            Share(answer: ["Cache-Control": "no-store"], isShareable: false),
            Share(answer: ["Cache-Control": "max-age=9, NO-STORE"], isShareable: false),
            Share(answer: ["Cache-Control": "private"], isShareable: false),
            Share(answer: ["Cache-Control": "private=\"X-User\", max-age=9"], isShareable: false),
            Share(answer: ["Cache-Control": "no-cache"], isShareable: true),
            Share(answer: ["Set-Cookie": "a=b"], isShareable: false),
            Share(answer: ["Set-Cookie": "a=b", "Cache-Control": "public"], isShareable: false),
            Share(answer: ["Vary": "*"], isShareable: false),
            Share(answer: ["Vary": "Accept, *"], isShareable: false),
            Share(request: ["Cache-Control": "no-store"], isShareable: false),
            Share(request: ["Authorization": "x"], isShareable: false),
            Share(answer: ["Cache-Control": "max-age=9"], request: ["Authorization": "x"], isShareable: false),
            Share(answer: ["Cache-Control": "public"], request: ["Authorization": "x"], isShareable: true),
            Share(answer: ["Cache-Control": "s-maxage=9"], request: ["Authorization": "x"], isShareable: true),
            Share(answer: ["Cache-Control": "must-revalidate"], request: ["authorization": "x"], isShareable: true),
            Share(answer: ["Cache-Control": "private, public"], request: ["Authorization": "x"], isShareable: false),
            Share(request: ["Cookie": "a=b"], isShareable: false),
            Share(answer: ["Cache-Control": "s-maxage=9"], request: ["Cookie": "a=b"], isShareable: false),
            Share(answer: ["Cache-Control": "public"], request: ["Cookie": "a=b"], isShareable: true),
        ])
    func `what one user was answered is shared only where the origin says so, inv29`(share: Share) {
        let answer = Freshness.isShareable(status: share.status, fields: share.answer, request: share.request)
        #expect(answer == share.isShareable)
    }
}
