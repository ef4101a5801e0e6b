import Foundation
import RepriseRanges
import Testing

@testable import RepriseAVFoundation

/// The list a player plays, and bytes as times.
@Suite struct PlayQueueTests {
    private func sources(_ count: Int) -> [PlaybackSource] {
        (0..<count).map { .url(URL(string: "https://a.test/\($0).mp3")!) }
    }

    @Test func `moving stays inside the list`() {
        var list = PlayQueue()
        #expect(list.current == nil)
        #expect(list.move(by: 1) == false)
        list.replace(with: sources(3), startingAt: 9)
        #expect(list.index == 2)
        #expect(!list.hasNext)
        #expect(list.move(by: 1) == false)
        #expect(list.move(by: -2) == true)
        #expect(list.index == 0)
        #expect(!list.hasPrevious)
        #expect(list.move(by: -1) == false)
    }

    @Test func `what comes next is bounded, and the same again when looping`() {
        var list = PlayQueue()
        list.replace(with: sources(3), startingAt: 1)
        #expect(list.ahead(5, isLooping: false).map(\.id) == [3])
        #expect(list.ahead(0, isLooping: false).isEmpty)
        #expect(list.ahead(0, isLooping: true).map(\.id) == [2])
        list.append(sources(2))
        #expect(list.ahead(2, isLooping: false).map(\.id) == [3, 4])
    }

    @Test func `the same source twice is two entries`() {
        var list = PlayQueue()
        list.append([sources(1)[0], sources(1)[0]])
        #expect(list.index == 0)
        list.move(to: list.entries[1].id)
        #expect(list.index == 1)
    }

    @Test func `near are the one before, the current one, and those to come`() {
        var list = PlayQueue()
        list.replace(with: sources(6), startingAt: 2)
        let near = list.entries.map { list.isNear($0.id, ahead: 2) }
        #expect(near == [false, true, true, true, true, false])
        #expect(!list.isNear(99, ahead: 2))
    }

    @Test func `stored bytes are times in proportion`() {
        let set = ByteRangeSet([ByteRange(0, 250), ByteRange(500, 1000)])
        #expect(StoredTimes.ranges(of: set, length: 1000, duration: 8) == [0..<2, 4..<8])
        #expect(StoredTimes.ranges(of: set, length: 700, duration: 7) == [0..<2.5, 5..<7])
        #expect(StoredTimes.ranges(of: set, length: nil, duration: 8).isEmpty)
        #expect(StoredTimes.ranges(of: set, length: 0, duration: 8).isEmpty)
        #expect(StoredTimes.ranges(of: set, length: 1000, duration: nil).isEmpty)
        #expect(StoredTimes.ranges(of: set, length: 1000, duration: .infinity).isEmpty)
        #expect(StoredTimes.ranges(of: ByteRangeSet(), length: 1000, duration: 8).isEmpty)
    }

    @Test func `all bytes are the whole duration exactly`() {
        for length: Int64 in [1, 3, 7, 61_574_237] {
            let set = ByteRangeSet(ByteRange(0, length))
            #expect(StoredTimes.ranges(of: set, length: length, duration: 212.34) == [0..<212.34])
        }
    }
}
