import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Copies of entries in files of somebody else's.
@Suite struct ExportTests {
    static let content = PositionCodedContent(length: 90, generation: 1)

    private func export(_ key: String, to path: String, _ store: Store) throws -> EntryExport {
        var copy = try #require(try store.beginExport(key: key, to: path))
        do {
            while try copy.advance() {}
            try copy.finish()
        } catch {
            try copy.abandon()
            throw error
        }
        return copy
    }

    private func fixture(_ kind: StoreFixture.Kind, clones: Bool = false, _ ranges: [ByteRange]? = nil) throws -> (
        StoreFixture, Store
    ) {
        let fixture = StoreFixture(kind)
        let store = try fixture.open()
        try StoreFixture.add("a", Self.content, ranges, to: store)
        try fixture.memory.makeDirectory("/out")
        fixture.memory.setClones(clones)
        return (fixture, store)
    }

    @Test(arguments: StoreFixture.Kind.allCases, [true, false])
    func `a copy has every byte, takes the old one's place in one step, and is no link`(
        kind: StoreFixture.Kind, clones: Bool
    ) throws {
        let (fixture, store) = try fixture(kind, clones: clones)
        try fixture.memory.replace("/out/song.mp3", with: [1, 2, 3])
        fixture.files.setRule { operation, path, _ in
            // Until it is whole nobody sees it.
            operation == .rename && path.hasPrefix("/out/.")
                ? nil : operation == .link ? .error(FileError.noSpace) : nil
        }
        let copy = try export("a", to: "/out/song.mp3", store)
        #expect(copy.path == "/out/song.mp3" && copy.length == 90)
        #expect(copy.sharesRoom == (clones && kind == .plain))
        #expect(try Self.content.firstMismatch(fixture.memory.contents("/out/song.mp3"), at: 0) == nil)
        #expect(try fixture.memory.contents("/out/song.mp3").count == 90)
        #expect(fixture.memory.paths.filter { $0.hasPrefix("/out") } == ["/out/song.mp3"])
        #expect(try fixture.files.open("/out/song.mp3", .read).status().links == 1)
        try fixture.memory.flip("/out/song.mp3", at: 50)
        let entry = try #require(try store.open(key: "a"))
        #expect(
            try StoreFixture.served(entry.generation, Self.content).count == 90, "what is done to it is its owner's")
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `what is not all there is refused, and said`(kind: StoreFixture.Kind) throws {
        let (fixture, store) = try fixture(kind, [ByteRange(0, 20), ByteRange(32, 80)])
        let error = #expect(throws: StoreError.self) { try export("a", to: "/out/song.mp3", store) }
        #expect(error?.code == .incomplete)
        #expect(error?.message.contains("22 of 90") == true, "\(String(describing: error))")
        #expect(error?.message.contains(ByteRange(20, 32).description) == true)
        #expect(try store.beginExport(key: "b", to: "/out/b") == nil)
        #expect(fixture.memory.paths.allSatisfy { !$0.hasPrefix("/out") })
    }

    @Test(arguments: StoreFixture.Kind.allCases, [true, false])
    func `inv05 a damaged block is never handed on`(kind: StoreFixture.Kind, clones: Bool) throws {
        let (fixture, store) = try fixture(kind, clones: clones)
        let body = try #require(fixture.memory.paths.first { $0.contains("/body.1") })
        try fixture.memory.flip(body, at: 40)
        let before = fixture.memory.paths
        let error = #expect(throws: StoreError.self) { try export("a", to: "/out/song.mp3", store) }
        #expect(error?.code == .damaged)
        #expect(fixture.memory.paths == before, "nothing is left, nothing was changed")
    }

    @Test(arguments: StoreFixture.Kind.allCases, [true, false])
    func `inv22 whatever call fails, the file is whole or not there, and the store as it was`(
        kind: StoreFixture.Kind, clones: Bool
    ) throws {
        for operation in FaultyVolume.Operation.allCases where operation != .removeFile {
            for failing in 1...40 {
                let (fixture, store) = try fixture(kind, clones: clones)
                try fixture.memory.replace("/out/song.mp3", with: [1, 2, 3])
                let before = fixture.memory.paths
                fixture.files.resetCounts()
                fixture.files.setRule { called, _, number in
                    called == operation && number == failing ? .short(count: 3, code: FileError.noSpace) : nil
                }
                do {
                    _ = try export("a", to: "/out/song.mp3", store)
                    #expect(try fixture.memory.contents("/out/song.mp3") == Self.content.bytes(in: ByteRange(0, 90)))
                } catch let error as StoreError {
                    #expect(error.code == .full, "\(operation) \(failing): \(error)")
                    #expect(try fixture.memory.contents("/out/song.mp3") == [1, 2, 3])
                }
                let isReached = fixture.files.count(of: operation) >= failing
                fixture.files.setRule(nil)
                #expect(fixture.memory.paths == before, "\(operation) \(failing)")
                if !isReached { break }
            }
        }
    }

    @Test func `a name has the right extension, and a directory gets a name as in the URL`() {
        func path(
            _ given: String, isDirectory: Bool = false, url: String = "https://a.test/x/My%20Song.mp3?t=1",
            type: String = "audio/mpeg", fileExtension: String = "mp3"
        ) -> String {
            var info = StoreFixture.info("k", Self.content)
            info.url = url
            info.fields["Content-Type"] = type
            info.fileExtension = fileExtension
            return ExportDestination(given, isDirectory: isDirectory, of: info, mark: "1").path
        }
        #expect(path("/out/song") == "/out/song.mp3")
        #expect(path("/out/song.bin") == "/out/song.bin", "what is named is kept")
        #expect(path("/out/.song") == "/out/.song.mp3")
        #expect(path("/out/", isDirectory: true) == "/out/My Song.mp3")
        #expect(path("/", isDirectory: true) == "/My Song.mp3")
        #expect(
            path(
                "/out", isDirectory: true, url: "https://a.test/stream.php", type: "video/x-matroska",
                fileExtension: "php") == "/out/stream.mkv")
        #expect(
            path("/out", isDirectory: true, url: "https://a.test/", type: "x", fileExtension: "bin") == "/out/media")
        #expect(path("/out", isDirectory: true, url: "https://a.test/..%2F..%2fetc%00") == "/out/_.._etc_.mp3")
        #expect(path("/out", isDirectory: true, url: "https://a.test/50%") == "/out/50%.mp3")
    }
}
