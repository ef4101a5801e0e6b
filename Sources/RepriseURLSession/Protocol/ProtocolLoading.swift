import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request being answered from the cache: pulls chunk after chunk, the next when the last was told.
final class ProtocolLoading: Sendable {
    private let resource: MediaResource
    private let asked: ConditionalRequest
    private let url: URL
    private let client: ProtocolClient
    private let task = Lock<Task<Void, Never>?>(nil)

    /// Most bytes of one chunk.
    static let chunkLimit = 256 * 1024

    init(_ resource: MediaResource, _ asked: ConditionalRequest, url: URL, client: ProtocolClient) {
        self.resource = resource
        self.asked = asked
        self.url = url
        self.client = client
    }

    func start() {
        let loading = Task { [self] in await run() }
        task.withLock { $0 = loading }
    }

    func stop() {
        client.stop()
        task.withLock { $0 }?.cancel()
    }

    private func run() async {
        var isBegun = false
        do {
            try await answer(&isBegun)
        } catch {
            let error = error as? CacheError ?? CacheError(.closed, "the request was stopped")
            // Behind a head there is no other answer.
            isBegun ? await breakOff(error) : await fail(error)
        }
    }

    /// - Parameter isBegun: Becomes true once the head is told.
    private func answer(_ isBegun: inout Bool) async throws {
        let presumed = asked.presumedRange
        var reader = resource.reader(in: presumed)
        let answer = asked.answer(try await reader.info())
        guard await tell(status: answer.status, answer.fields) else { return }
        isBegun = true
        if let range = answer.range {
            // The same reader: another one could be given another version than the head is of.
            if range.lowerBound != presumed.lowerBound || range.upperBound > presumed.upperBound {
                reader.move(to: range)
            }
            try await send(range, from: &reader)
        }
        _ = await client.tell { owner, client in client.urlProtocolDidFinishLoading(owner) }
    }

    private func send(_ range: ByteRange, from reader: inout CacheReader) async throws {
        var position = range.lowerBound
        var collected = Data()
        while position < range.upperBound {
            let limit = Int(min(Int64(ProtocolLoading.chunkLimit), range.upperBound - position))
            guard let chunk = try await reader.next(limit: limit) else {
                guard range.upperBound == .max else {
                    throw CacheError(.originInvalid, "the resource ended at \(position) of \(range.upperBound)")
                }
                break
            }
            position += Int64(chunk.bytes.count)
            if client.takesOnePiece {
                collected += chunk.bytes
            } else {
                try await tell(Data(chunk.bytes))
            }
        }
        if !collected.isEmpty { try await tell(collected) }
    }

    private func tell(_ data: Data) async throws {
        guard await client.tell({ owner, client in client.urlProtocol(owner, didLoad: data) }) else {
            throw CancellationError()
        }
    }

    private func tell(status: Int, _ fields: HTTPFields) async -> Bool {
        var lines: [String: String] = [:]
        for line in fields.lines { lines[line.name] = fields[line.name] }
        let response = HTTPURLResponse(
            url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: lines)
        guard let response else {
            await fail(CacheError(.originInvalid, "the answer cannot be told as one of HTTP"))
            return false
        }
        return await client.tell { owner, client in
            client.urlProtocol(owner, didReceive: response, cacheStoragePolicy: .notAllowed)
        }
    }

    private func fail(_ error: CacheError) async {
        switch error.code {
        case .originRefused(let status) where (400..<600).contains(status):
            await refuse(status, error.retryAfter.map { ["Retry-After": "\($0)"] } ?? [:])
        case .rangeNotSatisfiable(length: 0) where asked.ranges.isEmpty: await refuse(200, [:])
        case .rangeNotSatisfiable(let length):
            await refuse(416, length.map { ["Content-Range": ContentRange.unsatisfied(total: $0).field] } ?? [:])
        default: await breakOff(error)
        }
    }

    private func breakOff(_ error: CacheError) async {
        let url = url
        _ = await client.tell { owner, client in client.urlProtocol(owner, didFailWithError: NSError(error, url)) }
    }

    /// An answer without a body.
    private func refuse(_ status: Int, _ fields: HTTPFields) async {
        var fields = fields
        fields["Content-Length"] = "0"
        guard await tell(status: status, fields) else { return }
        _ = await client.tell { owner, client in client.urlProtocolDidFinishLoading(owner) }
    }
}
