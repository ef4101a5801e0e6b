#if Server
    import Foundation

    /// What a program printed, and how it ended.
    struct CommandResult: Sendable {
        var status: Int32
        var output: Data
        var errors: String
    }

    /// A program of the system, run to its end.
    struct Command: Sendable {
        /// A program is not installed: a test fails rather than pass without having looked.
        struct Missing: Error, CustomStringConvertible {
            var program: String
            var package: String
            var description: String { "\(program) is missing; install it with: apt-get install \(package)" }
        }

        private static let packages = [
            "ffmpeg": "ffmpeg", "ffprobe": "ffmpeg", "mpv": "mpv", "gst-launch-1.0": "gstreamer1.0-tools",
            "cvlc": "vlc-bin vlc-plugin-base", "curl": "curl", "setpriv": "util-linux", "timeout": "coreutils",
            "slowhttptest": "slowhttptest", "varnishtest": "varnish", "haproxy": "haproxy",
        ]

        /// Runs a program in `directory`. One that hangs is killed after a minute, with what it started.
        static func run(_ program: String, _ arguments: [String], in directory: String) async throws -> CommandResult {
            let output = directory + "/stdout-\(UInt64.random(in: 0 ... .max))"
            let errors = output + ".errors"
            defer {
                try? FileManager.default.removeItem(atPath: output)
                try? FileManager.default.removeItem(atPath: errors)
            }
            // Files, not pipes: nobody has to read along.
            for file in [output, errors] { try Data().write(to: URL(fileURLWithPath: file)) }
            let process = Process()
            process.executableURL = try path(of: "timeout")
            process.arguments = ["-s", "KILL", "60", try path(of: program).path] + arguments
            process.currentDirectoryURL = URL(fileURLWithPath: directory)
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle(forWritingAtPath: output)
            process.standardError = FileHandle(forWritingAtPath: errors)
            let status = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int32, any Error>) in
                process.terminationHandler = { done.resume(returning: $0.terminationStatus) }
                do { try process.run() } catch { done.resume(throwing: error) }
            }
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
