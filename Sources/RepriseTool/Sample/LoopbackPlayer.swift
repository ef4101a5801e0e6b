#if Server
    import AsyncHTTPClient
    import NIOCore
    import NIOHTTP1
    import ReprisePlatform

    /// Plays an address as a player does: one open-ended range, dropped when it has enough.
    enum LoopbackPlayer {
        struct Answer {
            var bytes: [UInt8]
            /// When the first body byte came, on the monotonic clock, in nanoseconds.
            var firstByte: Int64
        }

        static func play(_ address: String, from offset: Int64, limit: Int64) async throws -> Answer {
            var request = HTTPClientRequest(url: address)
            request.headers.add(name: "Range", value: "bytes=\(offset)-")
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
            guard response.status == .partialContent else {
                throw Failure(69, "the proxy answered \(response.status.code)")
            }
            var answer = Answer(bytes: [], firstByte: 0)
            for try await part in response.body {
                if answer.firstByte == 0 { answer.firstByte = SystemCalls.monotonicNanoseconds() }
                answer.bytes += part.readableBytesView
                if Int64(answer.bytes.count) >= limit { break }
            }
            answer.bytes.removeLast(max(0, answer.bytes.count - Int(limit)))
            return answer
        }
    }
#endif
