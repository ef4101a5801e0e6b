import RepriseCore
import Testing

@Suite struct TransferTuningTests {
    @Test func `requests grow fourfold and after three run to the gap's end`() {
        let tuning = TransferTuning()
        let sizes = (0...5).map(tuning.requestSize)
        #expect(sizes == [256 << 10, 1 << 20, 4 << 20, .max, .max, .max])
    }
}
