import Dispatch
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// The rules of `StoreVolumeContract`, on one empty directory of a volume.
struct VolumeRun {
    let volume: any StoreVolume
    let root: String

    // MARK: Files

    func opening() throws {
        try expect(.missing, "opening no file to read it") { () throws(FileError) in _ = try open("/a", .read) }
        try expect(.missing, "opening no file to write it") { () throws(FileError) in _ = try open("/a", .readWrite) }
        try open("/a", .createNew).write([1, 2, 3], at: 0)
        try expect(.exists, "making a file anew") { () throws(FileError) in _ = try open("/a", .createNew) }
        try expect(read(open("/a", .create), 0, 9) == [1, 2, 3], "`create` changed the bytes of a file")
        try expect(.missing, "making a file in no directory") { () throws(FileError) in _ = try open("/no/a", .create) }
        try expect(.missing, "making a file in a file") { () throws(FileError) in _ = try open("/a/b", .create) }
        try volume.makeDirectory(root + "/d")
        try expect(.unavailable, "opening a directory as a file") { () throws(FileError) in _ = try open("/d", .create)
        }
        let reading = try open("/a", .read)
        try expect(.unavailable, "writing a file opened to read") { () throws(FileError) in
            try reading.write([9], at: 0)
        }
        try expect(.unavailable, "cutting a file opened to read") { () throws(FileError) in try reading.truncate(to: 0)
        }
        try expect(read(reading, 0, 3) == [1, 2, 3], "a refused write changed the file")
        let writing = try open("/a", .readWrite)
        try writing.write([7], at: 1)
        try expect(read(reading, 0, 9) == [1, 7, 3], "another open file does not see what was written")
    }

