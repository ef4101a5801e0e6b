import RepriseCore
import ReprisePlatform
import Testing

@Suite struct HostBookTests {
    private let host = "http://a"

    @Test func `a host has so many places and no more`() {
        let book = HostBook(limit: 2)
        #expect(book.enter(host) {})
        #expect(book.enter(host) {})
        #expect(!book.enter(host) {})
        #expect(book.enter("http://b") {})
        #expect(book.active(host) == 2)
    }

    @Test func `who found no place is told once when one is free, and may enter from there`() {
        let book = HostBook(limit: 1)
        let told = Lock(0)
        let host = host
        #expect(book.enter(host) {})
        let isRefused = !book.enter(host) {
            let entered = book.enter(host) {}
            told.withLock { $0 += entered ? 1 : 100 }
        }
        #expect(isRefused)
        book.leave(host)
        #expect(told.withLock { $0 } == 1)
        #expect(book.active(host) == 1)
        book.leave(host)
        #expect(told.withLock { $0 } == 1)
        #expect(book.active(host) == 0)
    }

    @Test func `measures are smoothed, the first counts whole`() {
        let book = HostBook(limit: 1)
        #expect(book.measure(of: host) == HostBook.Measure())
        book.note(firstByte: 1000, of: host)
        #expect(book.measure(of: host).firstByte == 1000)
        book.note(firstByte: 2000, of: host)
        #expect(book.measure(of: host).firstByte == 1250)
        book.note(rate: 100, of: host)
        book.note(rate: 500, of: host)
        #expect(book.measure(of: host).rate == 200)
        #expect(book.measure(of: "http://b") == HostBook.Measure())
    }

    @Test func `a host is distrusted for a day, bug31`() {
        let book = HostBook(limit: 1)
        #expect(book.trustsEntityTags(of: host, now: 50))
        book.distrustEntityTags(of: host, now: 50)
        #expect(!book.trustsEntityTags(of: host, now: 50 + 86_399))
        #expect(book.trustsEntityTags(of: host, now: 50 + 86_400))
        #expect(book.trustsEntityTags(of: "http://b", now: 50))
    }
}
