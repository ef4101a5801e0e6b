#if Server
    import Foundation
    import RepriseLoopbackOrigin
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// `reprise export`, `import`, `verify --against-origin` and `repair`, by the real program, with a server and without.
    @Suite struct CopyTests {
        private static let length: Int64 = 1_000_001

        private struct Found: Decodable {
            var key: String?
            var path: String?
            var bytes: Int64?
            var stored: Int64?
            var isComplete: Bool?
            var isSame: Bool?
            var differing: [Piece]?
            var repaired: [Repaired]?
            var removed: [String]?
            struct Piece: Decodable, Equatable { var start, end: Int64 }
            struct Repaired: Decodable { var droppedBlocks: Int64 }
        }

        private struct Bench {
            let directory: WorkDirectory
            let options: [String]
            var store: String { directory.path + "/store" }

            init(isSealed: Bool) throws {
                directory = try WorkDirectory()
                let key = directory.path + "/key"
                try Data(String(repeating: "a1", count: 32).utf8).write(to: URL(fileURLWithPath: key))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
                options = isSealed ? ["--key-file", key] : []
            }

            func run(_ command: String, _ arguments: String..., status: Int32 = 0) throws -> Program.Finished {
                let all = [command, "--directory", store] + options + arguments
                let finished = try Program.run(all)
                #expect(finished.status == status, "\(all): \(finished.errors)\(finished.text)")
                return finished
            }

            func json(_ command: String, _ arguments: String..., status: Int32 = 0) throws -> Found {
                let all = [command, "--directory", store, "--json"] + options + arguments
                let finished = try Program.run(all)
                #expect(finished.status == status, "\(all): \(finished.errors)\(finished.text)")
                return try JSONDecoder().decode(Found.self, from: Data(finished.bytes))
            }

            func file(_ name: String) -> String { directory.path + "/" + name }

            /// Flips a byte of the one entry's body.
            func damage(at offset: Int) throws {
                let files = FileManager.default
                let found = try #require(files.enumerator(atPath: store)).compactMap { $0 as? String }
                let body = try #require(found.first { $0.contains("/body.") })
                let handle = try #require(FileHandle(forUpdatingAtPath: store + "/" + body))
                try handle.seek(toOffset: UInt64(offset))
                let byte = try #require(try handle.read(upToCount: 1)?.first)
                try handle.seek(toOffset: UInt64(offset))
                try handle.write(contentsOf: [byte ^ 1])
                try handle.close()
            }
        }

        @Test(arguments: [false, true], [false, true])
        func `in and out by the tool, with a server and without, plain and sealed, inv05`(
            isSealed: Bool, isServed: Bool
        ) async throws {
            let origin = ScriptedOrigin()
            let content = PositionCodedContent(length: Self.length)
            origin.put(.init(content), at: "/song.mp3")
            let upstream = try await LoopbackOrigin.start(origin)
            let outcome = await Outcome {
                let bench = try Bench(isSealed: isSealed)
                let server = isServed ? try Program.Server(directory: bench.store, arguments: bench.options) : nil
                let work = await Outcome { try goThrough(bench, upstream.url("/song.mp3"), origin, content) }
                server?.stop()
                try work.get()
            }
            await upstream.stop()
            try outcome.get()
        }

        private func goThrough(
            _ bench: Bench, _ url: String, _ origin: ScriptedOrigin, _ content: PositionCodedContent
        ) throws {
            // Out: not before all is there.
            if !FileManager.default.fileExists(atPath: bench.store) { _ = try bench.run("gc") }
            _ = try bench.run("export", url, bench.file("song"), status: 66)
            _ = try bench.run("fetch", url, "--range", "0-99999")
            #expect(try bench.run("export", url, bench.file("song"), status: 66).errors.contains("not stored"))
            _ = try bench.run("fetch", url)
            let copy = try bench.json("export", url, bench.file("song"))
            #expect(copy.path == bench.file("song.mp3") && copy.bytes == Self.length)
            try expect(bench.file("song.mp3"), is: content)
            _ = try bench.run("export", url, bench.file("none/song.mp3"), status: 74)

            // Compared with the origin: the same, then not.
            #expect(try bench.json("verify", "--against-origin").isSame == true)
            let other = PositionCodedContent(length: Self.length, generation: 2)
            origin.put(.init(other), at: "/song.mp3")
            let finding = try bench.json("verify", "--against-origin", url, status: 1)
            #expect(finding.isSame == false && finding.differing?.isEmpty == false)
            _ = try bench.run("verify")

            // In: what was uploaded takes its place.
            let bytes = Data(other.bytes(in: ByteRange(0, Self.length)))
            try bytes.write(to: URL(fileURLWithPath: bench.file("upload.mp3")))
            let report = try bench.json("import", bench.file("upload.mp3"), url)
            #expect(report.isComplete == true && report.stored == Self.length)
            _ = try bench.run("import", bench.file("none.mp3"), url, status: 66)
            _ = try bench.run("import", bench.file("upload.mp3"), url, "--type", "nonsense", status: 64)
            #expect(try bench.json("verify", "--against-origin", url).isSame == true)

            // Damaged, refused, repaired, fetched again.
            try bench.damage(at: 500_000)
            _ = try bench.run("export", url, bench.file("bad.mp3"), status: 74)
            #expect(!FileManager.default.fileExists(atPath: bench.file("bad.mp3")))
            let repair = try bench.json("repair")
            #expect(repair.repaired?.map(\.droppedBlocks) == [1] && repair.removed == [])
            #expect(try bench.run("repair", url).text.contains("nothing to repair"))
            _ = try bench.run("export", url, bench.file("bad.mp3"), status: 66)
            let sent = origin.bodyBytes
            _ = try bench.run("fetch", url)
            // The block, and an overlap: no validator is known of what was imported.
            #expect(origin.bodyBytes - sent <= 32_768 + 4096)
            _ = try bench.run("export", url, bench.file("out"))
            try expect(bench.file("out.mp3"), is: other)
        }

        private func expect(_ path: String, is content: PositionCodedContent) throws {
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            #expect(Int64(bytes.count) == content.length && content.firstMismatch(bytes, at: 0) == nil)
        }
    }
#endif
