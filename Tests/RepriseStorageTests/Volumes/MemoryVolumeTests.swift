import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

struct MemoryVolumeTests {
    private func allocated(_ volume: MemoryVolume) throws -> Int64 {
        let space = try volume.space("/")
        #expect(space.total == volume.capacity)
        return space.total - space.free
    }

    @Test func `takes no more than its capacity, and says that it is full`() throws {
        let volume = MemoryVolume(capacity: 100_000)
        let file = try volume.open("/a", .create)
        try file.write([UInt8](repeating: 1, count: 90_000), at: 0)
        #expect(try allocated(volume) == 90_112, "22 pages")
        #expect(throws: FileError.self) { try file.write([UInt8](repeating: 2, count: 30_000), at: 80_000) }
        do throws(FileError) { try file.write([UInt8](repeating: 2, count: 30_000), at: 80_000) } catch {
            #expect(error.kind == .full && "\(error)" == "write /a: the memory set aside for it is taken")
        }
        #expect(try file.status().size == 98_304, "as on a disk, what fits is written")
        var bytes: [UInt8] = []
        try file.read(at: 79_999, count: 9, into: &bytes)
        #expect(bytes == [1] + [UInt8](repeating: 2, count: 8))
        try file.write([UInt8](repeating: 3, count: 50_000), at: 0)
        #expect(try allocated(volume) == 98_304, "written over, it takes no more")
    }

    @Test func `every way of losing bytes gives their memory back, that of an open file once it is closed`() throws {
        let volume = MemoryVolume(capacity: 1 << 20)
        let page = [UInt8](repeating: 1, count: 4096)
        do {
            let file = try volume.open("/a", .create)
            for number in 0..<10 { try file.write(page, at: Int64(number) * 4096) }
            #expect(try allocated(volume) == 40_960)
            try file.punch(offset: 1, count: 3 * 4096)
            #expect(try allocated(volume) == 40_960 - 2 * 4096, "two pages are all in it")
            try file.truncate(to: 5 * 4096 + 1)
            #expect(try allocated(volume) == 4 * 4096)
            try volume.removeFile("/a")
            #expect(try allocated(volume) == 4 * 4096, "it is open")
        }
        #expect(try allocated(volume) == 0)
        try volume.open("/b", .create).write(page, at: 0)
        try volume.open("/c", .create).write(page, at: 0)
        try volume.rename("/b", to: "/c")
        #expect(try allocated(volume) == 4096, "what was replaced is gone")
    }

    @Test func `bytes far out cost a page`() throws {
        let volume = MemoryVolume(capacity: 1 << 20)
        let file = try volume.open("/a", .create)
        try file.write([1], at: .max - 1)
        #expect(try file.status().size == .max)
        try file.punch(offset: 0, count: .max - 1)
        #expect(try allocated(volume) == 4096)
        try file.truncate(to: 0)
        #expect(try allocated(volume) == 0)
    }

    @Test func `nothing of it waits for a disk, and a directory tells of each change of its names`() throws {
        let volume = MemoryVolume(capacity: 1 << 20)
        try volume.makeDirectory("/d")
        var changes = [try volume.modified(ofDirectory: "/d")]
        let file = try volume.open("/d/a", .create)
        changes.append(try volume.modified(ofDirectory: "/d"))
        try volume.rename("/d/a", to: "/d/b")
        changes.append(try volume.modified(ofDirectory: "/d"))
        try volume.removeFile("/d/b")
        changes.append(try volume.modified(ofDirectory: "/d"))
        #expect(Set(changes).count == 4 && !changes.contains(nil))
        try file.write([1, 2, 3], at: 10)
        var bytes: [UInt8] = [9]
        #expect(file.readResident(at: 9, count: 4, into: &bytes) && bytes == [9, 0, 1, 2, 3])
    }

    @Test func `what is stored on it has no path, so no lease and no clone`() throws {
        let volume = MemoryVolume(capacity: 1 << 20)
        #expect(!volume.hasPaths)
        let file = try volume.open("/a", .create)
        #expect(file.descriptor == nil)
        #expect(try !volume.clone(file, to: "/b"))
        #expect(throws: FileError.self) { try volume.link("/a", to: "/b") }
    }
}
