import AVFoundation
import Testing

/// Times as fractions.
@Suite("The simulated time")
struct TimeTests {
    @Test func `equal moments are equal and hash alike, whatever their scale`() {
        #expect(CMTime(value: 1, timescale: 2) == CMTime(value: 300, timescale: 600))
        #expect(Set([CMTime(value: 1, timescale: 2), CMTime(value: 300, timescale: 600)]).count == 1)
        #expect(CMTime(value: 1, timescale: 3) < CMTime(value: 1, timescale: 2))
    }

    @Test func `everything is ordered: the infinities around the numbers, then indefinite, then invalid`() {
        let order: [CMTime] = [.negativeInfinity, .zero, .positiveInfinity, .indefinite, .invalid]
        #expect(order.shuffled().sorted() == order)
        #expect(CMTime.indefinite == .indefinite)
        #expect(CMTime.invalid.seconds.isNaN)
        #expect(!CMTime.indefinite.isNumeric)
    }

    @Test func `sums find a common scale, and what is not a number wins`() {
        #expect(CMTime(value: 1, timescale: 2) + CMTime(value: 1, timescale: 3) == CMTime(value: 5, timescale: 6))
        #expect(CMTime(value: 1, timescale: 2) - CMTime(value: 1, timescale: 3) == CMTime(value: 1, timescale: 6))
        #expect(CMTime.zero + .indefinite == .indefinite)
        #expect(CMTime.zero - .positiveInfinity == .negativeInfinity)
        #expect(CMTime.invalid + .zero == .invalid)
    }

    @Test func `seconds are cut to the scale and the cut is marked`() {
        let cut = CMTime(seconds: 3.5, preferredTimescale: 1)
        #expect(cut.value == 3)
        #expect(cut.hasBeenRounded)
        #expect(CMTime(seconds: 0.5, preferredTimescale: 600).value == 300)
        #expect(CMTime(seconds: .nan, preferredTimescale: 600) == .invalid)
        #expect(CMTime(seconds: .infinity, preferredTimescale: 600) == .positiveInfinity)
    }

    @Test func `a range holds its start and not its end`() {
        let range = CMTimeRange(start: CMTime(value: 2, timescale: 1), end: CMTime(value: 5, timescale: 1))
        #expect(range.duration.seconds == 3)
        #expect(range.containsTime(range.start))
        #expect(!range.containsTime(range.end))
        #expect(range.containsTimeRange(range))
        #expect(!CMTimeRange.invalid.isValid)
        #expect(CMTimeRange.zero.isEmpty)
    }
}
