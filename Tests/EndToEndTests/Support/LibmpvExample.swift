#if Server
    import Foundation
    import Testing

    /// The program of `Examples/mpv`, run without screen and loudspeaker; `scripts/test` builds it.
    final class LibmpvExample {
        private let process = Process()
        private let ended: AsyncStream<Int32>
        private let directory: WorkDirectory
        let printed: Output
        let errors: Output
        /// The sound, as a file.
        let heard: Output

        /// What it has written so far.
        struct Output: Sendable {
            fileprivate let file: URL
            var text: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }
            var size: Int { (try? Data(contentsOf: file).count) ?? 0 }
        }

        /// What a play came to.
        struct Played {
            var sound: Playback
            var printed: String
        }

        /// Plays to the end.
        static func play(_ url: String, _ arguments: [String] = [], in directory: WorkDirectory) async throws -> Played
        {
            let running = try LibmpvExample(url, arguments, directory)
            let status = await running.status()
            guard status == 0, let sound = try? Data(contentsOf: running.heard.file) else {
                throw PlayerFailure("the example ended with \(status): \(running.errors.text)")
            }
            return Played(sound: Playback(sound), printed: running.printed.text)
        }

        /// Begins to play.
        static func start(_ url: String, in directory: WorkDirectory) throws -> LibmpvExample {
            try LibmpvExample(url, [], directory)
        }

        private init(_ url: String, _ arguments: [String], _ directory: WorkDirectory) throws {
            let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardizedFileURL
            let program = root.appendingPathComponent("Examples/mpv/.build/debug/MpvPlayer")
            guard FileManager.default.isExecutableFile(atPath: program.path) else {
                throw PlayerFailure("Examples/mpv is not built: scripts/build --package-path Examples/mpv")
            }
            self.directory = directory
            let name = directory.path + "/play-\(UInt64.random(in: 0 ... .max))"
            printed = Output(file: URL(fileURLWithPath: name))
            errors = Output(file: URL(fileURLWithPath: name + ".errors"))
            heard = Output(file: URL(fileURLWithPath: name + ".wav"))
            for output in [printed, errors] { try Data().write(to: output.file) }
            process.executableURL = program
            let sound = ["--set", "ao=pcm", "--set", "ao-pcm-file=\(heard.file.path)"]
            process.arguments = ["--null", "--directory", directory.path + "/store"] + sound + arguments + [url]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = try FileHandle(forWritingTo: printed.file)
            process.standardError = try FileHandle(forWritingTo: errors.file)
            let (statuses, status) = AsyncStream.makeStream(of: Int32.self)
            process.terminationHandler = { status.yield($0.terminationStatus) }
            ended = statuses
            try process.run()
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        /// Asks it to stop, as a person at the terminal does.
        func interrupt() { process.interrupt() }

        /// Its exit status, once it has ended; -1 where the test was cancelled before. To be asked for once.
        func status() async -> Int32 { await ended.first { _ in true } ?? -1 }
    }
#endif
