#if Server
    import AsyncHTTPClient
    import NIOCore
    import NIOHTTP1
    import RepriseProxy

    /// Asks a running server.
    struct ControlClient: Sendable {
        /// Largest answer that is taken: a list of some hundred thousand entries.
        private static let answerLimit = 256 << 20

        let file: ControlFile

        func send(_ request: AdminRequest, seconds: Int64 = 60) async throws -> AdminAnswer {
            let line = request.line
            let base: String
            if let socket = file.socket {
                base = "http+unix://" + PercentCoding.encoded(socket)
            } else {
                base = "http://127.0.0.1:\(file.port ?? 0)"
            }
            var message = HTTPClientRequest(url: base + line.target)
            message.method = HTTPMethod(rawValue: line.method)
            message.headers.add(name: "Authorization", value: "Bearer " + file.secret)
            if request.isLong { return try await ControlClient.sendLong(message) }
            return try await ControlClient.execute(message, by: .shared, timeout: .seconds(seconds))
        }

        /// By a client that waits as long as the server works: the shared one gives up a connection without bytes.
        private static func sendLong(_ message: HTTPClientRequest) async throws -> AdminAnswer {
            var configuration = HTTPClient.Configuration()
            configuration.timeout.read = nil
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            let answer: AdminAnswer
            do { answer = try await execute(message, by: client, timeout: .hours(24)) } catch {
                try await client.shutdown()
                throw error
            }
            try await client.shutdown()
            return answer
        }

        private static func execute(
            _ message: HTTPClientRequest, by client: HTTPClient, timeout: TimeAmount
        ) async throws -> AdminAnswer {
            let response = try await client.execute(message, timeout: timeout)
            let body = try await response.body.collect(upTo: ControlClient.answerLimit)
            return AdminAnswer(
                status: Int(response.status.code), contentType: response.headers.first(name: "Content-Type") ?? "",
                body: Array(body.readableBytesView))
        }
    }
#endif
