import ReprisePlatform
import RepriseTesting
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// What every `FileSystem` must do; the store is written against this and nothing else.
@Suite("The file system contract")
struct FileSystemContractTests {
    private func kind(_ body: () throws(FileError) -> Void) -> FileError.Kind? {
        do throws(FileError) {
            try body()
            return nil
        } catch { return error.kind }
    }

    private func read(_ handle: any FileHandle, _ offset: Int64, _ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try handle.read(at: offset, count: count, into: &bytes)
        return bytes
    }

    @Test(arguments: Volume.all)
    func `modes of opening differ in what they make`(volume: Volume) throws {
        let (files, root) = try volume.make()
        #expect(kind { () throws(FileError) in _ = try files.open(root + "/a", .read) } == .missing)
        #expect(kind { () throws(FileError) in _ = try files.open(root + "/a", .readWrite) } == .missing)
        try files.open(root + "/a", .createNew).write([1, 2, 3], at: 0)
        #expect(kind { () throws(FileError) in _ = try files.open(root + "/a", .createNew) } == .exists)
        #expect(try read(files.open(root + "/a", .create), 0, 9) == [1, 2, 3], "create leaves the bytes alone")
        #expect(kind { () throws(FileError) in _ = try files.open(root + "/no/a", .create) } == .missing)
        #expect(kind { () throws(FileError) in _ = try files.open(root + "/a/b", .create) } == .missing)
        #expect(kind { () throws(FileError) in _ = try files.open(root, .create) } == .unavailable)
        let reading = try files.open(root + "/a", .read)
        #expect(kind { () throws(FileError) in try reading.write([9], at: 0) } == .unavailable)
        #expect(kind { () throws(FileError) in try reading.truncate(to: 0) } == .unavailable)
        #expect(try read(reading, 0, 3) == [1, 2, 3])
    }

