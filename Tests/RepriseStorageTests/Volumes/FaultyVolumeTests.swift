import ReprisePlatform
import RepriseTesting
import Testing

@Suite("The file systems made for tests")
struct FaultyVolumeTests {
    @Test func `a fault does nothing but report its code, and only where the rule says`() throws {
        let files = FaultyVolume(SimulatedDisk())
        let handle = try files.open("/a", .create)
        try handle.write([1, 2, 3], at: 0)
        files.setRule { operation, path, number in
            operation == .write && path == "/a" && number == 3 ? .error(FileError.noSpace) : nil
        }
        try handle.write([4], at: 3)
        #expect(throws: FileError(code: FileError.noSpace, operation: "write", path: "/a")) {
            try handle.write([9], at: 0)
        }
        try handle.write([5], at: 4)
        var bytes: [UInt8] = []
        try handle.read(at: 0, count: 9, into: &bytes)
        #expect(bytes == [1, 2, 3, 4, 5])
        #expect(files.count(of: .write) == 4 && files.count(of: .open) == 1 && files.count(of: .punch) == 0)
    }

    @Test func `a short write leaves its first bytes, a short read ends early`() throws {
        let files = FaultyVolume(SimulatedDisk())
        let handle = try files.open("/a", .create)
        files.setRule { operation, _, _ in operation == .write ? .short(count: 2, code: FileError.inputOutput) : nil }
        #expect(throws: FileError.self) { try handle.write([1, 2, 3], at: 0) }
        files.setRule { _, _, _ in .shortRead(count: 1) }
        var bytes: [UInt8] = []
        try handle.read(at: 0, count: 9, into: &bytes)
        #expect(bytes == [1])
        files.setRule(nil)
        try handle.read(at: 0, count: 9, into: &bytes)
        #expect(bytes == [1, 1, 2])
    }

    @Test(arguments: FaultyVolume.Operation.allCases)
    func `every operation can fail`(operation: FaultyVolume.Operation) throws {
        let files = FaultyVolume(SimulatedDisk())
        let handle = try files.open("/a", .create)
        files.setRule { called, _, _ in called == operation ? .error(FileError.notPermitted) : nil }
        var bytes: [UInt8] = []
        let calls: [() throws -> Void] = [
            { _ = try files.open("/b", .create) }, { try files.makeDirectory("/d") }, { _ = try files.list("/") },
            { try handle.write([1], at: 0) }, { try handle.read(at: 0, count: 1, into: &bytes) },
            { _ = try handle.status() }, { try handle.truncate(to: 4) }, { try handle.punch(offset: 0, count: 1) },
            { try handle.sync() }, { _ = try handle.tryLock(exclusive: true) }, { try files.syncDirectory("/") },
            { _ = try files.space("/") }, { try files.link("/a", to: "/l") }, { try files.rename("/a", to: "/c") },
            { _ = try files.clone(handle, to: "/e") }, { try files.removeFile("/c") },
            { try files.removeDirectory("/d") },
        ]
        var codes: [Int32] = []
        for call in calls {
            do { try call() } catch let error as FileError where error.kind == .unavailable {
                codes.append(error.code)
            } catch {
                // What stood on the failed call is missing now.
                #expect((error as? FileError)?.kind == .missing)
            }
        }
        #expect(codes == [FileError.notPermitted])
        #expect(files.count(of: operation) >= 1)
    }

    @Test func `memory is full when its room is used, after writing what fits`() throws {
        let files = SimulatedDisk(capacity: 3 * 4096)
        let handle = try files.open("/a", .create)
        #expect(throws: FileError(code: FileError.noSpace, operation: "pwrite", path: "/a")) {
            try handle.write([UInt8](repeating: 1, count: 5 * 4096), at: 0)
        }
        #expect(try handle.status().size == 3 * 4096)
        #expect(try files.space("/").free == 0)
        try handle.write([2], at: 100)
        try handle.punch(offset: 0, count: 4096)
        #expect(try files.space("/").free == 4096)
        try files.removeFile("/a")
        #expect(files.allocatedBytes == 2 * 4096, "the open handle keeps its room")
    }

    @Test func `memory gives the room of an unlinked file back with its last handle`() throws {
        let files = SimulatedDisk()
        do {
            let handle = try files.open("/a", .create)
            try handle.write([1], at: 0)
            try files.removeFile("/a")
        }
        #expect(files.allocatedBytes == 0)
    }

    @Test func `memory can be meddled with`() throws {
        let files = SimulatedDisk()
        let handle = try files.open("/d", .create)
        try handle.write([1, 2, 3], at: 0)
        try files.flip("/d", at: 1, mask: 0x80)
        #expect(try files.contents("/d") == [1, 0x82, 3])
        try files.mutate("/d") { $0.removeLast() }
        var bytes: [UInt8] = []
        try handle.read(at: 0, count: 9, into: &bytes)
        #expect(bytes == [1, 0x82])
        try files.replace("/x/y", with: [7])
        #expect(files.paths == ["/d", "/x/y"])
        #expect(handle.isResident(offset: 0, count: 1))
        files.setResident(false)
        #expect(!handle.isResident(offset: 0, count: 1))
    }
}
