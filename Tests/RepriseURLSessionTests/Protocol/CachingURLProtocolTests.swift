import Foundation
import RepriseCore
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import RepriseURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app's own URLSession over the cache, by `protocolClasses`, for real.
@Suite struct CachingURLProtocolTests {
    private let device: Device
    private let session: URLSession
    private let length: Int64 = 900_001
    private var content: PositionCodedContent { PositionCodedContent(length: length) }

    /// Keeps these tests' requests apart from those of tests that run beside them.
    private final class Ours: CachingURLProtocol {}

    init() throws {
        device = try Device()
        let base = device.server.base
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        Ours.register(device.cache, in: configuration) { request in
            request.url?.absoluteString.hasPrefix(base) == true && request.url?.path.hasPrefix("/plain") == false
        }
        session = URLSession(configuration: configuration)
        device.put("/a", length: length)
    }

    private func request(_ path: String, _ fields: [String: String] = [:], method: String = "GET") throws
        -> URLRequest
    {
        var request = URLRequest(url: try device.url(path))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private func load(_ path: String, _ fields: [String: String] = [:], method: String = "GET") async throws
        -> (bytes: [UInt8], response: HTTPURLResponse)
    {
        let (data, response) = try await session.data(for: request(path, fields, method: method))
        return ([UInt8](data), try #require(response as? HTTPURLResponse))
    }

    @Test func `what was loaded once never comes over the network again, inv10`() async throws {
        let first = try await load("/a")
        #expect(first.response.statusCode == 200)
        #expect(first.response.expectedContentLength == length)
        #expect(first.response.value(forHTTPHeaderField: "Content-Type") == "audio/mpeg")
        #expect(first.bytes.count == Int(length))
        #expect(content.firstMismatch(first.bytes, at: 0) == nil)
        device.origin.setDown(true)
        let second = try await load("/a")
        let isSame = second.bytes == first.bytes
        #expect(isSame)
        #expect(device.origin.bodyBytes == length)
    }

    @Test(
        arguments: [
            ("bytes=0-1", 0, 2), ("bytes=500000-", 500_000, 900_001), ("bytes=-7", 899_994, 900_001),
            ("bytes=900000-2000000", 900_000, 900_001), ("bytes=100-99999", 100, 100_000),
        ] as [(String, Int64, Int64)])
    func `a range is answered with 206 and the whole length, bug06 bug25 bug29`(
        field: String, start: Int64, end: Int64
    ) async throws {
        let (bytes, response) = try await load("/a", ["Range": field])
        #expect(response.statusCode == 206)
        #expect(response.value(forHTTPHeaderField: "Content-Range") == "bytes \(start)-\(end - 1)/900001")
        #expect(response.value(forHTTPHeaderField: "Content-Length") == "\(end - start)")
        #expect(bytes.count == Int(end - start))
        #expect(content.firstMismatch(bytes, at: start) == nil)
    }

    @Test func `a range past the end, several ranges and a failed If-Range get what HTTP says`() async throws {
        _ = try await load("/a")
        let past = try await load("/a", ["Range": "bytes=900001-"])
        #expect(past.response.statusCode == 416)
        #expect(past.response.value(forHTTPHeaderField: "Content-Range") == "bytes */900001")
        let several = try await load("/a", ["Range": "bytes=5-9,20-30"])
        #expect(several.response.statusCode == 200)
        #expect(several.bytes.count == Int(length))
        let failed = try await load("/a", ["Range": "bytes=5-9", "If-Range": "\"other\""])
        #expect(failed.response.statusCode == 200)
        #expect(failed.bytes.count == Int(length))
        #expect(content.firstMismatch(failed.bytes, at: 0) == nil)
        let tag = try #require(failed.response.value(forHTTPHeaderField: "ETag"))
        let unchanged = try await load("/a", ["If-None-Match": tag])
        #expect(unchanged.response.statusCode == 304)
        #expect(unchanged.bytes.isEmpty)
        #expect(device.origin.bodyBytes == length)
    }

    @Test func `HEAD tells what GET would, without a body`() async throws {
        let (bytes, response) = try await load("/a", method: "HEAD")
        #expect(response.statusCode == 200)
        #expect(response.value(forHTTPHeaderField: "Content-Length") == "900001")
        #expect(bytes.isEmpty)
    }

    @Test func `other methods and what the rule leaves go to the origin by themselves`() async throws {
        device.put("/plain/a", length: 1000)
        for _ in 0..<2 {
            #expect(try await load("/plain/a").bytes.count == 1000)
            #expect(try await load("/a", method: "DELETE").response.statusCode == 200)
        }
        #expect(device.origin.log.filter { $0.path == "/plain/a" }.count == 2)
        #expect(device.origin.log.filter { $0.method == "DELETE" }.count == 2)
        #expect(device.cache.statistics.originRequests == 0)
    }

    @Test func `an origin's refusal is an answer with its status, bug01 bug04`() async throws {
        device.put("/gone", length: 1000) { $0.status = 410 }
        #expect(try await load("/gone").response.statusCode == 410)
        #expect(try await load("/none").response.statusCode == 404)
    }

    @Test(arguments: [410, 416]) func `a refusal in the middle of a body is an error, and no second answer`(
        status: Int
    ) async throws {
        device.put("/part", length: 1_000_000)
        for try await _ in try device.cache.resource(for: device.url("/part")).bytes(in: ByteRange(0, 300_000)) {}
        device.origin.change("/part") { $0.behaviour.status = status }
        let error = await #expect(throws: (any Error).self) { try await load("/part") }
        #expect((error as? NSError)?.domain == NSURLErrorDomain)
    }

    @Test func `a suffix of what was replaced meanwhile is of the version that its head tells, inv01`() async throws {
        device.put("/replaced", length: 1_000_000)
        for try await _ in try device.cache.resource(for: device.url("/replaced")).bytes(in: ByteRange(0, 300_000)) {}
        let old = try await device.cache.resource(for: device.url("/replaced")).info().entityTag
        let next = PositionCodedContent(length: 1_000_000, generation: 2)
        device.origin.put(.init(next), at: "/replaced")
        do {
            let (body, response) = try await load("/replaced", ["Range": "bytes=-7"])
            #expect(response.statusCode == 206 && next.firstMismatch(Array(body), at: 999_993) == nil)
            #expect(response.value(forHTTPHeaderField: "ETag") != old)
        } catch { #expect((error as NSError).domain == NSURLErrorDomain) }
    }

    @Test func `where no answer can be had the error is flat and Foundation's own, bug04`() async throws {
        final class Nowhere: CachingURLProtocol {}
        let configuration = URLSessionConfiguration.ephemeral
        Nowhere.register(device.cache, in: configuration)
        let url = try #require(URL(string: "http://127.0.0.1:\(LoopbackPort.unused())/b"))
        let session = URLSession(configuration: configuration)
        let error = await #expect(throws: (any Error).self) { try await session.data(from: url) }
        let flat = try #require(error) as NSError
        #expect(flat.domain == NSURLErrorDomain)
        #expect(flat.code == URLError.Code.cannotConnectToHost.rawValue)
        #expect(flat.userInfo[NSUnderlyingErrorKey] == nil)
    }

    @Test func `a task that is cancelled leaves the cache, bug12`() async throws {
        device.put("/slow", length: 50_000_000) { $0.bytesPerSecond = 400_000 }
        let staying = try device.cache.resource(for: device.url("/a")).reader()
        let cache = device.cache
        let loading = session.dataTask(with: try request("/slow"))
        loading.resume()
        #expect(await eventually { cache.activity.readers == 2 })
        loading.cancel()
        #expect(await eventually { cache.activity.readers == 1 })
        _ = consume staying
    }

    @Test func `chunks are small and come in order, bug11`() async throws {
        final class Chunky: CachingURLProtocol {}
        let recorder = ChunkRecorder()
        let configuration = URLSessionConfiguration.ephemeral
        Chunky.register(device.cache, in: configuration)
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        for _ in 0..<2 {
            session.dataTask(with: try request("/a")).resume()
            #expect(await eventually { recorder.isFinished })
            let chunks = recorder.take()
            #expect(chunks.allSatisfy { $0.count <= 256 * 1024 })
            #expect(content.firstMismatch(chunks.flatMap { $0 }, at: 0) == nil)
            #expect(chunks.reduce(0) { $0 + $1.count } == Int(length))
        }
        session.finishTasksAndInvalidate()
    }

    @Test func `the cache's own requests are not taken again, also where the class is registered for all`()
        async throws
    {
        final class Everywhere: CachingURLProtocol {}
        #expect(URLProtocol.registerClass(Everywhere.self))
        defer { URLProtocol.unregisterClass(Everywhere.self) }
        let other = try Device()
        other.put("/x", length: 300_000)
        let base = other.server.base
        let configuration = URLSessionConfiguration.ephemeral
        Everywhere.register(other.cache, in: configuration) { $0.url?.absoluteString.hasPrefix(base) == true }
        let (data, _) = try await URLSession(configuration: configuration).data(from: other.url("/x"))
        #expect(data.count == 300_000)
        #expect(other.origin.bodyBytes == 300_000)
    }

    @Test
    func `a subclass keeps two sessions apart, and a cache that is gone leaves its requests to the network, bug18`()
        async throws
    {
        final class First: CachingURLProtocol {}
        final class Second: CachingURLProtocol {}
        var one: Device? = try Device()
        let two = try Device()
        two.put("/a", length: length)
        let first = URLSessionConfiguration.ephemeral
        let second = URLSessionConfiguration.ephemeral
        First.register(try #require(one).cache, in: first)
        Second.register(two.cache, in: second)
        let url = try two.url("/a")
        _ = try await URLSession(configuration: first).data(from: url)
        _ = try await URLSession(configuration: second).data(from: url)
        #expect(one?.cache.statistics.fromOrigin == length)
        #expect(two.cache.statistics.fromOrigin == length)
        await one?.cache.close()
        weak let cache = one?.cache
        one = nil
        #expect(await eventually { cache == nil })
        #expect(!First.canInit(with: URLRequest(url: url)))
        #expect(Second.canInit(with: URLRequest(url: url)))
        Second.unregister(two.cache)
        #expect(!Second.canInit(with: URLRequest(url: url)))
    }

    @Test func `twenty requests at once share one transfer, inv16`() async throws {
        device.put("/shared", length: 2_000_000) { $0.bytesPerSecond = 4_000_000 }
        let url = try device.url("/shared")
        let session = session
        let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await session.data(from: url).0.count } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sizes == [Int](repeating: 2_000_000, count: 20))
        // A machine with no time for a reader may have another transfer take its place; never one for each reader.
        #expect(device.origin.bodyBytes < 2 * 2_000_000)
    }
}

/// Keeps what a session's delegate is told.
private final class ChunkRecorder: NSObject, URLSessionDataDelegate {
    private let state = Lock<(chunks: [[UInt8]], isFinished: Bool)>(([], false))

    var isFinished: Bool { state.withLock { $0.isFinished } }

    func take() -> [[UInt8]] {
        state.withLock { state in
            defer { state = ([], false) }
            return state.chunks
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.chunks.append([UInt8](data)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        state.withLock { $0.isFinished = true }
    }
}
