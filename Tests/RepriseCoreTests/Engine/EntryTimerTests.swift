import RepriseRanges
import Testing

@testable import RepriseCore

@Suite struct EntryTimerTests {
    @Test func `a timer runs for the earliest time that was set, and one that was overtaken is ignored`() {
        var timer = EntryTimer()
        let sets = [100, 200, 50, 50].map { timer.set(for: $0, now: 0) }
        #expect(sets == [true, false, true, false])
        let overtaken = timer.fired(100)
        let due = timer.fired(50)
        let again = timer.fired(50)
        #expect(!overtaken && due && !again)
        let next = timer.set(for: 200, now: 50)
        #expect(next)
    }

    @Test func `one that has not fired long after its time is not waited for`() {
        var timer = EntryTimer()
        let sets = [
            timer.set(for: 10 * second, now: 0), timer.set(for: 12 * second, now: 10 * second + 500 * millisecond),
            timer.set(for: 3605 * second, now: 3600 * second), timer.set(for: 3606 * second, now: 3600 * second),
        ]
        #expect(sets == [true, false, true, false])
        let late = timer.fired(10 * second)
        let due = timer.fired(3605 * second)
        #expect(!late && due)
    }

    @Test func `the disk is waited for since it was asked, or answered last`() {
        var reads = IndexReads()
        #expect(reads.isEmpty && reads.waitingSince(1) == nil)
        _ = reads.begin(ByteRange(0, 100), of: 1, now: 5)
        _ = reads.begin(ByteRange(100, 200), of: 1, now: 7)
        #expect(reads.waitingSince(1) == 5 && reads.waitingSince(2) == nil)
        reads.end(ByteRange(0, 100), of: 1, now: 20)
        #expect(reads.waitingSince(1) == 20)
        reads.end(ByteRange(100, 200), of: 1, now: 30)
        #expect(reads.isEmpty && reads.waitingSince(1) == nil)
        _ = reads.begin(ByteRange(0, 100), of: 1, now: 40)
        #expect(reads.waitingSince(1) == 40)
    }

    @Test func `what was verified is taken back by one call at a time, which is waited for like a read`() {
        var reads = IndexReads()
        let first = reads.beginWithdrawal(of: 1, now: 5)
        let second = reads.beginWithdrawal(of: 1, now: 6)
        #expect(first && !second && reads.isWithdrawing(1) && !reads.isWithdrawing(2) && !reads.isEmpty)
        #expect(reads.waitingSince(1) == 5)
        reads.end(ByteRange(0, 100), of: 1, now: 7)
        #expect(reads.isWithdrawing(1))
        reads.end(ByteRange(0, 0), of: 1, now: 8)
        #expect(!reads.isWithdrawing(1) && reads.isEmpty)
    }

    @Test func `what is being read is not read twice, a representation at a time`() {
        var reads = IndexReads()
        let first = reads.begin(ByteRange(0, 100), of: 1, now: 0)
        let second = reads.begin(ByteRange(50, 150), of: 1, now: 0)
        let other = reads.begin(ByteRange(0, 100), of: 2, now: 0)
        #expect(first == [ByteRange(0, 100)] && second == [ByteRange(100, 150)] && other == [ByteRange(0, 100)])
        #expect(reads.contains(ByteRange(20, 140), of: 1) && !reads.contains(ByteRange(20, 140), of: 2))
        reads.end(ByteRange(0, 50), of: 1, now: 0)
        #expect(!reads.contains(ByteRange(40, 60), of: 1))
        reads.drop(1)
        #expect(!reads.contains(ByteRange(100, 110), of: 1) && reads.contains(ByteRange(0, 100), of: 2))
    }

    @Test func `watchers are told once, and that the writing of one has ended`() {
        var watchers = StorageWatchers()
        watchers.add {}
        #expect(watchers.followsWriting)
        let began = watchers.writingChanged([1, 2])
        let goesOn = watchers.writingChanged([1, 2, 3])
        let ended = watchers.writingChanged([1, 3])
        #expect(!began && !goesOn && ended)
        #expect(watchers.take().count == 1 && watchers.take().isEmpty)
    }

    @Test func `work that was put aside comes back once the store does`() {
        var work = DeferredWork(isSuspended: false)
        work.add(.open)
        #expect(work.resume()?.count == 1, "put aside before it was told")
        let first = work.suspend()
        let again = work.suspend()
        work.add(.requestEviction)
        #expect(first && !again && work.isSuspended)
        #expect(work.resume()?.count == 1)
        #expect(!work.isSuspended && work.resume() == nil)
    }

    @Test func `what was written is synced an interval after its first byte`() {
        var schedule = SyncSchedule()
        #expect(!schedule.isDue(.max))
        schedule.wrote(now: 10, interval: 5)
        schedule.wrote(now: 14, interval: 5)
        #expect(schedule.due == 15 && !schedule.isDue(14) && schedule.isDue(15))
        schedule.done()
        #expect(schedule.due == nil)
    }
}
