import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// INV-5: each file of a closed store is damaged in every way we can think of; then all is opened, read and filled.
@Suite("A damaged store")
struct DamageTests {
    static let older = PositionCodedContent(length: 90, generation: 1)
    static let content = PositionCodedContent(length: 90, generation: 2)
    static let other = PositionCodedContent(length: 50, generation: 3)
    static let held = ByteRangeSet([ByteRange(0, 39), ByteRange(48, 90)])
    static let key = "a", otherKey = "b"
    static let statistics: [String: Int64] = ["fromOrigin": 90, "served": 1234]

    /// Every file's bytes, by path.
    typealias Image = [String: [UInt8]]

    private func image(_ fixture: StoreFixture) throws -> Image {
        var image: Image = [:]
        for path in fixture.memory.paths { image[path] = try fixture.memory.contents(path) }
        return image
    }

    /// A store before (generation 1, then generation 2 half full) and as it was closed, and the names of its entries.
    private struct Images {
        var replaced: Image
        var partial: Image
        var closed: Image
        var name: String
        var otherName: String
    }

    private func images(_ kind: StoreFixture.Kind) throws -> Images {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        try StoreFixture.add(DamageTests.key, DamageTests.older, to: store)
        try store.writeStatistics(["served": 1])
        let replaced = try image(fixture)
        let entry = try StoreFixture.add(DamageTests.key, DamageTests.content, [ByteRange(0, 20)], to: store)
        let partial = try image(fixture)
        try StoreFixture.fill(entry.generation, DamageTests.content, ByteRange(20, 39))
        try StoreFixture.fill(entry.generation, DamageTests.content, ByteRange(48, 90))
        try StoreFixture.add(DamageTests.otherKey, DamageTests.other, to: store)
        var summary = EntrySummary()
        summary.statistics.served = 81
        try store.write(summary, to: entry.generation)
        try store.writeStatistics(DamageTests.statistics)
        return Images(
            replaced: replaced, partial: partial, closed: try image(fixture),
            name: store.entryName(key: DamageTests.key), otherName: store.entryName(key: DamageTests.otherKey))
    }

    /// What a mutation may cost.
    private enum Cost { case nothing, block, entry, root }

    /// Puts `image` on a fresh disk, opens and reads all of it, fills it again; no byte may be wrong at any point.
    private func survive(
        _ kind: StoreFixture.Kind, _ image: Image, damaged path: String, cost: Cost, _ comment: Comment
    ) throws {
        let fixture = StoreFixture(kind)
        for (path, bytes) in image { try fixture.memory.replace(path, with: bytes) }
        let store: Store
        do throws(StoreError) { store = try fixture.open() } catch {
            #expect(cost == .root && error.code == .wrongFormat, comment)
            return
        }
        let sums = try store.readStatistics()
        #expect(sums == nil || sums == DamageTests.statistics || sums == ["served": 1], comment)
        if !path.hasSuffix("/statistics"), !path.hasSuffix("/format") {
            #expect(sums == DamageTests.statistics, comment)
        }
        try store.writeStatistics(["served": 2])
        #expect(try store.readStatistics() == ["served": 2], comment)
        let cases = [
            (DamageTests.key, DamageTests.content, DamageTests.held),
            (DamageTests.otherKey, DamageTests.other, ByteRangeSet(ByteRange(0, 50))),
        ]
        for (key, content, held) in cases {
            let isHit = path.contains(store.entryName(key: key))
            let found = try store.open(key: key)
            #expect(found != nil || (isHit && cost == .entry), comment)
            if let found {
                let served = try StoreFixture.served(found.generation, content, comment)
                #expect(held.intersection(ByteRange(0, content.length)).count >= served.count, comment)
                if !isHit || cost == .nothing { #expect(served == held, comment) }
                if isHit, cost == .block {
                    #expect(held.count - served.count <= 16, comment)
                    // A second open finds the same: the damaged block is gone, nothing else.
                    let again = try #require(try store.open(key: key)).generation
                    #expect(
                        try StoreFixture.served(again, content, comment) == served && again.damagedBlocks == 0, comment)
                }
                try StoreFixture.fill(found.generation, content, ByteRange(0, content.length))
                #expect(try StoreFixture.served(found.generation, content, comment).count == content.length, comment)
            } else {
                let entry = try StoreFixture.add(key, content, to: store)
                #expect(try StoreFixture.served(entry.generation, content, comment).count == content.length, comment)
            }
            let reopened = try #require(try store.open(key: key), comment).generation
            #expect(try StoreFixture.served(reopened, content, comment).count == content.length, comment)
            #expect(reopened.damagedBlocks == 0, comment)
        }
    }

