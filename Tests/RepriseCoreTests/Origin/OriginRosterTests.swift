import RepriseCore
import Testing

/// Which of several origins is asked, and how long one that failed is left alone.
@Suite struct OriginRosterTests {
    private let start: Int64 = 100 * second

    @Test func `all are asked as they are preferred while all are well`() {
        var roster = OriginRoster(count: 3)
        #expect(roster.order(now: start) == [0, 1, 2])
        roster.note(.answered, of: 0, now: start)
        #expect(roster.order(now: start) == [0, 1, 2])
    }

    @Test func `one that cannot be reached is left alone, then asked by one request, each time twice as long`() {
        var roster = OriginRoster(count: 2)
        var now = start
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            #expect(roster.order(now: now) == [0, 1])
            roster.note(.unreachable, of: 0, now: now)
            #expect(roster.order(now: now + pause * second - 1) == [1])
            now += pause * second
        }
        #expect(roster.order(now: now) == [0, 1])
        // While one request finds out, others do not wait for it.
        #expect(roster.order(now: now + second) == [1])
        roster.note(.answered, of: 0, now: now + second)
        #expect(roster.order(now: now + second) == [0, 1])
        roster.note(.unreachable, of: 0, now: now + second)
        #expect(!roster.isHeldOff(0, now: now + 2 * second), "a good answer forgives")
    }

    @Test func `requests that were under way together fail as one`() {
        var roster = OriginRoster(count: 2)
        for _ in 0..<20 { roster.note(.unreachable, of: 0, now: start) }
        #expect(roster.order(now: start + second) == [0, 1])
    }

    @Test func `a trial that nobody reports of ends, and another follows`() {
        var roster = OriginRoster(count: 2)
        roster.note(.unreachable, of: 0, now: start)
        #expect(roster.order(now: start + second) == [0, 1])
        #expect(roster.order(now: start + 2 * second - 1) == [1])
        #expect(roster.order(now: start + 2 * second) == [0, 1])
    }

    @Test func `answers of trouble count when they come in a row`() {
        var roster = OriginRoster(count: 2)
        for outcome in [.troubled, .troubled, .answered, .troubled, .troubled] as [OriginRoster.Outcome] {
            roster.note(outcome, of: 0, now: start)
            #expect(!roster.isHeldOff(0, now: start))
        }
        roster.note(.troubled, of: 0, now: start)
        #expect(roster.isHeldOff(0, now: start))
        #expect(roster.order(now: start) == [1])
    }

    @Test func `where none is well all are asked, the one left alone longest first`() {
        var roster = OriginRoster(count: 3)
        for index in [1, 0, 2] { roster.note(.unreachable, of: index, now: start + Int64(index == 1 ? 0 : index + 1)) }
        #expect(roster.order(now: start + 10) == [1, 0, 2])
    }

    @Test(arguments: [(500, true), (502, true), (503, true), (504, true), (522, true), (501, false), (505, false)])
    func `a status of 5xx is trouble unless it is about the request`(status: Int, isTrouble: Bool) {
        #expect(OriginRoster.isTrouble(status) == isTrouble)
    }

    @Test(arguments: [200, 206, 304, 401, 403, 404, 410, 416, 429]) func `others are answers`(status: Int) {
        #expect(!OriginRoster.isTrouble(status))
    }
}
