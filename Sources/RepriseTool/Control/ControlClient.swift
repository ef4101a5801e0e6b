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
            let response = try await HTTPClient.shared.execute(message, timeout: .seconds(seconds))
            let body = try await response.body.collect(upTo: ControlClient.answerLimit)
            return AdminAnswer(
                status: Int(response.status.code), contentType: response.headers.first(name: "Content-Type") ?? "",
                body: Array(body.readableBytesView))
        }
    }
#endif
