import RepriseCore
import RepriseHTTP
import Testing

/// How old an answer is.
@Suite("The age of an answer")
struct AgeTests {
    private func age(_ fields: HTTPFields, after seconds: Int64 = 0) -> Int64 {
        Moment.stored(fields).age(now: Moment.now + seconds)
    }

    @Test func `is the time it has been here, RFC 9111 §4.2.3`() {
        #expect(age(["Date": Moment.date(0)], after: 7) == 7)
    }

    @Test func `counts what other caches took, RFC 9111 §4.2.3`() {
        #expect(age(["Date": Moment.date(0), "Age": "30"], after: 7) == 37)
    }

    @Test func `is at least the time since Date, RFC 9111 §4.2.3`() {
        #expect(age(["Date": Moment.date(-50), "Age": "30"]) == 50)
        #expect(age(["Date": Moment.date(-50), "Age": "80"]) == 80)
    }

    @Test func `is not negative where the origin's clock is ahead, RFC 9111 §4.2.3`() {
        #expect(age(["Date": Moment.date(90)], after: 1) == 1)
    }

    @Test func `is not negative where our clock was set back, RFC 9111 §4.2.3`() { #expect(age([:], after: -10) == 0) }

    @Test func `without Date counts from its arrival, RFC 9110 §6.6.1`() { #expect(age([:], after: 3) == 3) }

    @Test func `of what was invalidated counts from Date, where its arrival is not known any more, RFC 9111 §4.2.3`() {
        func invalidated(_ fields: HTTPFields) -> Freshness {
            Freshness(fields: fields, checked: Freshness.invalidated)
        }
        #expect(invalidated(["Date": Moment.date(-50)]).age(now: Moment.now) == 50)
        #expect(invalidated(["Date": Moment.date(-50), "Age": "80"]).age(now: Moment.now) == 80)
        #expect(invalidated(["Date": Moment.date(90)]).age(now: Moment.now) == 0)
        #expect(invalidated(["Age": "30"]).age(now: Moment.now) == 30)
        let young = invalidated(["Date": Moment.date(-50), "Cache-Control": "max-age=100"])
        #expect(young.timeLeft(now: Moment.now) == 0 && young.timeLeft(now: Moment.now + 70) == -20)
    }

    @Test func `an Age that is no number is passed over, RFC 9111 §5.1`() {
        #expect(age(["Age": "potato"], after: 2) == 2 && age(["Age": "-5"]) == 0 && age(["Age": "1.5"]) == 0)
        #expect(age(["Age": ""]) == 0)
    }

    @Test func `of a list of ages the first counts, RFC 9111 §5.1`() {
        #expect(age(["Age": "30, 40"]) == 30 && age(["Age": "30", "age": "40"]) == 30)
        #expect(age(["Age": "x, 40"]) == 0)
    }

    @Test func `an Age too large to hold is very long, RFC 9111 §1.2.2`() {
        #expect(age(["Age": "99999999999999999999"]) == 2_147_483_648)
    }
}
