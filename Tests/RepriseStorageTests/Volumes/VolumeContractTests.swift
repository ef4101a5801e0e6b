import ReprisePlatform
import RepriseStorage
import RepriseTesting
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// What every `StoreVolume` must do; the store is written against this and nothing else.
@Suite("The volume contract")
struct VolumeContractTests {
    @Test(arguments: Volume.all, StoreVolumeContract.Rule.allCases)
    func `holds`(volume: Volume, rule: StoreVolumeContract.Rule) throws {
        try StoreVolumeContract(volume.make).check(rule)
    }

    @Test func `reading without waiting works where the kernel has the bytes`() throws {
        let directory = TemporaryDirectory()
        let file = try directory.open(directory.path + "/a", .create)
        try file.write([1, 2, 3], at: 0)
        var bytes: [UInt8] = []
        let isRead = file.readResident(at: 0, count: 3, into: &bytes)
        #if os(Linux)
            #expect(isRead, "just written, it is in memory")
        #endif
        #expect(bytes == (isRead ? [1, 2, 3] : []))
        #expect(file.isResident(offset: 0, count: 1))
    }

    @Test func `what a disk gets of us is its owner's alone`() throws {
        let directory = TemporaryDirectory()
        let files = DiskVolume()
        let folder = directory.path + "/a/b"
        let mask = umask(0)
        defer { umask(mask) }
        try files.makeDirectory(folder)
        _ = try files.open(folder + "/c", .create)
        _ = try files.open(folder + "/d", .createNew)
        for (path, mode) in [("/a", 0o700), ("/a/b", 0o700), ("/a/b/c", 0o600), ("/a/b/d", 0o600)] as [(String, mode_t)]
        {
            var found = stat()
            #expect(unsafe stat(directory.path + path, &found) == 0)
            #expect(found.st_mode & 0o777 == mode, "\(path)")
        }
    }

    @Test func `a lock ends with its handle, also where a child holds a copy of the descriptor`() throws {
        let root = TemporaryDirectory()
        let second = try root.open(root.path + "/lock", .create)
        var copy: Int32 = -1
        do {
            let first = try root.open(root.path + "/lock", .create)
            #expect(try first.tryLock(exclusive: true))
            // What a child has from the moment it is forked until it runs its own program.
            copy = dup(try #require(first.descriptor))
        }
        defer { close(copy) }
        #expect(try second.tryLock(exclusive: true))
    }
}

/// A volume that has nothing but what every one must have.
private final class LeastVolume: StoreVolume {
    private let base = MemoryVolume(capacity: 8 << 20)

    func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        LeastFile(try base.open(path, mode))
    }

    func makeDirectory(_ path: String) throws(FileError) { try base.makeDirectory(path) }
    func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }
    func rename(_ from: String, to: String) throws(FileError) { try base.rename(from, to: to) }
    func removeFile(_ path: String) throws(FileError) { try base.removeFile(path) }
    func removeDirectory(_ path: String) throws(FileError) { try base.removeDirectory(path) }
    func space(_ path: String) throws(FileError) -> VolumeSpace { try base.space(path) }
}

private final class LeastFile: VolumeFile {
    private let base: any VolumeFile

    init(_ base: any VolumeFile) { self.base = base }

    func read(at offset: Int64, count: Int, into buffer: inout [UInt8]) throws(FileError) {
        try base.read(at: offset, count: count, into: &buffer)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        unsafe try base.write(bytes, at: offset)
    }

    func status() throws(FileError) -> VolumeFileStatus { try base.status() }
    func truncate(to size: Int64) throws(FileError) { try base.truncate(to: size) }
}

/// A place to test in.
struct Volume: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () throws -> (any StoreVolume, String)

    static let all = [
        Volume(testDescription: "real") {
            let root = TemporaryDirectory()
            return (root, root.path)
        },
        Volume(testDescription: "memory") { (MemoryVolume(capacity: 8 << 20), "/volume/root") },
        Volume(testDescription: "simulated") { (SimulatedDisk(), "/volume/root") },
        Volume(testDescription: "simulated, with clones") {
            let disk = SimulatedDisk()
            disk.setClones(true)
            return (disk, "/volume/root")
        },
        Volume(testDescription: "faulty without faults, over simulated") { (FaultyVolume(SimulatedDisk()), "/root") },
        Volume(testDescription: "of the requirements without a default") { (LeastVolume(), "/root") },
    ]
}
