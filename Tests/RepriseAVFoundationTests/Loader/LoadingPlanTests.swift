import Testing

@testable import RepriseAVFoundation

/// How fast requests are answered, and which of several to-end requests.
@Suite struct LoadingPlanTests {
    private let second: Int64 = 1_000_000_000

    private func give(_ plan: inout LoadingPlan, _ id: Int, bytes: Int64, now: Int64 = 0) {
        var left = bytes
        while left > 0 {
            let count = Int(min(left, Int64(LoadingPlan.chunk)))
            plan.gave(id, count, now: now)
            left -= Int64(count)
        }
    }

    @Test func `a request gets its burst at once and the rest at the rate`() {
        var plan = LoadingPlan()
        let id = plan.add(.init(offset: 0, end: nil))
        give(&plan, id, bytes: LoadingPlan.burst - 1)
        #expect(plan.allowance(id, now: 0) == .bytes(LoadingPlan.chunk))
        give(&plan, id, bytes: 1 + LoadingPlan.rate)
        #expect(plan.allowance(id, now: 0) == .after(second))
        #expect(plan.allowance(id, now: second / 4) == .after(second - second / 4))
        #expect(plan.allowance(id, now: second) == .bytes(LoadingPlan.chunk))
    }

    @Test func `time in which nothing came is no credit`() {
        var plan = LoadingPlan()
        let id = plan.add(.init(offset: 0, end: nil))
        give(&plan, id, bytes: LoadingPlan.burst)
        give(&plan, id, bytes: LoadingPlan.rate, now: 60 * second)
        #expect(plan.allowance(id, now: 60 * second) == .after(second))
    }

    @Test func `three gigabytes on disk take minutes, and no arithmetic overflows`() {
        var plan = LoadingPlan()
        let id = plan.add(.init(offset: 0, end: nil))
        give(&plan, id, bytes: LoadingPlan.burst)
        plan.gave(id, 3_008_417_572, now: 0)
        guard case .after(let wait) = plan.allowance(id, now: 0) else { return #expect(Bool(false)) }
        #expect(wait > 100 * second && wait < 150 * second)
        plan.gave(id, 1 << 50, now: 0)
        guard case .after = plan.allowance(id, now: 0) else { return #expect(Bool(false)) }
    }

    @Test func `a newer to-end request takes the older one's place after its grace, and gives it back, bug12`() {
        var plan = LoadingPlan()
        let old = plan.add(.init(offset: 0, end: nil))
        give(&plan, old, bytes: 512 * 1024)
        let new = plan.add(.init(offset: 1 << 24, end: nil))
        #expect(!plan.isHeld(old))
        give(&plan, old, bytes: LoadingPlan.grace)
        #expect(plan.isHeld(old) && plan.allowance(old, now: 0) == .held)
        #expect(!plan.isHeld(new))
        #expect(plan.remove(new) == [old])
        #expect(!plan.isHeld(old))
    }

    @Test func `identical to-end requests join: none is held`() {
        var plan = LoadingPlan()
        let ids = (0..<3).map { _ in plan.add(.init(offset: 65_536, end: nil)) }
        for id in ids { give(&plan, id, bytes: 4 << 20) }
        #expect(ids.allSatisfy { !plan.isHeld($0) })
    }

    @Test func `small reads beside a to-end request are never held`() {
        var plan = LoadingPlan()
        let small = plan.add(.init(offset: 4_849_664, end: 4_915_200))
        _ = plan.add(.init(offset: 30_129_037, end: nil))
        give(&plan, small, bytes: 65_536)
        #expect(!plan.isHeld(small))
        #expect(plan.allowance(small, now: 0) == .bytes(LoadingPlan.chunk))
    }

    @Test func `a request that was removed is answered with nothing`() {
        var plan = LoadingPlan()
        let id = plan.add(.init(offset: 0, end: nil))
        #expect(plan.remove(id).isEmpty)
        #expect(plan.allowance(id, now: 0) == .held)
        plan.gave(id, 1, now: 0)
        #expect(plan.remove(id).isEmpty)
    }
}
