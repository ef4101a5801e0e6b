import ReprisePlatform
import RepriseStorage
import RepriseTesting
import Testing

/// The same random calls on the disk and in memory: every answer must be the same.
@Suite("Disk and memory")
struct VolumeAgreementTests {
    /// One side: a file system, its root, and the handles that are open.
    private final class Side {
        let files: any StoreVolume
        let root: String
        var handles: [any VolumeFile] = []

        init(_ files: any StoreVolume, _ root: String) {
            self.files = files
            self.root = root
        }

        /// Does one call and tells its outcome.
        func answer(_ body: (Side) throws -> String) -> String {
            do { return try body(self) } catch let error as FileError { return "\(error.kind)" } catch {
                return "\(error)"
            }
        }
    }

    private typealias Call = (name: String, body: (Side) throws -> String)

    private func randomCall(_ random: inout SeededGenerator, handles: Int) -> Call {
        let names = ["/a", "/b", "/d", "/d/a", "/d/e", "/d/e/f"]
        let name = names.randomElement(using: &random) ?? "/a", other = names.randomElement(using: &random) ?? "/a"
        let offset = Int64.random(in: 0...20_000, using: &random), count = Int64.random(in: 0...9000, using: &random)
        let byte = UInt8.random(in: 1...255, using: &random)
        let mode = [VolumeFileMode.read, .readWrite, .create, .createNew].randomElement(using: &random) ?? .create
        let index = handles == 0 ? nil : Int.random(in: 0..<handles, using: &random)
        switch (Int.random(in: 0..<13, using: &random), index) {
        case (0, _), (_, nil):
            return (
                "open \(name) \(mode)",
                { side in
                    // A directory opens for reading on a disk; the store never does that.
                    if mode == .read, (try? side.files.list(side.root + name)) != nil { return "directory" }
                    side.handles.append(try side.files.open(side.root + name, mode))
                    return "opened"
                }
            )
        case (1, _):
            return (
                "mkdir \(name)",
                {
                    try $0.files.makeDirectory($0.root + name); return "made"
                }
            )
        case (2, _):
            return (
                "unlink \(name)",
                {
                    try $0.files.removeFile($0.root + name); return "removed"
                }
            )
        case (3, _):
            return (
                "rmdir \(name)",
                {
                    try $0.files.removeDirectory($0.root + name); return "removed"
                }
            )
        case (4, _):
            return (
                "rename \(name) \(other)",
                { side in
                    // Which error a directory in the way gives differs between kernels; the store renames files to files.
                    for path in [name, other] where (try? side.files.list(side.root + path)) != nil {
                        return "directory"
                    }
                    try side.files.rename(side.root + name, to: side.root + other)
                    return "renamed"
                }
            )
        case (5, _): return ("list \(name)", { try $0.files.list($0.root + name).sorted().joined(separator: ",") })
        case (6, let index?):
            return (
                "close \(index)",
                {
                    $0.handles.remove(at: index); return "closed"
                }
            )
        case (7, let index?):
            return (
                "truncate \(index) \(offset)",
                {
                    try $0.handles[index].truncate(to: offset); return "cut"
                }
            )
        case (8, let index?):
            return (
                "punch \(index) \(offset) \(count)",
                {
                    try $0.handles[index].punch(offset: offset, count: count); return "punched"
                }
            )
        case (9, let index?):
            return ("lock \(index)", { try "\($0.handles[index].tryLock(exclusive: byte > 128))" })
        case (10, let index?), (11, let index?):
            return (
                "write \(index) \(offset) \(count)",
                { side in
                    try side.handles[index].write([UInt8](repeating: byte, count: Int(count)), at: offset)
                    return "written"
                }
            )
        case (_, let index?):
            return (
                "read \(index) \(offset) \(count)",
                { side in
                    var bytes: [UInt8] = [byte]
                    try side.handles[index].read(at: offset, count: Int(count), into: &bytes)
                    return "\(try side.handles[index].status().size) \(XXH64.hash(bytes)) \(bytes.count)"
                }
            )
        }
    }

    @Test(arguments: UInt64(1)...8)
    func `answer every call alike`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let directory = TemporaryDirectory()
        let others: [any StoreVolume] = [SimulatedDisk(), MemoryVolume(capacity: 1 << 30)]
        for volume in others { try volume.makeDirectory("/root") }
        let sides = [Side(directory, directory.path)] + others.map { Side($0, "/root") }
        var calls: [String] = []
        for _ in 0..<500 {
            let call = randomCall(&random, handles: sides[0].handles.count)
            calls.append(call.name)
            let answers = sides.map { $0.answer(call.body) }
            try #require(answers.allSatisfy { $0 == answers[0] }, "seed \(seed), \(calls.suffix(8)): \(answers)")
        }
    }
}
