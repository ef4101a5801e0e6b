import Foundation
import Reprise

/// Media that is computed: any byte of it can be told from its offset.
struct GeneratedMedia: Sendable {
    let length: Int64
    let contentType: String
    let make: @Sendable (ByteRange) -> [UInt8]

    /// Bytes that say where they are: each eight carry their offset, divided by eight. Nothing plays them.
    static func coded(length: Int64, contentType: String) -> GeneratedMedia {
        GeneratedMedia(length: length, contentType: contentType) { range in
            (range.lowerBound..<range.upperBound).map { offset in
                UInt8(truncatingIfNeeded: (offset >> 3) >> (8 * (7 - (offset & 7))))
            }
        }
    }

    /// A tone of 440 Hz as WAV: 16 bits, one channel, 44,100 a second.
    static func tone(seconds: Int) -> GeneratedMedia {
        let sampleBytes = Int64(seconds) * 88_200
        var header: [UInt8] = []
        func put(_ text: String) { header += Array(text.utf8) }
        func put(_ value: Int64, bytes: Int) {
            for index in 0..<bytes { header.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        put("RIFF")
        put(36 + sampleBytes, bytes: 4)
        put("WAVEfmt ")
        put(16, bytes: 4)
        put(1, bytes: 2)
        put(1, bytes: 2)
        put(44_100, bytes: 4)
        put(88_200, bytes: 4)
        put(2, bytes: 2)
        put(16, bytes: 2)
        put("data")
        put(sampleBytes, bytes: 4)
        let head = header
        return GeneratedMedia(length: 44 + sampleBytes, contentType: "audio/wav") { range in
            (range.lowerBound..<range.upperBound).map { offset in
                if offset < 44 { return head[Int(offset)] }
                let place = offset - 44
                let sample = Int16(sin(Double(place / 2) * 2 * .pi * 440 / 44_100) * 6_000)
                return UInt8(truncatingIfNeeded: Int(sample) >> (8 * Int(place & 1)))
            }
        }
    }
}

/// An origin inside the app. It answers ranges at a bounded rate and keeps count.
final class GeneratedOrigin: OriginClient {
    /// What an origin has sent, by path.
    struct Account: Sendable {
        var requests = 0
        var sent: Int64 = 0
        var ranges = ByteRangeSet()
        /// Bytes sent more than once.
        var repeated: Int64 { sent - ranges.count }
    }

    private struct State {
        var media: [String: GeneratedMedia] = [:]
        var accounts: [String: Account] = [:]
        var failures: [String: Int64] = [:]
    }

    private let lock = NSLock()
    // Reached only through `withState`, which holds the lock.
    nonisolated(unsafe) private var state = State()
    /// Bytes a second and request.
    let rate: Int

    init(rate: Int = 4 << 20) { self.rate = rate }

    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }

    /// Serves `media` under `path`.
    func put(_ media: GeneratedMedia, at path: String) { withState { $0.media[path] = media } }

    /// Breaks the next answer for `path` once, after `bytes`.
    func breakOnce(_ path: String, after bytes: Int64) { withState { $0.failures[path] = bytes } }

    /// What was sent for `path` so far.
    func account(_ path: String) -> Account { withState { $0.accounts[path] ?? Account() } }

    func start(_ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void) -> any OriginExchange {
        let path = request.url.path
        let (media, failure) = withState { state in
            state.accounts[path, default: Account()].requests += 1
            return (state.media[path], state.failures.removeValue(forKey: path))
        }
        let exchange = GeneratedExchange(media: media, failure: failure, rate: rate, onEvent: onEvent) { sent in
            self.withState { state in
                state.accounts[path, default: Account()].sent += sent.count
                state.accounts[path, default: Account()].ranges.insert(sent)
            }
        }
        exchange.answer(range: request.fields["Range"])
        return exchange
    }
}

/// One answer. Everything it does, it does on its queue.
private final class GeneratedExchange: OriginExchange, Sendable {
    private let queue = DispatchQueue(label: "generated-origin")
    private let media: GeneratedMedia?
    private let failure: Int64?
    private let rate: Int
    private let onEvent: @Sendable (OriginEvent) -> Void
    private let onSent: @Sendable (ByteRange) -> Void
    // These three are touched on the queue only.
    nonisolated(unsafe) private var position: Int64 = 0
    nonisolated(unsafe) private var end: Int64 = 0
    nonisolated(unsafe) private var isOver = false

    init(
        media: GeneratedMedia?, failure: Int64?, rate: Int, onEvent: @escaping @Sendable (OriginEvent) -> Void,
        onSent: @escaping @Sendable (ByteRange) -> Void
    ) {
        self.media = media
        self.failure = failure
        self.rate = rate
        self.onEvent = onEvent
        self.onSent = onSent
    }

    func answer(range field: String?) {
        queue.async { [self] in
            guard let media else {
                isOver = true
                onEvent(.head(OriginResponseHead(status: 404, fields: ["Content-Length": "0"])))
                return onEvent(.end(isDelimited: true))
            }
            var asked = ByteRange(0, media.length)
            if case .closed(let first, let last)? = field.flatMap(RangeSpecifier.parse)?.first {
                asked = ByteRange(min(first, media.length), min(last + 1, media.length))
            } else if case .from(let first)? = field.flatMap(RangeSpecifier.parse)?.first {
                asked = ByteRange(min(first, media.length), media.length)
            }
            position = asked.lowerBound
            end = asked.upperBound
            onEvent(
                .head(
                    OriginResponseHead(
                        status: 206,
                        fields: [
                            "Content-Type": media.contentType, "ETag": "\"generated\"",
                            "Content-Length": "\(asked.count)",
                            "Content-Range": "bytes \(asked.lowerBound)-\(asked.upperBound - 1)/\(media.length)",
                        ])))
        }
    }

    func demand() {
        let pause = 16_384.0 / Double(rate)
        queue.asyncAfter(deadline: .now() + pause) { [self] in
            guard !isOver, let media else { return }
            if let failure, position >= failure {
                isOver = true
                return onEvent(.failed(OriginFailure(.timedOut, "broken on purpose")))
            }
            guard position < end else {
                isOver = true
                return onEvent(.end(isDelimited: true))
            }
            let piece = ByteRange(position, min(end, position + 16_384))
            position = piece.upperBound
            onSent(piece)
            onEvent(.body(media.make(piece)[...]))
        }
    }

    func cancel() { queue.async { self.isOver = true } }
}
