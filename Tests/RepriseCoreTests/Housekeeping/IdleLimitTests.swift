import Testing

@testable import RepriseCore

@Suite struct IdleLimitTests {
    /// At which of these counts of open resources somebody looks.
    private func looks(_ limit: inout IdleLimit, _ counts: [Int]) -> [Int] {
        counts.filter { limit.beginsLook(at: $0) }
    }

    @Test func `nobody looks while few are open, and then one at a time`() {
        var limit = IdleLimit(most: 100)
        #expect(looks(&limit, [1, 99, 100, 101, 150]) == [101])
        let surplus = limit.looked(idle: 101, of: 101)
        #expect(surplus == 26)
        #expect(looks(&limit, [76, 100, 101]) == [101])
    }

    @Test func `where most are read nothing is closed, and it is not looked at each new one`() {
        var limit = IdleLimit(most: 100)
        #expect(looks(&limit, [5000]) == [5000])
        let surplus = limit.looked(idle: 100, of: 5000)
        #expect(surplus == 0)
        #expect(looks(&limit, [5001, 5025, 5026]) == [5026])
    }
}
