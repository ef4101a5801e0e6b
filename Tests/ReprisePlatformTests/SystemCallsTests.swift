import ReprisePlatform
import RepriseTesting
import Testing

@Suite struct SystemCallsTests {
    @Test func `more descriptors can be had, and asking again changes nothing`() {
        let count = SystemCalls.raiseDescriptorLimit()
        #expect(count >= 256)
        #expect(SystemCalls.raiseDescriptorLimit() == count)
    }

    #if canImport(Glibc)
        @Test func `memory that was freed between what is still used is given back`() throws {
            guard ProcessUsage.ownMemory != nil else {
                return print("not looked at: a sanitizer has an allocator of its own")
            }
            // Each too small to be mapped alone, and all but every hundredth let go.
            var pieces = (0..<8000).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 16 * 1024) }
            let before = try #require(ProcessUsage.ownMemory)
            for index in pieces.indices where index % 100 != 99 { pieces[index] = [] }
            SystemCalls.returnFreeMemory()
            let after = try #require(ProcessUsage.ownMemory)
            #expect(after < before - 64 << 20, "\(before >> 20) and then \(after >> 20) MiB")
            withExtendedLifetime(pieces) {}
        }
    #endif
}
