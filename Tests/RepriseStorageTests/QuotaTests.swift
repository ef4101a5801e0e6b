import ReprisePlatform
import RepriseStorage
import Testing

@Suite struct QuotaTests {
    @Test func `inv21 before what is there was counted no more is stored than a margin`() {
        var quota = Quota(limits: .init(bytes: 1000))
        quota.stored(99)
        #expect(quota.hasSpace && !quota.isDue)
        quota.stored(1)
        #expect(!quota.hasSpace && quota.isDue && quota.refusal.contains("counted"))
        quota.counted(500, since: quota.storedInAll)
        #expect(quota.hasSpace && !quota.isDue && quota.used == 500)
        var unlimited = Quota(limits: .init())
        unlimited.stored(1 << 40)
        #expect(unlimited.hasSpace && !unlimited.isDue)
    }

    @Test func `what was noted of a store holds until it is counted, inv21`() {
        var quota = Quota(limits: .init(bytes: 1000))
        quota.stored(50)
        #expect(quota.known == nil)
        quota.noted(500)
        #expect(quota.known == 550 && quota.hasSpace && !quota.needsCount)
        quota.noted(700)
        #expect(quota.used == 550, "once")
        quota.counted(400, since: 50)
        #expect(quota.known == 400)
        quota.noted(700)
        #expect(quota.known == 400)
    }

    @Test func `a sweep begins at high water and goes down to low water`() {
        var quota = Quota(limits: .init(bytes: 1000))
        quota.counted(900, since: quota.storedInAll)
        #expect(quota.excess.isNone && quota.hasSpace && !quota.isDue)
        quota.stored(1)
        #expect(quota.excess.bytes == 101 && quota.isDue && quota.hasSpace)
        quota.freed(101)
        #expect(quota.used == 800 && quota.excess.isNone)
    }

    @Test func `nothing more is stored at capacity, inv21`() {
        var quota = Quota(limits: .init(bytes: 1000))
        quota.counted(999, since: quota.storedInAll)
        #expect(quota.hasSpace)
        quota.stored(1)
        #expect(!quota.hasSpace)
        quota.limits.bytes = nil
        #expect(quota.hasSpace && quota.excess.isNone)
    }

    @Test func `the volume's free space bounds it, whoever took the rest, inv21`() {
        var quota = Quota(limits: .init(bytes: 1 << 40, freeSpace: 1000))
        quota.counted(5000, since: quota.storedInAll)
        quota.looked(VolumeSpace(free: 1500, total: 100_000, freeFiles: nil))
        #expect(quota.capacity == 5500 && quota.hasSpace)
        // Somebody else fills it.
        quota.looked(VolumeSpace(free: 400, total: 100_000, freeFiles: nil))
        #expect(quota.capacity == 4400 && !quota.hasSpace)
        #expect(quota.excess.bytes == 5000 - (4400 - 880))
        // Counting anew tells nothing of the volume.
        quota.counted(4000, since: quota.storedInAll)
        #expect(quota.capacity == 3400)
        // A small volume is not left empty for the sake of a floor that is meant for large ones.
        quota.looked(VolumeSpace(free: 400, total: 2000, freeFiles: nil))
        #expect(quota.capacity == 4200)
    }

    @Test func `files run out before bytes do`() {
        var quota = Quota(limits: .init(freeFiles: 10))
        quota.looked(VolumeSpace(free: 1 << 40, total: 1 << 41, freeFiles: 3))
        #expect(!quota.hasSpace && quota.excess == .init(bytes: 0, files: 7))
        quota.freed(100, files: Quota.filesPerEntry)
        #expect(quota.excess.files == 3)
        quota.looked(VolumeSpace(free: 1 << 40, total: 1 << 41, freeFiles: nil))
        #expect(quota.hasSpace)
    }

    @Test func `the volume is asked again after so many bytes, where it matters`() {
        var quota = Quota(limits: .init(freeSpace: 1))
        quota.looked(VolumeSpace(free: 1 << 40, total: 1 << 41, freeFiles: nil))
        quota.stored(Quota.lookInterval - 1)
        #expect(!quota.isDue)
        quota.stored(1)
        #expect(quota.isDue)
        quota.limits = .none
        #expect(!quota.isDue)
    }

    @Test(arguments: [
        StoreLimits(bytes: 0), StoreLimits(bytes: -1), StoreLimits(age: .zero), StoreLimits(freeSpace: 0),
        StoreLimits(freeFiles: 0),
    ])
    func `a limit of nothing is refused`(limits: StoreLimits) {
        #expect(limits.problem != nil)
        #expect(
            StoreLimits.none.problem == nil && StoreLimits.device.problem == nil && StoreLimits.server.problem == nil)
    }

    static let day: Int64 = 86_400

    @Test func `a burst of things looked at once goes before what is played daily, bug15`() {
        let now = 1000 * Self.day
        let daily = (0..<5).map {
            StoredUse(name: "daily\($0)", lastUse: now - Self.day, logUseCount: 5, allocated: 10)
        }
        let old = StoredUse(name: "old", lastUse: now - 60 * Self.day, logUseCount: 1, allocated: 10)
        let burst = (0..<5).map { StoredUse(name: "burst\($0)", lastUse: now - Int64($0), allocated: 10) }
        let order = LeastRecentlyUsed().order((burst + daily + [old]).shuffled(), now: now).map(\.name)
        #expect(order.first == "old")
        #expect(order.dropFirst().prefix(5).allSatisfy { $0.hasPrefix("burst") })
        #expect(order.suffix(5).allSatisfy { $0.hasPrefix("daily") })
    }

    @Test func `by frequency the rarely used goes first, the longest unused among equals`() {
        let uses = [
            StoredUse(name: "often", lastUse: 1, logUseCount: 4, allocated: 1),
            StoredUse(name: "once, later", lastUse: 9, allocated: 1),
            StoredUse(name: "once, earlier", lastUse: 5, allocated: 1),
        ]
        #expect(
            LeastFrequentlyUsed().order(uses, now: 10).map(\.name) == ["once, earlier", "once, later", "often"])
    }

    @Test func `the too old go first, pinned ones never, bug15`() {
        let now = 100 * Self.day
        let uses = [
            StoredUse(name: "new", lastUse: now - 1, allocated: 1),
            StoredUse(name: "old", lastUse: now - 91 * Self.day, allocated: 1),
            StoredUse(name: "old, pinned", lastUse: 0, isPinned: true, allocated: 1),
            StoredUse(name: "just in time", lastUse: now - 90 * Self.day, allocated: 1),
        ]
        let plan = EvictionPlan(uses, age: .days(90), policy: LeastRecentlyUsed(), now: now)
        #expect(plan.expired.map(\.name) == ["old"])
        #expect(Set(plan.order.map(\.name)) == ["new", "just in time"])
    }

    @Test func `inv21 what is stored while all is counted is not forgotten with the count`() {
        var quota = Quota(limits: StoreLimits(bytes: 10_000))
        let begun = quota.storedInAll
        quota.stored(700)
        quota.counted(2000, since: begun)
        #expect(quota.used == 2700)
    }
}
