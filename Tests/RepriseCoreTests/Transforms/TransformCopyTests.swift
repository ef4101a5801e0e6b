import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Media that their origin delivers encrypted, by the interface an app writes: files, copies, fetching ahead.
@Suite struct TransformCopyTests {
    private static let length: Int64 = 700_001
    private static let keystream = PositionKeystream()
    private let directory = TemporaryDirectory()
    private let stage = Stage()
    private let content = PositionCodedContent(length: length)

    /// Counts what it is asked to transform.
    private final class Counted: ContentTransform {
        let bytes = Lock(0)

        func apply(to bytes: inout [UInt8], at offset: Int64) {
            let count = bytes.count
            self.bytes.withLock { $0 += count }
            TransformCopyTests.keystream.apply(to: &bytes, at: offset)
        }
    }

    private func open(_ kind: BlockIntegrity = .hashed, _ transform: any ContentTransform = keystream) throws
        -> MediaCache
    {
        var configuration = MediaCache.Configuration()
        if kind == .sealed { configuration.seal = .testing }
        configuration.contentTransform = { _, url in url.path.hasPrefix("/enc/") ? transform : nil }
        return try MediaCache(
            at: .directory(directory.path + "/store"), client: stage.client, configuration: configuration)
    }

    private func put(_ path: String) -> URL {
        stage.origin.put(.init(content, before: Self.keystream), at: path)
        return stage.url(path)
    }

    private func file(_ name: String) -> URL { URL(fileURLWithPath: directory.path + "/" + name) }