    @Test func `what a disk gets of us is its owner's alone`() throws {
        let directory = TemporaryDirectory()
        let files = RealFileSystem()
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

    @Test(arguments: Volume.all)
    func `reads append, and end early only at the end`(volume: Volume) throws {
        let (files, root) = try volume.make()
        let handle = try files.open(root + "/a", .create)
        try handle.write([UInt8](0..<10), at: 0)
        var bytes: [UInt8] = [99]
        try handle.read(at: 7, count: 5, into: &bytes)
        #expect(bytes == [99, 7, 8, 9])
        try handle.read(at: 10, count: 5, into: &bytes)
        try handle.read(at: 1 << 40, count: 5, into: &bytes)
        try handle.read(at: 0, count: 0, into: &bytes)
        #expect(bytes == [99, 7, 8, 9])
        #expect(kind { () throws(FileError) in try handle.read(at: -1, count: 1, into: &bytes) } == .unavailable)
        #expect(bytes == [99, 7, 8, 9], "a failed read appends nothing")
        try handle.write([], at: 100)
        #expect(try handle.status().size == 10)
    }

    @Test(arguments: Volume.all)
    func `holes read as zeros and take no room`(volume: Volume) throws {
        let (files, root) = try volume.make()
        let handle = try files.open(root + "/a", .create)
        try handle.write([7], at: 3 << 30)
        let status = try handle.status()
        #expect(status.size == 3 << 30 + 1)
        #expect(status.allocated <= 1 << 20)
        #expect(try read(handle, 1 << 30, 4) == [0, 0, 0, 0])
        #expect(try read(handle, 3 << 30 - 1, 4) == [0, 7])
        try handle.truncate(to: 5 << 30)
        #expect(try handle.status().size == 5 << 30)
        #expect(try handle.status().allocated <= 1 << 20)
    }

    @Test(arguments: Volume.all)
    func `punching makes zeros, keeps the size and gives room back`(volume: Volume) throws {
        let (files, root) = try volume.make()
        let handle = try files.open(root + "/a", .create)
        try handle.write([UInt8](repeating: 5, count: 1 << 20), at: 0)
        try handle.sync()
        let before = try handle.status()
        try handle.punch(offset: 65_536, count: 65_536 * 8)
        try handle.punch(offset: 3, count: 4)
        let after = try handle.status()
        #expect(after.size == before.size)
        #expect(after.allocated <= before.allocated - 65_536 * 7)
        #expect(try read(handle, 0, 9) == [5, 5, 5, 0, 0, 0, 0, 5, 5])
        #expect(try read(handle, 65_535, 2) == [5, 0])
        #expect(try read(handle, 65_536 * 9 - 1, 2) == [0, 5])
        #expect(kind { () throws(FileError) in try handle.punch(offset: 0, count: 0) } == .unavailable)
    }

    @Test(arguments: Volume.all)
    func `truncating loses bytes for good`(volume: Volume) throws {
        let (files, root) = try volume.make()
        let handle = try files.open(root + "/a", .create)
        try handle.write([UInt8](repeating: 5, count: 10_000), at: 0)
        try handle.truncate(to: 5000)
        try handle.truncate(to: 10_000)
        #expect(try read(handle, 4999, 3) == [5, 0, 0])
        #expect(try read(handle, 9999, 3) == [0])
        #expect(kind { () throws(FileError) in try handle.truncate(to: -1) } == .unavailable)
    }

    @Test(arguments: Volume.all)
    func `an unlinked file lives on in its handles`(volume: Volume) throws {
        let (files, root) = try volume.make()
        let first = try files.open(root + "/a", .create)
        try first.write([1], at: 0)
        let second = try files.open(root + "/a", .read)
        #expect(try first.status().inode == second.status().inode)
        try files.removeFile(root + "/a")
        #expect(kind { () throws(FileError) in try files.removeFile(root + "/a") } == .missing)
        try files.open(root + "/a", .createNew).write([2], at: 0)
        try first.write([3], at: 1)
        #expect(try read(second, 0, 9) == [1, 3])
        #expect(try read(files.open(root + "/a", .read), 0, 9) == [2])
    }

    @Test(arguments: Volume.all)
    func `a second name is the same file, which lives until the last name and handle are gone`(volume: Volume) throws {
        let (files, root) = try volume.make()
        let handle = try files.open(root + "/a", .create)
        try handle.write([1], at: 0)
        try files.makeDirectory(root + "/d")
        try files.link(root + "/a", to: root + "/d/b")
        #expect(try handle.status().links == 2)
        try handle.write([2], at: 1)
        #expect(try read(files.open(root + "/d/b", .read), 0, 9) == [1, 2])
        try files.removeFile(root + "/a")
        #expect(try handle.status().links == 1)
        #expect(try files.open(root + "/d/b", .read).status().inode == handle.status().inode)
        try files.open(root + "/c", .create).write([3], at: 0)
        #expect(kind { () throws(FileError) in try files.link(root + "/c", to: root + "/d/b") } == .exists)
        #expect(kind { () throws(FileError) in try files.link(root + "/no", to: root + "/e") } == .missing)
        #expect(kind { () throws(FileError) in try files.link(root + "/c", to: root + "/no/e") } == .missing)
        #expect(kind { () throws(FileError) in try files.link(root + "/d", to: root + "/e") } == .unavailable)
        try files.removeFile(root + "/d/b")
        #expect(try handle.status().links == 0)
        #expect(try read(handle, 0, 9) == [1, 2])
    }

    @Test(arguments: Volume.all)
    func `renaming replaces in one step and old handles keep the old bytes`(volume: Volume) throws {
        let (files, root) = try volume.make()
        try files.open(root + "/a", .create).write([1], at: 0)
        try files.open(root + "/b", .create).write([2], at: 0)
        let old = try files.open(root + "/b", .read)
        try files.rename(root + "/a", to: root + "/b")
        #expect(try files.list(root) == ["b"])
        #expect(try read(old, 0, 9) == [2])
        #expect(try read(files.open(root + "/b", .read), 0, 9) == [1])
        try files.rename(root + "/b", to: root + "/b")
        #expect(try files.list(root) == ["b"])
        #expect(kind { () throws(FileError) in try files.rename(root + "/no", to: root + "/b") } == .missing)
        #expect(kind { () throws(FileError) in try files.rename(root + "/b", to: root + "/no/b") } == .missing)
    }

    @Test(arguments: Volume.all)
    func `directories are made with their parents and removed only when empty`(volume: Volume) throws {
        let (files, root) = try volume.make()
        try files.makeDirectory(root + "/x/y/z")
        try files.makeDirectory(root + "/x/y/z")
        try files.open(root + "/x/y/f", .create).write([1], at: 0)
        #expect(try files.list(root + "/x/y").sorted() == ["f", "z"])
        #expect(try files.list(root + "/x/y/z").isEmpty)
        #expect(kind { () throws(FileError) in try files.removeDirectory(root + "/x/y") } == .exists)
        #expect(kind { () throws(FileError) in try files.removeFile(root + "/x/y/z") } == .unavailable)
        #expect(kind { () throws(FileError) in _ = try files.list(root + "/no") } == .missing)
        #expect(kind { () throws(FileError) in _ = try files.list(root + "/x/y/f") } == .missing)
        #expect(kind { () throws(FileError) in try files.makeDirectory(root + "/x/y/f/g") } == .missing)
        try files.removeDirectory(root + "/x/y/z")
        try files.removeFile(root + "/x/y/f")
        try files.syncDirectory(root + "/x")
        try files.removeDirectory(root + "/x/y")
        #expect(kind { () throws(FileError) in try files.removeDirectory(root + "/x/y") } == .missing)
        #expect(kind { () throws(FileError) in try files.syncDirectory(root + "/x/y") } == .missing)
        let space = try files.space(root)
        #expect(space.free > 0 && space.total >= space.free && space.freeFiles != 0)
    }

    @Test(arguments: Volume.all)
    func `locks are held by handles and end with them`(volume: Volume) throws {
        let (files, root) = try volume.make()
        let second = try files.open(root + "/lock", .create)
        do {
            let first = try files.open(root + "/lock", .create)
            #expect(try first.tryLock(exclusive: true))
            #expect(try first.tryLock(exclusive: true), "taking it again is no conflict with oneself")
            #expect(try !second.tryLock(exclusive: true))
            #expect(try !second.tryLock(exclusive: false))
            #expect(try first.tryLock(exclusive: false), "to share what one has alone")
            #expect(try second.tryLock(exclusive: false))
            #expect(try !second.tryLock(exclusive: true))
        }
        #expect(try second.tryLock(exclusive: true))
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

    @Test(arguments: Volume.all)
    func `a change by another handle moves the change time`(volume: Volume) throws {
        let (files, root) = try volume.make()
        let handle = try files.open(root + "/a", .create)
        try handle.write([1], at: 0)
        let before = try handle.status()
        #expect(try handle.status() == before)
        // A kernel's clock for files ticks every few milliseconds, so the change is made until it has ticked.
        var after = before
        let other = try files.open(root + "/a", .readWrite)
        while after.modified == before.modified {
            try other.write([2], at: 0)
            after = try handle.status()
        }
        #expect(after.modified > before.modified && after.inode == before.inode)
        #expect(handle.isResident(offset: 0, count: 1))
    }

    @Test(arguments: Volume.all)
    func `what is read without waiting is the same bytes, all that were asked for or none`(volume: Volume) throws {
        let (files, root) = try volume.make()
        let handle = try files.open(root + "/a", .create)
        try handle.write([UInt8](0..<200), at: 0)
        var bytes: [UInt8] = [7]
        #expect(!handle.readResident(at: 100, count: 101, into: &bytes), "there are only a hundred")
        #expect(!handle.readResident(at: 200, count: 1, into: &bytes))
        #expect(bytes == [7])
        // Where it cannot be told, which it can on Linux, nothing is read.
        let isRead = handle.readResident(at: 100, count: 100, into: &bytes)
        #expect(bytes == (isRead ? [7] + [UInt8](100..<200) : [7]))
        #if os(Linux)
            #expect(isRead == (handle.descriptor != nil), "just written, it is in memory")
        #endif
    }
}

/// A place to test in.
struct Volume: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () throws -> (any FileSystem, String)

    static let all = [
        Volume(testDescription: "real") {
            let root = TemporaryDirectory()
            return (root, root.path)
        },
        Volume(testDescription: "memory") {
            let files = MemoryFileSystem()
            try files.makeDirectory("/volume/root")
            return (files, "/volume/root")
        },
        Volume(testDescription: "faulty without faults, over memory") {
            let files = FaultyFileSystem(MemoryFileSystem())
            try files.makeDirectory("/root")
            return (files, "/root")
        },
    ]
}
