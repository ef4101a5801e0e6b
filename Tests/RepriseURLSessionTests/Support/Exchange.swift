import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseTesting

/// Asks like the engine, and keeps what came.
final class Exchange: Sendable {
    struct Taken: Sendable {
        var head: OriginResponseHead?
        var bytes: [UInt8] = []
        var isDelimited: Bool?
        var failure: OriginFailure?

        var isOver: Bool { isDelimited != nil || failure != nil }
    }

    private let state = Lock(Taken())
    private let exchange = Lock<(any OriginExchange)?>(nil)
    private let client: (any OriginClient)?

    /// - Parameter isKeeping: Whether it keeps the client alive.
    init(_ client: any OriginClient, _ url: String, _ fields: HTTPFields = [:], isKeeping: Bool = true) throws {
        self.client = isKeeping ? client : nil
        guard let url = OriginURL(url) else { throw OriginFailure(.malformed, url) }
        let started = client.start(OriginRequest(url: url, fields: fields)) { [weak self] event in
            self?.state.withLock { state in
                switch event {
                case .head(let head): state.head = head
                case .interim: break
                case .body(let bytes): state.bytes += bytes
                case .end(let isDelimited, _): state.isDelimited = isDelimited
                case .failed(let failure): state.failure = failure
                }
            }
        }
        exchange.withLock { $0 = started }
    }

    var taken: Taken { state.withLock { $0 } }

    func demand() { exchange.withLock { $0 }?.demand() }
    func cancel() { exchange.withLock { $0 }?.cancel() }

    /// Waits for the head or the end.
    func head() async -> OriginResponseHead? {
        _ = await eventually { self.taken.head != nil || self.taken.isOver }
        return taken.head
    }

    /// Takes at least `count` bytes, or all there is.
    @discardableResult
    func take(_ count: Int = .max) async -> Taken {
        _ = await head()
        while !taken.isOver, taken.bytes.count < count {
            let before = taken.bytes.count
            demand()
            _ = await eventually { self.taken.bytes.count > before || self.taken.isOver }
        }
        return taken
    }
}
