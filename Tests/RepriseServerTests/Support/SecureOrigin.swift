#if Server
    import Foundation
    import RepriseTesting

    /// An HTTPS server of OpenSSL's with a certificate nobody has signed but itself.
    final class SecureOrigin: Sendable {
        let port: Int
        /// Directory with `certificate.pem`.
        let directory: TemporaryDirectory
        private let stopServer: @Sendable () -> Void

        /// Makes a certificate and listens with it.
        /// - Parameters:
        ///   - name: Whom it is for.
        ///   - days: For how long it is good from now on; one that has expired by less than 0.
        ///   - options: More for the server.
        init(name: String = "IP:127.0.0.1", days: Int = 2, options: [String] = []) throws {
            directory = TemporaryDirectory()
            let (certificate, key) = (directory.path + "/certificate.pem", directory.path + "/key.pem")
            let request = directory.path + "/request.pem"
            try SecureOrigin.run(
                "openssl",
                [
                    "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=origin", "-addext", "subjectAltName=\(name)", "-keyout", key, "-out", request,
                ])
            try SecureOrigin.run(
                "openssl",
                [
                    "x509", "-req", "-in", request, "-signkey", key, "-days", "\(days)", "-copy_extensions", "copy",
                    "-out", certificate,
                ])
            let server = Process()
            server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            // A limit of its own, should the test die before it can stop it.
            let limited = ["timeout", "120", "openssl", "s_server", "-accept", "127.0.0.1:0", "-www"]
            server.arguments = limited + ["-cert", certificate, "-key", key] + options
            let output = Pipe()
            server.standardInput = FileHandle.nullDevice
            server.standardOutput = output
            server.standardError = FileHandle.nullDevice
            try server.run()
            stopServer = { server.terminate() }
            var text = ""
            while true {
                let data = output.fileHandleForReading.availableData
                text += String(decoding: data, as: UTF8.self)
                let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") && text.hasSuffix("\n") }
                if let port = line.flatMap({ Int($0.split(separator: ":").last ?? "") }) {
                    self.port = port
                    break
                }
                if data.isEmpty {
                    throw RawClientError(description: "openssl s_server did not start; apt-get install openssl")
                }
            }
        }

        func stop() { stopServer() }

        /// Runs a program of the system and answers what it printed.
        @discardableResult
        static func run(_ program: String, _ arguments: [String]) throws -> String {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["timeout", "-s", "KILL", "60", program] + arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            process.standardInput = FileHandle.nullDevice
            try process.run()
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw RawClientError(
                    description: "\(program) failed with \(process.terminationStatus); apt-get install \(program)")
            }
            return String(decoding: data, as: UTF8.self)
        }
    }
#endif
