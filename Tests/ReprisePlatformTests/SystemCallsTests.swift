import ReprisePlatform
import Testing

@Suite struct SystemCallsTests {
    @Test func `more descriptors can be had, and asking again changes nothing`() {
        let count = SystemCalls.raiseDescriptorLimit()
        #expect(count >= 256)
        #expect(SystemCalls.raiseDescriptorLimit() == count)
    }
}
