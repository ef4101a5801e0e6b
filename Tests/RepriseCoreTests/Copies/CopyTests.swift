import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// In and out by the interface an app writes, plain and sealed.
@Suite struct CopyTests {
    static let length: Int64 = 700_001
    private let directory = TemporaryDirectory()
    private let stage = Stage()

    private func open(_ kind: BlockIntegrity, _ change: (inout MediaCache.Configuration) -> Void = { _ in }) throws
        -> MediaCache
    {
        var configuration = MediaCache.Configuration()
        if kind == .sealed { configuration.seal = .testing }
        change(&configuration)
        return try MediaCache(
            at: .directory(directory.path + "/store"), client: stage.client, configuration: configuration)
    }

    private func file(_ name: String) -> URL { URL(fileURLWithPath: directory.path + "/" + name) }

    private func expect(_ url: URL, is content: PositionCodedContent) throws {
        let bytes = Array(try Data(contentsOf: url))
        #expect(Int64(bytes.count) == content.length)
        #expect(content.firstMismatch(bytes, at: 0) == nil)
    }

    private func write(_ content: PositionCodedContent, to name: String) throws -> URL {
        try Data(content.bytes(in: ByteRange(0, content.length))).write(to: file(name))
        return file(name)
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed])
    func `a complete resource is exported with the right extension, an incomplete one refused with what is missing`(
        kind: BlockIntegrity
    ) async throws {
        stage.put("/song.mp3", length: Self.length)
        let cache = try open(kind)
        let url = stage.url("/song.mp3")
        let nothing = await #expect(throws: CacheError.self) { try await cache.export(url, to: file("song")) }
        #expect(nothing?.code == .incomplete)
        try await cache.prefetch(url, .range(ByteRange(0, 100_000))).value
        let part = await #expect(throws: CacheError.self) { try await cache.export(url, to: file("song")) }
        #expect(part?.code == .incomplete && part?.message.contains("of \(Self.length) bytes are not stored") == true)
        try await cache.complete(url).value
        let requests = stage.origin.requestCount
        let copy = try await cache.export(url, to: file("song"))
        #expect(copy.lastPathComponent == "song.mp3")
        try expect(copy, is: PositionCodedContent(length: Self.length))
        let named = try await cache.export(url, to: URL(fileURLWithPath: directory.path))
        #expect(named.lastPathComponent == "song.mp3")
        #expect(stage.origin.requestCount == requests)
        for wrong in [URL(string: "https://a.test/b")!, file("no/such/song.mp3")] {
            await #expect(throws: CacheError.self) { try await cache.export(url, to: wrong) }
        }
        await cache.close()
    }

    @Test func `a sealed store's file is decrypted where the caller says, for as long as the lease lives`()
        async throws
    {
        stage.put("/song.mp3", length: Self.length)
        for kind in [BlockIntegrity.sealed, .hashed] {
            let place = directory.path + "/\(kind)"
            try directory.makeDirectory(place)
            var configuration = MediaCache.Configuration()
            if kind == .sealed { configuration.seal = .testing }
            let cache = try MediaCache(
                at: .directory(directory.path + "/store-\(kind)"), client: stage.client, configuration: configuration)
            do {
                let lease = try await cache.resource(for: stage.url("/song.mp3"))
                    .fileURL(decryptedIn: URL(fileURLWithPath: place))
                #expect(lease.url.pathExtension == "mp3" && lease.progress.isComplete)
                if kind == .sealed { #expect(cache.activity.readers == 0, "the copy stands by itself") }
                #expect(try directory.list(place).count == (kind == .sealed ? 1 : 0))
                try expect(lease.url, is: PositionCodedContent(length: Self.length))
            }
            #expect(await eventually { (try? directory.list(place))?.isEmpty == true })
            await cache.close()
        }
    }

    @Test(arguments: ["", "/dev/zero", "/dev/null", "/proc/self/status"])
    func `what has no length is not imported, and takes no entry away`(path: String) async throws {
        stage.put("/song.mp3", length: Self.length)
        let cache = try open(.hashed)
        #expect(try await stage.read("/song.mp3", from: cache) == Self.length)
        let empty = URL(fileURLWithPath: directory.path + "/empty.mp3")
        try Data().write(to: empty)
        let source = path.isEmpty ? empty : URL(fileURLWithPath: path)
        await #expect(throws: CacheError.self) { try await cache.importFile(source, for: stage.url("/song.mp3")) }
        stage.origin.setDown(true)
        #expect(try await stage.read("/song.mp3", from: cache) == Self.length)
        await cache.close()
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed])
    func `a file that is imported plays without the origin, also after a restart, and keeps its pin`(
        kind: BlockIntegrity
    ) async throws {
        let content = PositionCodedContent(length: Self.length, generation: 2)
        let source = try write(content, to: "upload.mp3")
        stage.origin.setDown(true)
        var cache = try open(kind)
        let url = stage.url("/song.mp3")
        for round in 1...2 {
            let info = try await cache.importFile(
                source, for: url, as: ImportDescription(entityTag: "\"tag-\(round)\""))
            #expect(info.length == Self.length && info.generation == round)
            #expect(
                info.fields["Content-Type"] == "audio/mpeg" && info.validator.entityTag?.opaque == "\"tag-\(round)\"")
            #expect(try await stage.read("/song.mp3", from: cache, generation: 2) == Self.length)
            try await cache.pin(url)
        }
        await cache.close()
        cache = try open(kind)
        #expect(await cache.entries().map(\.isPinned) == [true])
        #expect(try await stage.read("/song.mp3", from: cache, generation: 2) == Self.length)
        #expect(stage.origin.requestCount == 0)
        try expect(try await cache.export(url, to: file("back.mp3")), is: content)
        await cache.close()
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed])
    func `inv01 inv17 who reads what an import replaces reads it to its end, who comes reads the new one`(
        kind: BlockIntegrity
    ) async throws {
        stage.put("/song.mp3", length: Self.length)
        let cache = try open(kind)
        let url = stage.url("/song.mp3")
        var reader = try cache.resource(for: url).reader()
        let first = try #require(try await reader.next())
        let old = PositionCodedContent(length: Self.length)
        var position = first.offset + Int64(first.bytes.count)
        let source = try write(PositionCodedContent(length: 500_000, generation: 2), to: "upload.mp3")
        try await cache.importFile(source, for: url)
        #expect(try await stage.read("/song.mp3", from: cache, generation: 2) == 500_000)
        while let chunk = try await reader.next() {
            #expect(chunk.offset == position && old.firstMismatch(chunk.bytes, at: position) == nil)
            position += Int64(chunk.bytes.count)
        }
        #expect(position == Self.length)
        #expect(try await stage.read("/song.mp3", from: cache, generation: 2) == 500_000)
        await cache.close()
        let again = try open(kind)
        stage.origin.setDown(true)
        #expect(try await stage.read("/song.mp3", from: again, generation: 2) == 500_000)
        await again.close()
    }

    @Test func `what is being imported is neither evicted nor left over, inv13`() async throws {
        let cache = try open(.hashed)
        let store = try #require(cache.environment.store)
        let source = try write(PositionCodedContent(length: Self.length, generation: 2), to: "upload.mp3")
        let resource = try cache.resource(for: stage.url("/song.mp3"))
        let info = try ImportDescription().info(resource.request, path: source.path, identity: 9, now: 1)
        do {
            let begun = try store.beginImport(source.path, as: info)
            try cache.setLimits(StoreLimits(bytes: 1))
            await cache.collectGarbage()
            #expect(try store.entryNames().count == 1)
            #expect(try await cache.repair().removed.isEmpty)
            var work = begun
            while work.done < work.length { _ = try work.advance() }
            try work.seal(EntrySummary(), in: store)
        }
        await cache.collectGarbage()
        #expect(await cache.entries().isEmpty)
        #expect(try store.entryNames().isEmpty, "one that was given up goes")
        await cache.close()
    }

    @Test func `what the origin says later of an imported file counts, and is asked before its first use by http`()
        async throws
    {
        stage.put("/song.mp3", length: Self.length, generation: 1)
        let cache = try open(.hashed) { $0.freshness = .http }
        let source = try write(PositionCodedContent(length: Self.length, generation: 2), to: "upload.mp3")
        try await cache.importFile(source, for: stage.url("/song.mp3"), as: .init(entityTag: "\"of-the-upload\""))
        #expect(try await stage.read("/song.mp3", from: cache, generation: 1) == Self.length)
        await cache.close()
    }

    @Test func `what cannot be imported is refused, and what was stored stays`() async throws {
        stage.put("/song.mp3", length: Self.length)
        let cache = try open(.hashed) { $0.limits = StoreLimits(bytes: 4 << 20) }
        let url = stage.url("/song.mp3")
        try await cache.complete(url).value
        let source = try write(PositionCodedContent(length: 1000, generation: 2), to: "upload.mp3")
        let large = file("large.mp3")
        try directory.open(large.path, .create).truncate(to: 5 << 20)
        let refusals: [(URL, ImportDescription, CacheError.Code)] = [
            (file("none.mp3"), .init(), .store), (URL(string: "https://a.test/b")!, .init(), .unsupported),
            (source, .init(contentType: "nonsense"), .unsupported), (source, .init(entityTag: ""), .unsupported),
            (source, .init(lastModified: "yesterday"), .unsupported), (large, .init(), .store),
            (source, .init(contentType: "application/vnd.apple.mpegurl"), .unsupported),
        ]
        for (source, description, code) in refusals {
            let error = await #expect(throws: CacheError.self) {
                try await cache.importFile(source, for: url, as: description)
            }
            #expect(error?.code == code)
        }
        let other = stage.url("/other.mp3")
        await #expect(throws: CacheError.self) { try await cache.importFile(large, for: other) }
        #expect(!cache.openEntries.contains { $0.key.text == other.absoluteString }, "nobody would ever close it")
        stage.origin.setDown(true)
        #expect(try await stage.read("/song.mp3", from: cache) == Self.length)
        await cache.close()
        await #expect(throws: CacheError.self) { try await cache.importFile(source, for: url) }
    }
}
