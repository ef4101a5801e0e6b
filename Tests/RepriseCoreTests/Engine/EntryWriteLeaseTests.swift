import Dispatch
import ReprisePlatform
import RepriseStorage
import Testing

@testable import RepriseCore

@Suite struct EntryWriteLeaseTests {
    @Test func `work of an entry that was removed names no files`() throws {
        let lease = EntryWriteLease()
        #expect(try lease.use { 1 } == 1)
        lease.end()
        #expect(throws: StoreError.self) { try lease.use { 2 } }
        #expect(throws: StoreError.self) { try lease.check() }
        try lease.end { Issue.record("it has ended already") }
    }

    @Test func `the last work ends it where it succeeds`() throws {
        let lease = EntryWriteLease()
        #expect(throws: StoreError.self) {
            try lease.end { () throws(StoreError) in throw StoreError(.unavailable, "the disk is full") }
        }
        try lease.check()
        try lease.end {}
        #expect(throws: StoreError.self) { try lease.check() }
    }

    @Test func `ending waits for nothing, its successor for what is under way`() throws {
        let lease = EntryWriteLease()
        let (begun, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let order = Recorder<String>()
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            _ = try? lease.use {
                begun.signal()
                goesOn.wait()
                order.add("named")
            }
        }
        begun.wait()
        lease.end()
        order.add("ended")
        let asked = DispatchSemaphore(value: 0)
        DispatchQueue.global().async(group: group) {
            asked.signal()
            let successor = EntryWriteLease(after: [lease])
            _ = try? successor.use { order.add("its successor named") }
        }
        asked.wait()
        goesOn.signal()
        group.wait()
        #expect(order.all == ["ended", "named", "its successor named"])
    }
}
