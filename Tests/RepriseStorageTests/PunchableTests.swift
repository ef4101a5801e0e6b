import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// What may be punched is copied on its way out; what went to the kernel is not punched.
@Suite struct PunchableTests {
    private func makeGeneration(_ directory: TemporaryDirectory) throws -> Generation {
        let store = try Store(root: directory.path + "/store", volume: DiskVolume())
        let info = EntryInfo(
            key: "key", url: "http://a/b", generation: 0, identity: 1, fileExtension: "mp3", validator: .init(),
            length: 100_000, servesRanges: true, fields: [:], checked: 0)
        let entry = try store.stage(info)
        try FillWriter(generation: entry.generation).write([[UInt8](repeating: 7, count: 100_000)[...]], at: 0)
        return entry.generation
    }

    @Test func `bytes of a trimmed generation are copied, not handed over by descriptor, inv27`() throws {
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let generation = try makeGeneration(directory)
        generation.makePunchable()
        #expect(generation.isPunchable)
        let lease = try #require(generation.lease(ByteRange(0, 100_000)))
        #expect(lease.descriptor == nil)
        #expect(try lease.read().count == 100_000)
    }

    @Test func `a generation whose bytes the kernel has is not trimmed in this open, inv27`() throws {
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let generation = try makeGeneration(directory)
        let lease = try #require(generation.lease(ByteRange(0, 100_000)))
        #expect(lease.descriptor != nil)
        generation.makePunchable()
        #expect(!generation.isPunchable)
        #expect(lease.descriptor != nil)
    }
}