    private func expect(_ url: URL) throws {
        let bytes = Array(try Data(contentsOf: url))
        #expect(Int64(bytes.count) == Self.length)
        #expect(content.firstMismatch(bytes, at: 0) == nil)
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed])
    func `a stored body is not given away as a file, a decrypted one is and goes with its lease`(
        kind: BlockIntegrity
    ) async throws {
        let cache = try open(kind)
        let resource = try cache.resource(for: put("/enc/song.mp3"))
        for count in [Int64.max, 1000] {
            let refused = await #expect(throws: CacheError.self) { _ = try await resource.fileURL(afterBytes: count) }
            #expect(refused?.code == .unsupported)
            #expect(refused?.message.contains("fileURL(decryptedIn:)") == true)
        }
        #expect(stage.origin.requestCount == 0, "it is refused before anything is fetched")
        var lease: FileLease? = try await resource.fileURL(decryptedIn: URL(fileURLWithPath: directory.path))
        let url = try #require(lease?.url)
        #expect(url.pathExtension == "mp3")
        try expect(url)
        lease = nil
        #expect(await eventually { !FileManager.default.fileExists(atPath: url.path) })
        await cache.close()
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed])
    func `an export has what a player is given, and is not taken back in`(kind: BlockIntegrity) async throws {
        let cache = try open(kind)
        let url = put("/enc/song.mp3")
        try await cache.complete(url).value
        let exported = try await cache.export(url, to: file("song"))
        try expect(exported)
        let refused = await #expect(throws: CacheError.self) { try await cache.importFile(exported, for: url) }
        #expect(refused?.code == .unsupported)
        stage.origin.setDown(true)
        #expect(try await stage.read("/enc/song.mp3", from: cache) == Self.length)
        await cache.close()
    }

    @Test func `what is stored is verified and compared with the origin as it was sent`() async throws {
        let cache = try open()
        let resource = try cache.resource(for: put("/enc/song.mp3"))
        try await resource.prefetch(.whole).value
        let verification = try await resource.verify()
        #expect(verification.verified == Self.length && verification.damaged.isEmpty)
        let comparison = try await resource.compareWithOrigin()
        #expect(comparison.isSame && comparison.compared == Self.length)
        await cache.close()
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed])
    func `the kernel is given a plain body to send, and never one with a transform`(kind: BlockIntegrity) async throws {
        let cache = try open(kind)
        for (url, isPlain) in [(put("/enc/a.mp3"), false), (put("/b.mp3"), true)] {
            let resource = try cache.resource(for: url)
            try await resource.prefetch(.whole).value
            let handle = resource.makeHandle(in: .from(0))
            guard case .lease(let lease) = handle.step(limit: 1 << 20, wake: {}) else {
                Issue.record("it is stored")
                continue
            }
            #expect((lease.descriptor != nil) == (isPlain && kind == .hashed))
            if !isPlain { #expect(!lease.isResident) }
            handle.leave()
        }
        await cache.close()
    }

    @Test func `fetching ahead transforms nothing and serves nobody`() async throws {
        let counted = Counted()
        let cache = try open(.hashed, counted)
        let url = put("/enc/song.mp3")
        try await cache.prefetch(url, .bytes(300_000)).value
        try await cache.complete(url).value
        try await cache.pin(url)
        #expect(counted.bytes.withLock(\.self) == 0)
        #expect(cache.statistics.served == 0)
        #expect(stage.origin.bodyBytes == Self.length)
        #expect(try await stage.read("/enc/song.mp3", from: cache) == Self.length)
        #expect(counted.bytes.withLock(\.self) == Int(Self.length))
        await cache.close()
    }

    @Test func `the head of an encrypted file is found in the decrypted container`() async throws {
        // A tag of half the file, then 128 kbit/s.
        let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0x40, 0, 0] + [UInt8](repeating: 1, count: 1 << 20)
        let file = tag + [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 2, count: 3 << 20)
        let wanted = Int64(tag.count) + 100_000 + ContainerHead.slack + 160
        var sent = file
        Self.keystream.apply(to: &sent, at: 0)
        stage.origin.put(.init(literal: sent), at: "/enc/song.mp3")
        let cache = try open()
        let prefetch = try cache.prefetch(stage.url("/enc/song.mp3"))
        try await prefetch.value
        #expect(prefetch.progress.isComplete && prefetch.progress.stored == wanted)
        #expect(cache.statistics.served == 0)
        await cache.close()
    }

    @Test
    func
        `a page in the place of encrypted media is not stored, media whose decrypted bytes look like one are, inv20`()
        async throws
    {
        let page = Array("<!doctype html><html><body>Please log in</body></html>".utf8)
        var encrypted = page + [UInt8](repeating: 0x20, count: 100_000)
        Self.keystream.apply(to: &encrypted, at: 0)
        stage.origin.put(.init(literal: page), at: "/enc/page.mp3")
        stage.origin.put(.init(literal: encrypted), at: "/enc/song.mp3")
        let cache = try open()
        for (path, isStored) in [("/enc/page.mp3", false), ("/enc/song.mp3", true)] {
            let resource = try cache.resource(for: stage.url(path))
            var bytes: [UInt8] = []
            for try await chunk in resource.bytes() { bytes += chunk.bytes }
            if isStored { #expect(bytes.starts(with: page)) }
            // It returns when all is stored, and tells where nothing can be.
            if isStored {
                try await resource.prefetch(.whole).value
            } else {
                let refused = await #expect(throws: CacheError.self) { try await resource.prefetch(.whole).value }
                #expect(refused?.code == .store)
            }
            #expect((try await resource.storedEntry() != nil) == isStored)
        }
        await cache.close()
    }

    @Test(arguments: [BlockIntegrity.hashed, .sealed])
    func `a song in AES counter mode plays, and plays again without its origin`(kind: BlockIntegrity) async throws {
        // The counter's last 32 bits are about to carry.
        let counter = [UInt8](repeating: 0x11, count: 11) + [0, 0xFF, 0xFF, 0xFF, 0xF0]
        let aes = CounterMode(aesKey: Array(0..<16), initialCounter: counter)
        stage.origin.put(.init(content, before: aes), at: "/enc/song.mp3")
        for isAgain in [false, true] {
            let cache = try open(kind, aes)
            stage.origin.setDown(isAgain)
            #expect(try await stage.read("/enc/song.mp3", from: cache) == Self.length)
            #expect(try await stage.read("/enc/song.mp3", ByteRange(123_457, 200_002), from: cache) == 76_545)
            await cache.close()
        }
    }

    @Test func `a transform that adds or loses a byte stops the program`() async {
        await #expect(processExitsWith: .failure) {
            struct Short: ContentTransform {
                func apply(to bytes: inout [UInt8], at offset: Int64) { bytes.removeLast() }
            }
            let stage = Stage()
            stage.put("/a.mp3", length: 1000)
            var configuration = MediaCache.Configuration()
            configuration.contentTransform = { _, _ in Short() }
            let cache = MediaCache(store: nil, client: stage.client, configuration: configuration)
            try await stage.read("/a.mp3", from: cache)
        }
    }
}
