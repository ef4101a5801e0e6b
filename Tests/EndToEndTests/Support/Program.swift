#if Server
    import Foundation

    /// The built program, and others, run to their end.
    enum Program {
        static var reprise: URL {
            // The test bundle and the program are products of one build and lie in one folder.
            let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
            return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("reprise")
        }

        struct Finished {
            var status: Int32
            var bytes: [UInt8]
            var errors: String
            var text: String { String(decoding: bytes, as: UTF8.self) }
        }

        static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Finished {
            try run(reprise.path, arguments, environment: environment)
        }

        static func run(
            _ path: String, _ arguments: [String], environment: [String: String] = [:]
        ) throws -> Finished {
            let process = Process()
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = arguments
            let output = Pipe()
            // Errors go to a file: two pipes would have to be read at once.
            let errors = FileManager.default.temporaryDirectory.appendingPathComponent(
                "reprise-errors-\(UInt64.random(in: 0 ... .max))")
            _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
            defer { try? FileManager.default.removeItem(at: errors) }
            process.standardOutput = output
            process.standardError = try Foundation.FileHandle(forWritingTo: errors)
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return Finished(
                status: process.terminationStatus, bytes: [UInt8](data),
                errors: try String(contentsOf: errors, encoding: .utf8))
        }

        /// A running `reprise serve`.
        final class Server {
            private let process = Process()
            let port: Int

            var processIdentifier: Int32 { process.processIdentifier }

            init(
                directory: String, token: Bool = false, port: Int = 0, arguments: [String] = [],
                environment: [String: String] = [:], errors: String? = nil
            ) throws {
                process.executableURL = Program.reprise
                process.arguments =
                    ["serve", "--port", "\(port)", "--directory", directory] + (token ? [] : ["--no-token"]) + arguments
                process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
                let output = Pipe()
                process.standardOutput = output
                if let errors {
                    _ = FileManager.default.createFile(atPath: errors, contents: nil)
                    process.standardError = try Foundation.FileHandle(forWritingTo: URL(fileURLWithPath: errors))
                }
                try process.run()
                self.port = try Server.port(announcedOn: output.fileHandleForReading)
            }

            /// Asks it to stop and waits until it has; its exit status.
            @discardableResult
            func stop() -> Int32 {
                process.terminate()
                process.waitUntilExit()
                return process.terminationStatus
            }

            func waitUntilExit() { process.waitUntilExit() }

            private static func port(announcedOn output: Foundation.FileHandle) throws -> Int {
                var text = ""
                while true {
                    let data = output.availableData
                    if data.isEmpty { throw NotReady(text: text) }
                    text += String(decoding: data, as: UTF8.self)
                    guard text.contains("ready\n"), let line = text.split(separator: "\n").first,
                        let port = line.split(separator: ":").last.flatMap({ Int($0) })
                    else { continue }
                    return port
                }
            }
        }

        struct NotReady: Error { let text: String }
    }
#endif
