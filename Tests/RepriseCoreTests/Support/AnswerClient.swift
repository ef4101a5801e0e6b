import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// A client of a door that tells of any answer: asks for a range or all, and has what it was told.
final class AnswerClient {
    private let world: World
    private let request: ConditionalRequest
    private let handle: ReaderHandle
    private(set) var status = 0
    private(set) var fields = HTTPFields()
    private(set) var body: [UInt8] = []
    /// Answers before it.
    private(set) var interims: [OriginResponseHead] = []
    /// Fields behind its body.
    private(set) var trailers = HTTPFields()
    private(set) var failure: CacheError?
    private(set) var isAtEnd = false

    /// - Parameter isTransparent: Whether it is a shared cache's client.
    init(_ world: World, _ path: String, _ fields: HTTPFields = [:], isTransparent: Bool = true) {
        self.world = world
        request = ConditionalRequest(method: "GET", fields: fields, isTransparent: isTransparent)
        let resource = world.cache.resource(for: OriginURL("http://origin.test" + path)!, fields: fields)
        handle = resource.withAnyAnswer(for: fields).makeHandle(in: request.presumedRange)
    }

    deinit { handle.leave() }

    func leave() { handle.leave() }

    /// Takes at most so many bytes of what is there.
    func take(_ most: Int = .max) {
        while !isAtEnd, failure == nil, body.count < most {
            if status == 0 {
                switch handle.info(interim: { interims.append($0) }, wake: {}) {
                case .success(nil): return
                case .failure(let error): failure = error
                case .success(let info?):
                    let answer = request.answer(info)
                    (status, fields) = (answer.status, answer.fields)
                    guard let range = answer.range else {
                        isAtEnd = true
                        break
                    }
                    handle.setRange(position: range.lowerBound, end: range.upperBound)
                }
                continue
            }
            switch handle.step(limit: min(64 * 1024, most - body.count), wake: {}) {
            case .memory(let bytes, _): body += bytes
            case .lease(let lease): if let bytes = try? lease.read() { body += bytes }
            case .pending: return
            case .end:
                isAtEnd = true
                if case .success(let info?) = handle.info(wake: {}) { trailers = info.trailers }
            case .failed(let error): failure = error
            }
        }
    }

    /// Has several ask at the same time and take all there will be.
    static func finish(_ clients: [AnswerClient]) {
        for client in clients { client.take() }
        for client in clients { client.finish() }
    }

    /// Takes what is there, and keeps nothing of it. Answers how many bytes it was.
    func drain() -> Int {
        take()
        defer { body.removeAll(keepingCapacity: true) }
        return body.count
    }

    var hasEnded: Bool { isAtEnd || failure != nil }

    /// Takes all there will be within a minute.
    func finish() {
        let end = world.queues.time + 60 * second
        repeat { take() } while !hasEnded && world.queues.runOne(until: end)
        #expect(hasEnded, "it hangs")
        handle.leave()
    }
}