    private func cost(_ kind: StoreFixture.Kind, of path: String, at index: Int) -> Cost {
        if path.hasSuffix("/format") { return kind == .plain ? .root : .nothing }
        if path.hasSuffix("/info.json") { return .entry }
        if path.contains("/blocks.") {
            if index < 32 { return .entry }
            // The data key, and how often it was used.
            if kind == .sealed, (128..<208).contains(index) { return .entry }
            return index < 4096 ? .nothing : .block
        }
        return path.contains("/body.") ? .block : .nothing
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv05 a flipped bit costs a block or an entry and shows no wrong byte`(kind: StoreFixture.Kind) throws {
        let closed = try images(kind).closed
        var random = SeededGenerator(seed: 5)
        for (path, bytes) in closed.sorted(by: { $0.key < $1.key }) {
            let step = path.contains("/blocks.") ? 131 : 7
            for index in bytes.indices where index < 32 || index >= 4096 || index % step == 0 {
                var image = closed
                let mask = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
                image[path]?[index] ^= mask
                let comment: Comment = "\(path) byte \(index) mask \(mask)"
                try survive(kind, image, damaged: path, cost: cost(kind, of: path, at: index), comment)
            }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv05 a file cut short or deleted shows no wrong byte`(kind: StoreFixture.Kind) throws {
        let closed = try images(kind).closed
        for (path, bytes) in closed {
            let isRoot = path.contains("/format")
            var image = closed
            image[path] = nil
            let isOfEntry = path.contains("/entries/")
            try survive(kind, image, damaged: path, cost: isOfEntry ? .entry : .nothing, "\(path) deleted")
            for count in [0, 1, 15, 16, 31, 32, 63, 100, 4095, 4096, 4100, 4112, bytes.count - 1]
            where count < bytes.count {
                image[path] = Array(bytes.prefix(count))
                try survive(
                    kind,
                    image, damaged: path, cost: isRoot ? .nothing : isOfEntry ? .entry : .nothing,
                    "\(path) cut to \(count)")
            }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv05 a file that grew shows no wrong byte`(kind: StoreFixture.Kind) throws {
        let closed = try images(kind).closed
        var random = SeededGenerator(seed: 6)
        for (path, bytes) in closed {
            for count in [1, 15, 16, 17, 4096, 70_000] {
                var image = closed
                image[path] = bytes + random.bytes(count)
                let isExact = path.hasSuffix("/info.json")
                let isPlainRoot = kind == .plain && path.hasSuffix("/format")
                let cost: Cost = isPlainRoot ? .root : isExact ? .entry : .nothing
                try survive(kind, image, damaged: path, cost: cost, "\(path) grew by \(count)")
                image[path] = bytes + [UInt8](repeating: 0, count: count)
                try survive(kind, image, damaged: path, cost: cost, "\(path) grew by \(count) zeros")
            }
        }
    }

    @Test func `inv05 a slots file made as large as a disk allows traps nothing`() throws {
        for size in [Int64(1) << 44, 1 << 62, .max] {
            let fixture = StoreFixture(blockSize: 32_768)
            let content = PositionCodedContent(length: 100)
            let info = try StoreFixture.add("a", content, to: fixture.open()).info
            try fixture.memory.open(fixture.path(info, "blocks.1"), .readWrite).truncate(to: size)
            try fixture.memory.open(fixture.path(info, "body.1.mp3"), .readWrite).truncate(to: size)
            let generation = try #require(try fixture.open().open(key: "a")).generation
            #expect(try StoreFixture.served(generation, content).count == 100)
            _ = generation.availability(at: 1 << 61)
            _ = generation.availability(at: .max - 1)
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv05 files of two entries swapped show no wrong byte`(kind: StoreFixture.Kind) throws {
        let images = try images(kind)
        let closed = images.closed
        let mine = closed.keys.filter { $0.contains(images.name) }
        let others = closed.keys.filter { $0.contains(images.otherName) }
        func role(_ path: String) -> String { String((path.split(separator: "/").last ?? "").prefix(4)) }
        for path in mine {
            for second in others where role(second) == role(path) {
                var image = closed
                image[path] = closed[second]
                try survive(kind, image, damaged: path, cost: .entry, "\(path) has the other's bytes")
                image[second] = closed[path]
                try survive(kind, image, damaged: path + second, cost: .entry, "\(path) swapped")
            }
        }
        // All three at once: a whole entry under another entry's name is told by its key.
        var image = closed
        for path in mine { image[path] = nil }
        let folder = mine.first.map { String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.endIndex)) } ?? ""
        for path in others { image[folder + "/" + (path.split(separator: "/").last ?? "")] = closed[path] }
        try survive(kind, image, damaged: folder, cost: .entry, "a whole entry under another name")
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv05 an older copy shows no wrong byte`(kind: StoreFixture.Kind) throws {
        let images = try images(kind)
        let (replaced, partial, closed) = (images.replaced, images.partial, images.closed)
        for (older, name) in [(partial, "half full"), (replaced, "replaced generation")] {
            for path in closed.keys where path.contains(images.name) {
                let former = path.replacing("blocks.2", with: "blocks.1").replacing("body.2", with: "body.1")
                for source in [path, former] {
                    guard let bytes = older[source] else { continue }
                    var image = closed
                    image[path] = bytes
                    try survive(kind, image, damaged: path, cost: .entry, "\(path) from \(source), \(name)")
                }
            }
        }
        // A whole folder from a backup is the older state, and right for what it is.
        var image = closed.filter { !$0.key.contains(images.name) }
        image.merge(partial) { mine, _ in mine }
        try survive(kind, image, damaged: images.name, cost: .entry, "folder from a backup")
        let fixture = StoreFixture(kind)
        for (path, bytes) in replaced { try fixture.memory.replace(path, with: bytes) }
        let entry = try #require(try fixture.open().open(key: DamageTests.key))
        #expect(try StoreFixture.served(entry.generation, DamageTests.older).count == 90)
    }

    @Test(arguments: StoreFixture.Kind.allCases, UInt64(1)...3)
    func `inv05 slots in one another's place verify nothing`(kind: StoreFixture.Kind, seed: UInt64) throws {
        let closed = try images(kind).closed
        var random = SeededGenerator(seed: seed)
        let path = try #require(closed.keys.first { $0.hasSuffix("blocks.2") })
        for _ in 0..<20 {
            var image = closed
            let size = kind == .plain ? 16 : 32
            let count = ((image[path]?.count ?? 0) - 4096) / size
            let from = 4096 + size * Int.random(in: 0..<count, using: &random)
            let to = 4096 + size * Int.random(in: 0..<count, using: &random)
            let slot = Array(closed[path]?[from..<from + size] ?? [])
            image[path]?.replaceSubrange(to..<to + size, with: slot)
            try survive(kind, image, damaged: path, cost: .block, "seed \(seed), slot at \(from) also at \(to)")
        }
    }

    /// Both together: where only the checksum is bound to its place a block and its slot can move.
    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv05 blocks in one another's place, with their slots, show no wrong byte`(kind: StoreFixture.Kind) throws {
        let images = try images(kind)
        let size = kind == .plain ? 16 : 32
        let mine = try #require(images.closed.keys.first { $0.hasSuffix("blocks.2") })
        let others = try #require(images.closed.keys.first { $0.contains(images.otherName) && $0.contains("/blocks.") })
        func body(_ path: String) throws -> String {
            try #require(images.closed.keys.first { $0.hasPrefix(path.replacing("blocks.", with: "body.")) })
        }
        for (source, count) in [(mine, 2), (others, 3)] {
            for from in 0..<count {
                for to in 0..<2 where source != mine || from != to {
                    var image = images.closed
                    let slot = Array(images.closed[source]?[4096 + from * size..<4096 + (from + 1) * size] ?? [])
                    let block = Array(images.closed[try body(source)]?[from * 16..<(from + 1) * 16] ?? [])
                    image[mine]?.replaceSubrange(4096 + to * size..<4096 + (to + 1) * size, with: slot)
                    image[try body(mine)]?.replaceSubrange(to * 16..<(to + 1) * 16, with: block)
                    try survive(
                        kind, image, damaged: mine, cost: .block, "\(kind): block \(from) of \(source) at \(to)")
                }
            }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv05 an entry whose summary is damaged is listed, with what its slots say`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind)
        for (path, bytes) in try images(kind).closed { try fixture.memory.replace(path, with: bytes) }
        let store = try fixture.open()
        let name = store.entryName(key: DamageTests.key)
        let whole = try #require(try store.describe(name: name))
        for path in fixture.memory.paths where path.contains(name) && path.contains("/blocks.") {
            try fixture.memory.flip(path, at: 70)
        }
        let (info, summary) = try #require(try store.describe(name: name))
        #expect(info == whole.info)
        #expect(summary.stored == DamageTests.held.count && summary.length == info.length)
        #expect(try store.look(name: name)?.key == DamageTests.key)
        #expect(try store.survey().known.contains { $0.name == name })
    }

    @Test(arguments: StoreFixture.Kind.allCases, [FileError.accessDenied, FileError.notPermitted])
    func `inv30 a file that is refused and then allowed has lost nothing`(kind: StoreFixture.Kind, code: Int32) throws {
        let closed = try images(kind).closed
        for refused in closed.keys.sorted() {
            let comment: Comment = "\(kind), \(refused)"
            let fixture = StoreFixture(kind)
            for (path, bytes) in closed { try fixture.memory.replace(path, with: bytes) }
            fixture.files.setRule { operation, path, _ in
                path == refused && operation == .open ? .error(code) : nil
            }
            do throws(StoreError) {
                let store = try fixture.open()
                _ = try store.open(key: DamageTests.key)
                _ = try store.open(key: DamageTests.otherKey)
                for name in try store.entryNames() { _ = try store.describe(name: name) }
            } catch { #expect(error.code == .unavailable, comment) }
            fixture.files.setRule(nil)
            for (path, bytes) in closed where !path.hasSuffix("/lock") {
                #expect(try fixture.memory.contents(path) == bytes, comment)
            }
            let store = try fixture.open()
            let generation = try #require(try store.open(key: DamageTests.key), comment).generation
            #expect(try StoreFixture.served(generation, DamageTests.content, comment) == DamageTests.held, comment)
        }
    }
}