    func reading() throws {
        let file = try open("/a", .create)
        try file.write([UInt8](0..<10), at: 0)
        var bytes: [UInt8] = [99]
        try file.read(at: 7, count: 5, into: &bytes)
        try expect(bytes == [99, 7, 8, 9], "reading over the end gave \(bytes)")
        try file.read(at: 10, count: 5, into: &bytes)
        try file.read(at: 1 << 40, count: 5, into: &bytes)
        try file.read(at: 0, count: 0, into: &bytes)
        try expect(bytes == [99, 7, 8, 9], "reading behind the end, or nothing, gave \(bytes)")
        try expect(.unavailable, "reading at -1") { () throws(FileError) in
            try file.read(at: -1, count: 1, into: &bytes)
        }
        try expect(bytes == [99, 7, 8, 9], "a read that failed appended something")
        try file.write([], at: 100)
        try expect(file.status().size == 10, "writing no bytes made the file longer")
        let long = [UInt8]((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
        try file.write(long, at: 5)
        try expect(read(file, 5, 300_000) == long, "300,000 bytes came back as others")
        try expect(read(file, 65_530, 11) == Array(long[65_525..<65_536]), "a part of them came back as others")
    }

    func holes() throws {
        let file = try open("/a", .create)
        try file.write([7], at: 3 << 30)
        let status = try file.status()
        try expect(status.size == 3 << 30 + 1, "one byte at 3 GiB makes \(status.size) bytes")
        try expect(status.allocated <= 1 << 20, "one byte at 3 GiB takes \(status.allocated) bytes")
        try expect(read(file, 1 << 30, 4) == [0, 0, 0, 0], "a hole does not read as zeros")
        try expect(read(file, 3 << 30 - 1, 4) == [0, 7], "the end of a hole reads wrong")
        try file.truncate(to: 5 << 30)
        try expect(file.status().size == 5 << 30, "a file was not made longer")
        try expect(file.status().allocated <= 1 << 20, "a file without bytes takes space")
    }

    func punching() throws {
        let file = try open("/a", .create)
        try file.write([UInt8](repeating: 5, count: 1 << 20), at: 0)
        try file.sync()
        let before = try file.status()
        do throws(FileError) { try file.punch(offset: 65_536, count: 65_536 * 8) } catch {
            try expect(error.kind == .unavailable, "punching failed: \(error)")
            try expect(read(file, 65_536, 1) == [5], "what was not punched is gone")
            return
        }
        try file.punch(offset: 3, count: 4)
        let after = try file.status()
        try expect(after.size == before.size, "punching changed the size")
        try expect(after.allocated <= before.allocated - 65_536 * 7, "punching gave no space back")
        try expect(read(file, 0, 9) == [5, 5, 5, 0, 0, 0, 0, 5, 5], "punched bytes are no zeros")
        try expect(read(file, 65_535, 2) == [5, 0], "the start of a punched range reads wrong")
        try expect(read(file, 65_536 * 9 - 1, 2) == [0, 5], "the end of a punched range reads wrong")
        try expect(.unavailable, "punching nothing") { () throws(FileError) in try file.punch(offset: 0, count: 0) }
    }

    func truncating() throws {
        let file = try open("/a", .create)
        try file.write([UInt8](repeating: 5, count: 10_000), at: 0)
        try file.truncate(to: 5000)
        try file.truncate(to: 10_000)
        try expect(read(file, 4999, 3) == [5, 0, 0], "what was cut off came back")
        try expect(read(file, 9999, 3) == [0], "the file did not get its length")
        try expect(.unavailable, "cutting to -1 bytes") { () throws(FileError) in try file.truncate(to: -1) }
    }

    func unlinkedFiles() throws {
        let first = try open("/a", .create)
        try first.write([1], at: 0)
        let second = try open("/a", .read)
        let number = try first.status().inode
        try expect(second.status().inode == number, "one file has two numbers")
        try volume.removeFile(root + "/a")
        try expect(first.status().links == 0, "a removed file still says it has a path")
        try expect(.missing, "removing a removed file") { () throws(FileError) in try volume.removeFile(root + "/a") }
        let other = try open("/a", .createNew)
        try expect(other.status().inode != number, "a new file has the number of one that is open")
        try other.write([2], at: 0)
        try first.write([3], at: 1)
        try expect(read(second, 0, 9) == [1, 3], "a removed file does not live on where it is open")
        try expect(read(open("/a", .read), 0, 9) == [2], "a new file has the bytes of the removed one")
    }

    func secondPaths() throws {
        let file = try open("/a", .create)
        try file.write([1], at: 0)
        try volume.makeDirectory(root + "/d")
        do throws(FileError) { try volume.link(root + "/a", to: root + "/d/b") } catch {
            try expect(error.kind == .unavailable, "linking failed: \(error)")
            return
        }
        try expect(file.status().links == 2, "a file with two paths does not say so")
        try file.write([2], at: 1)
        try expect(read(open("/d/b", .read), 0, 9) == [1, 2], "the second path leads to other bytes")
        try volume.removeFile(root + "/a")
        try expect(file.status().links == 1, "a file with one path left does not say so")
        try expect(open("/d/b", .read).status().inode == file.status().inode, "the second path leads to another file")
        try open("/c", .create).write([3], at: 0)
        try expect(.exists, "linking to a taken path") { () throws(FileError) in try link("/c", "/d/b") }
        try expect(.missing, "linking no file") { () throws(FileError) in try link("/no", "/e") }
        try expect(.missing, "linking into no directory") { () throws(FileError) in try link("/c", "/no/e") }
        try expect(.unavailable, "linking a directory") { () throws(FileError) in try link("/d", "/e") }
        try volume.removeFile(root + "/d/b")
        try expect(read(file, 0, 9) == [1, 2], "a file does not outlive its last path where it is open")
    }

    func clones() throws {
        let file = try open("/a", .create)
        try file.write([1, 2, 3], at: 0)
        guard try volume.clone(file, to: root + "/b") else {
            try expect(.missing, "a clone was refused and made") { () throws(FileError) in _ = try open("/b", .read) }
            return
        }
        try file.write([9], at: 0)
        try expect(read(open("/b", .read), 0, 9) == [1, 2, 3], "a clone changes with what it was made of")
        try open("/b", .readWrite).write([8], at: 1)
        try expect(read(file, 0, 9) == [9, 2, 3], "what a clone was made of changes with it")
    }

    func renaming() throws {
        try open("/a", .create).write([1], at: 0)
        try open("/b", .create).write([2], at: 0)
        let old = try open("/b", .read)
        try rename("/a", "/b")
        try expect(volume.list(root) == ["b"], "after renaming there is \(try volume.list(root))")
        try expect(read(old, 0, 9) == [2], "an open file lost its bytes when another took its path")
        try expect(read(open("/b", .read), 0, 9) == [1], "a renamed file has other bytes")
        try rename("/b", "/b")
        try expect(volume.list(root) == ["b"], "renaming a file to itself lost it")
        try expect(.missing, "renaming no file") { () throws(FileError) in try rename("/no", "/b") }
        try expect(.missing, "renaming into no directory") { () throws(FileError) in try rename("/b", "/no/b") }
    }

    // MARK: Directories

    func directories() throws {
        try volume.makeDirectory(root + "/x/y/z")
        try volume.makeDirectory(root + "/x/y/z")
        try open("/x/y/f", .create).write([1], at: 0)
        try expect(
            volume.list(root + "/x/y").sorted() == ["f", "z"], "a directory lists \(try volume.list(root + "/x/y"))")
        try expect(volume.list(root + "/x/y/z").isEmpty, "an empty directory lists something")
        try expect(.exists, "removing a full directory") { () throws(FileError) in try removeDirectory("/x/y") }
        try expect(.unavailable, "removing a directory as a file") { () throws(FileError) in
            try volume.removeFile(root + "/x/y/z")
        }
        try expect(.missing, "listing no directory") { () throws(FileError) in _ = try volume.list(root + "/no") }
        try expect(.missing, "listing a file") { () throws(FileError) in _ = try volume.list(root + "/x/y/f") }
        try expect(.missing, "making a directory in a file") { () throws(FileError) in
            try volume.makeDirectory(root + "/x/y/f/g")
        }
        try removeDirectory("/x/y/z")
        try volume.removeFile(root + "/x/y/f")
        try volume.syncDirectory(root + "/x")
        try removeDirectory("/x/y")
        try expect(.missing, "removing a removed directory") { () throws(FileError) in try removeDirectory("/x/y") }
        let space = try volume.space(root)
        try expect(space.free > 0 && space.total >= space.free && space.freeFiles != 0, "an empty volume has \(space)")
    }

    func directoryChanges() throws {
        try volume.makeDirectory(root + "/d")
        guard let first = try volume.modified(ofDirectory: root + "/d") else { return }
        try expect(.missing, "asking after no directory") { () throws(FileError) in
            _ = try volume.modified(ofDirectory: root + "/no")
        }
        // A clock may tick every few milliseconds, so names are changed until it has ticked.
        func change(since time: Int64, _ what: String, _ body: () throws -> Void) throws -> Int64 {
            for _ in 0..<1_000_000 {
                try body()
                if let now = try volume.modified(ofDirectory: root + "/d"), now != time { return now }
            }
            throw ContractViolation("\(what) does not change its directory")
        }
        let second = try change(since: first, "making and removing a file") {
            _ = try open("/d/a", .create)
            try volume.removeFile(root + "/d/a")
        }
        _ = try open("/d/b", .create)
        _ = try change(since: second, "renaming a file") {
            try rename("/d/b", "/d/c")
            try rename("/d/c", "/d/b")
        }
    }

    // MARK: What several share

    func locks() throws {
        let second = try open("/lock", .create)
        do {
            let first = try open("/lock", .create)
            guard try first.tryLock(exclusive: true) else { throw ContractViolation("a free lock is refused") }
            guard try !second.tryLock(exclusive: true) else { return }  // It has none.
            try expect(first.tryLock(exclusive: true), "a lock is refused to the file that has it")
            try expect(!second.tryLock(exclusive: false), "a lock that a file has alone is shared")
            try expect(first.tryLock(exclusive: false), "a file that has the lock alone may not share it")
            try expect(second.tryLock(exclusive: false), "a shared lock is refused")
            try expect(!second.tryLock(exclusive: true), "a shared lock is given to one alone")
        }
        try expect(second.tryLock(exclusive: true), "a lock does not end with its file")
    }

    func changeTimes() throws {
        let file = try open("/a", .create)
        try file.write([1], at: 0)
        let before = try file.status()
        try expect(file.status() == before, "a file that nothing changes has another status")
        let other = try open("/a", .readWrite)
        var after = before
        for _ in 0..<1_000_000 where after.modified == before.modified {
            try other.write([2], at: 0)
            after = try file.status()
        }
        try expect(after.modified > before.modified, "a change by another open file does not move the change time")
        try expect(after.inode == before.inode, "a change gave the file another number")
    }

    func readingWithoutWaiting() throws {
        let file = try open("/a", .create)
        try file.write([UInt8](0..<200), at: 0)
        var bytes: [UInt8] = [7]
        try expect(!file.readResident(at: 100, count: 101, into: &bytes), "101 of 100 bytes were read")
        try expect(!file.readResident(at: 200, count: 1, into: &bytes), "a byte behind the end was read")
        try expect(bytes == [7], "what was not read was appended")
        let isRead = file.readResident(at: 100, count: 100, into: &bytes)
        try expect(
            bytes == (isRead ? [7] + [UInt8](100..<200) : [7]), "what was read without waiting is not what was written")
    }

    func concurrentCalls() throws {
        let shared = try open("/shared", .create)
        let failures = Lock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            do {
                for round in 0..<50 {
                    let byte = UInt8(truncatingIfNeeded: number * 50 + round)
                    let path = "/own\(number)"
                    let own = try open(path + ".new", .create)
                    try own.write([UInt8](repeating: byte, count: 5000), at: 0)
                    try rename(path + ".new", path)
                    try shared.write([UInt8](repeating: UInt8(number + 1), count: 700), at: Int64(number) * 700)
                    let (mine, all) = try (read(open(path, .read), 0, 9000), read(shared, Int64(number) * 700, 700))
                    try expect(mine == [UInt8](repeating: byte, count: 5000), "a file has another's bytes")
                    try expect(all == [UInt8](repeating: UInt8(number + 1), count: 700), "a range has another's bytes")
                }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        if let failure = failures.withLock(\.first) { throw ContractViolation(failure) }
        try expect(volume.list(root).count == 9, "nine files were made, and there are \(try volume.list(root).count)")
    }

    func storing() throws {
        let content = PositionCodedContent(length: 300_000)
        let part = ByteRange(70_000, 290_000)
        let info = EntryInfo(
            key: "k", url: "https://origin.test/k", generation: 0, identity: 5, fileExtension: "mp3",
            validator: Validator(entityTag: nil, lastModified: nil), length: content.length, servesRanges: true,
            fields: [:],
            checked: 1, isPinned: false)
        let used = { try volume.space(root).total - volume.space(root).free }
        var before: Int64 = 0
        do {
            let store = try Store(root: root + "/store", volume: volume)
            before = try used()
            let entry = try store.stage(info)
            try FillWriter(generation: entry.generation).write([content.bytes(in: part)[...]], at: part.lowerBound)
            try store.commit(entry.info, syncing: entry.generation)
        }
        do {
            let store = try Store(root: root + "/store", volume: volume)
            guard let entry = try store.open(key: "k") else {
                throw ContractViolation("what was stored is not found again")
            }
            var stored = ByteRangeSet()
            try entry.generation.readStored(length: content.length) { range, bytes in
                try expect(content.firstMismatch(bytes, at: range.lowerBound) == nil, "a wrong byte in \(range)")
                stored.insert(range)
            }
            try expect(stored.count >= part.count - 65_536, "\(stored.count) of \(part.count) bytes are found again")
            try expect(entry.generation.damagedBlocks == 0, "\(entry.generation.damagedBlocks) blocks are damaged")
            try expect(store.survey().unknown.count == 1, "the entry is not listed")
            try store.remove(key: "k")
            try expect(store.open(key: "k") == nil, "a removed entry is found")
        }
        // Others may use the same disk.
        try expect(used() - before < part.count / 2, "removing an entry gave no space back")
    }

    // MARK: Inside

    private func open(_ path: String, _ mode: VolumeFileMode) throws(FileError) -> any VolumeFile {
        try volume.open(root + path, mode)
    }

    private func link(_ path: String, _ name: String) throws(FileError) {
        try volume.link(root + path, to: root + name)
    }

    private func rename(_ from: String, _ to: String) throws(FileError) {
        try volume.rename(root + from, to: root + to)
    }

    private func removeDirectory(_ path: String) throws(FileError) { try volume.removeDirectory(root + path) }

    private func read(_ file: any VolumeFile, _ offset: Int64, _ count: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        try file.read(at: offset, count: count, into: &bytes)
        return bytes
    }

    private func expect(_ holds: Bool, _ text: @autoclosure () throws -> String) throws {
        if !holds { throw ContractViolation(try text()) }
    }

    private func expect(_ kind: FileError.Kind, _ what: String, _ body: () throws(FileError) -> Void) throws {
        do throws(FileError) { try body() } catch {
            if error.kind != kind { throw ContractViolation("\(what) throws \(error.kind), not \(kind): \(error)") }
            return
        }
        throw ContractViolation("\(what) does not throw")
    }
}
