import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// What is told of where a reader's bytes came from.
@Suite struct HitAccountingTests {
    @Test func `the first bytes decide between hit and miss, once`() {
        var stored = HitAccounting()
        #expect(stored.begins(isStored: true) == .hit)
        #expect(stored.begins(isStored: false) == nil)
        var fresh = HitAccounting()
        #expect(fresh.begins(isStored: false) == .miss)
        // Written meanwhile, but the origin had to send it.
        var awaited = HitAccounting()
        awaited.lacksFirstByte()
        #expect(awaited.begins(isStored: true) == .miss)
    }

    @Test func `a fetch makes a hit partial, once, whether it began before the first bytes or later`() {
        var early = HitAccounting()
        early.fetches()
        #expect(early.takePartial() == false)
        #expect(early.begins(isStored: true) == .hit)
        #expect(early.takePartial() == true)
        #expect(early.takePartial() == false)
        var late = HitAccounting()
        #expect(late.begins(isStored: true) == .hit)
        #expect(late.takePartial() == false)
        late.fetches()
        #expect(late.takePartial() == true)
        #expect(late.takePartial() == false)
    }

    @Test func `a miss is never partial`() {
        var miss = HitAccounting()
        miss.lacksFirstByte()
        miss.fetches()
        #expect(miss.begins(isStored: false) == .miss)
        #expect(miss.takePartial() == false)
    }

    // MARK: In a cache

    /// What was told of readers since the last look.
    private func told(_ recorder: Recorder<CacheEvent>) -> [CacheEvent] {
        recorder.all.filter {
            switch $0 {
            case .hit, .partial, .miss: true
            default: false
            }
        }
    }

    @Test func `nothing stored is a miss, all of it a hit, its beginning a hit that turns partial, inv13`() throws {
        let world = try World()
        world.put("/a.mp3", length: 2_000_000)
        let recorder = Recorder<CacheEvent>()
        let subscription = world.cache.onEvent { recorder.add($0) }
        let key = "http://origin.test/a.mp3"
        world.play("/a.mp3", ByteRange(0, 300_000)).expectWhole(300_000)
        #expect(told(recorder) == [.miss(key: key)])
        try world.restart()
        let again = Recorder<CacheEvent>()
        let second = world.cache.onEvent { again.add($0) }
        world.play("/a.mp3", ByteRange(0, 200_000)).expectWhole(200_000)
        #expect(told(again) == [.hit(key: key)])
        world.play("/a.mp3").expectWhole(2_000_000)
        #expect(told(again) == [.hit(key: key), .hit(key: key), .partial(key: key)])
        world.play("/a.mp3").expectWhole(2_000_000)
        world.play("/a.mp3", ByteRange(1_900_000, 2_000_000)).expectWhole(2_000_000, from: 1_900_000)
        #expect(told(again).suffix(2) == [.hit(key: key), .hit(key: key)])
        let sums = world.cache.statistics
        #expect(sums.hits == 4 && sums.partials == 1 && sums.misses == 0 && sums.readers == 4)
        withExtendedLifetime((subscription, second)) {}
    }

    @Test func `a hole that is met far behind the beginning is told when it is met`() throws {
        let world = try World()
        world.put("/a.mp3", length: 4_000_000)
        world.play("/a.mp3", ByteRange(0, 2_000_000)).expectWhole(2_000_000)
        let recorder = Recorder<CacheEvent>()
        let subscription = world.cache.onEvent { recorder.add($0) }
        let player = world.player("/a.mp3", .from(0))
        player.play(to: 500_000)
        #expect(told(recorder) == [.hit(key: "http://origin.test/a.mp3")])
        player.play(to: 2_500_000)
        #expect(told(recorder).last == .partial(key: "http://origin.test/a.mp3"))
        player.finish()
        #expect(told(recorder).count == 2)
        withExtendedLifetime(subscription) {}
    }
}
