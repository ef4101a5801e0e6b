#if Server
    import Foundation

    /// What a program printed, and how it ended.
    struct CommandResult: Sendable {
        var status: Int32
        var output: Data
        var errors: String
    }

    /// A program of the system under way.
    struct Command: Sendable {
        /// A program is not installed: a test fails rather than pass without having looked.
        struct Missing: Error, CustomStringConvertible {
            var program: String
            var package: String
            var description: String { "\(program) is missing; install it with: apt-get install \(package)" }
        }

        private static let packages = [
            "ffmpeg": "ffmpeg", "ffprobe": "ffmpeg", "mpv": "mpv", "gst-launch-1.0": "gstreamer1.0-tools",
            "cvlc": "vlc-bin vlc-plugin-base", "curl": "curl", "setpriv": "util-linux", "env": "coreutils",
            "slowhttptest": "slowhttptest", "varnishtest": "varnish", "haproxy": "haproxy",
        ]

        private let process = Process()
        private let output: String
        private var errors: String { output + ".errors" }
        /// Its status, when it ends.
        private let ends: AsyncStream<Int32>

        /// Runs a program in `directory` to its end. One that hangs is killed after a minute, with what it started.
        static func run(_ program: String, _ arguments: [String], in directory: String) async throws -> CommandResult {
            try await Command(program, arguments, in: directory).result()
        }

        /// Starts a program in `directory`. After `seconds` it is killed, with what it started.
        init(_ program: String, _ arguments: [String], in directory: String, seconds: Int = 60) throws {
            output = directory + "/stdout-\(UInt64.random(in: 0 ... .max))"
            let (ends, ended) = AsyncStream.makeStream(of: Int32.self)
            self.ends = ends
            // Threads of the test block signals, and what it starts would block them too.
            process.executableURL = try Self.path(of: "env")
            process.arguments =
                ["--default-signal", "timeout", "-s", "KILL", "\(seconds)", try Self.path(of: program).path] + arguments
            process.currentDirectoryURL = URL(fileURLWithPath: directory)
            process.standardInput = FileHandle.nullDevice
            // Files, not pipes: nobody has to read along.
            for file in [output, errors] { try Data().write(to: URL(fileURLWithPath: file)) }
            process.standardOutput = FileHandle(forWritingAtPath: output)
            process.standardError = FileHandle(forWritingAtPath: errors)
            process.terminationHandler = {
                ended.yield($0.terminationStatus)
                ended.finish()
            }
            try process.run()
        }

        /// Ends it as Ctrl-C does.
        func interrupt() { process.interrupt() }

        /// What it printed, once it has ended; to be asked for once.
        func result() async throws -> CommandResult {
            var status: Int32 = -1
            for await ended in ends { status = ended }
            defer { for file in [output, errors] { try? FileManager.default.removeItem(atPath: file) } }
            return CommandResult(
                status: status, output: try Data(contentsOf: URL(fileURLWithPath: output)),
                errors: try String(contentsOfFile: errors, encoding: .utf8))
        }

        static func path(of program: String) throws -> URL {
            let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
            for directory in directories {
                let candidate = "\(directory)/\(program)"
                if FileManager.default.isExecutableFile(atPath: candidate) { return URL(fileURLWithPath: candidate) }
            }
            throw Missing(program: program, package: packages[program] ?? program)
        }
    }

    /// A directory any user may write to, as a player that refuses root needs; it goes with the last reference.
    final class WorkDirectory: Sendable {
        let path: String

        init() throws {
            path = FileManager.default.temporaryDirectory.path + "/reprise-play-\(UInt64.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }
#endif
