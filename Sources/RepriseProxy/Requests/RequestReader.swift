import RepriseHTTP

/// Cuts a connection's bytes into requests, strictly: what two readers could understand differently is refused, so that
/// no request is hidden inside of another (RFC 9112 §11.2).
///
///     line by line            byte by byte
///     head --length/chunked--> body --> end of message --> head ...        anything --refused--> nothing more
///
/// Takes bytes as they come, in pieces of any size; keeps at most `headLimit` of them. Total: every sequence of bytes has
/// an answer, and how they were cut into pieces makes no difference. No I/O.
package struct RequestReader: Sendable {
    /// What was read.
    package enum Event: Sendable, Hashable {
        case head(RequestHead)
        /// As many bytes of the body, those just taken.
        case body(count: Int)
        /// The request is complete; its trailers, if it had any, were read and dropped.
        case end
        /// The last event: nothing behind it is understood.
        case refused(RequestRefusal)
    }

    private enum State: Sendable {
        case head
        case body(missing: Int64)
        case chunkSize(ChunkSizeLine)
        case chunk(missing: Int64)
        /// The CR LF behind a chunk's bytes; how much of it was seen.
        case chunkEnd(seen: Int)
        case trailers
        case end
        case refused
    }

    private let headLimit: Int
    private var state = State.head
    /// Bytes of the head or the trailers so far.
    private var lines: [UInt8] = []
    /// Where the line begins that is being read.
    private var lineStart = 0
    private var hasEmptyLine = false
    private var last: ReadHead?
    /// Whether the head that was read last is the one before it but for the value of `Range`.
    package private(set) var isRepetition = false

    /// Bytes copied at once while looking for a head's end; most heads are shorter.
    private static let stride = 1024

    /// Reads requests whose heads, and trailers, have at most `headLimit` bytes.
    package init(headLimit: Int) { self.headLimit = headLimit }

    /// Lets go of the head that was read last, where none has begun: the next is read anew.
    package mutating func forget() {
        guard !isInsideRequest else { return }
        last = nil
        lines = []
    }

    /// Whether a request has begun and is not complete.
    package var isInsideRequest: Bool {
        switch state {
        case .head: !lines.isEmpty || hasEmptyLine
        case .refused: false
        default: true
        }
    }

    /// Takes bytes from the front of `bytes` up to the next event; `nil` when all were taken without one.
    package mutating func read<Bytes: RandomAccessCollection<UInt8>>(_ bytes: inout Bytes) -> Event?
    where Bytes.SubSequence == Bytes, Bytes.Index == Int {
        do throws(RequestRefusal) {
            return try next(&bytes)
        } catch {
            state = .refused
            lines = []
            bytes = bytes[bytes.endIndex...]
            return .refused(error)
        }
    }

    private mutating func next<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: inout Bytes
    ) throws(RequestRefusal) -> Event? where Bytes.SubSequence == Bytes, Bytes.Index == Int {
        while true {
            switch state {
            case .head:
                guard try takeLines(&bytes) else { return nil }
                let head = try readHead()
                startLines()
                hasEmptyLine = false
                switch head.body {
                case .none: state = .end
                case .length(let length): state = .body(missing: length)
                case .chunked: state = .chunkSize(ChunkSizeLine())
                }
                return .head(head)
            case .body(let missing):
                guard let count = take(missing, of: &bytes) else { return nil }
                let left = missing - Int64(count)
                state = left == 0 ? .end : .body(missing: left)
                return .body(count: count)
            case .chunkSize(var line):
                guard let byte = bytes.popFirst() else { return nil }
                guard let size = try line.take(byte) else {
                    state = .chunkSize(line)
                    continue
                }
                state = size == 0 ? .trailers : .chunk(missing: size)
            case .chunk(let missing):
                guard let count = take(missing, of: &bytes) else { return nil }
                let left = missing - Int64(count)
                state = left == 0 ? .chunkEnd(seen: 0) : .chunk(missing: left)
                return .body(count: count)
            case .chunkEnd(let seen):
                guard let byte = bytes.popFirst() else { return nil }
                guard byte == (seen == 0 ? UInt8(ascii: "\r") : UInt8(ascii: "\n")) else {
                    throw RequestRefusal(400, "a chunk is longer than it said")
                }
                state = seen == 0 ? .chunkEnd(seen: 1) : .chunkSize(ChunkSizeLine())
            case .trailers:
                guard try takeLines(&bytes) else { return nil }
                var trailers = HeadLines(lines[...])
                _ = try HTTPFields(&trailers)
                startLines()
                state = .end
            case .end:
                state = .head
                return .end
            case .refused:
                bytes = bytes[bytes.endIndex...]
                return nil
            }
        }
    }

    // A player's requests for one film differ in nothing but the range.
    private mutating func readHead() throws(RequestRefusal) -> RequestHead {
        if let head = last?.repeated(lines) {
            isRepetition = true
            return head
        }
        isRepetition = false
        last = nil
        let head = try RequestHead(lines[...])
        last = ReadHead(head, lines)
        return head
    }

    private func take<Bytes: RandomAccessCollection<UInt8>>(_ missing: Int64, of bytes: inout Bytes) -> Int?
    where Bytes.SubSequence == Bytes, Bytes.Index == Int {
        guard !bytes.isEmpty else { return nil }
        let count = Int(min(Int64(bytes.count), missing))
        bytes = bytes.dropFirst(count)
        return count
    }

    private mutating func startLines() {
        // Not kept for the next head: most connections do nothing most of the time.
        lines = []
        lineStart = 0
    }

    /// Takes lines up to the empty one; `false` where it has not come yet.
    private mutating func takeLines<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: inout Bytes
    ) throws(RequestRefusal) -> Bool where Bytes.SubSequence == Bytes, Bytes.Index == Int {
        while !bytes.isEmpty {
            let before = lines.count
            lines.append(contentsOf: bytes.prefix(RequestReader.stride))
            guard let end = try scan(from: before) else {
                bytes = bytes.dropFirst(lines.count - before)
                continue
            }
            bytes = bytes.dropFirst(end - before)
            lines.removeSubrange(end...)
            // One empty line before a request is a habit of old clients (RFC 9112 §2.2).
            if lineStart == 0, case .head = state {
                if hasEmptyLine { throw RequestRefusal(400, "empty lines instead of a request") }
                hasEmptyLine = true
                startLines()
                continue
            }
            return true
        }
        return false
    }

    private func tooLarge() -> RequestRefusal {
        // Only the first line is there: it is the target that is too long.
        lineStart == 0 ? RequestRefusal(414, "the target is too long") : RequestRefusal(431, "the head is too large")
    }

    /// Looks at the bytes from `start` on; the index behind the empty line, once it is there.
    private mutating func scan(from start: Int) throws(RequestRefusal) -> Int? {
        for index in start..<lines.count {
            guard index < headLimit else { throw tooLarge() }
            let byte = lines[index]
            let isAfterReturn = index > lineStart && lines[index - 1] == UInt8(ascii: "\r")
            guard (byte == UInt8(ascii: "\n")) == isAfterReturn else {
                throw RequestRefusal(400, isAfterReturn ? "a CR without an LF" : "an LF without a CR")
            }
            if byte == UInt8(ascii: "\n") {
                if index - 1 == lineStart { return index + 1 }
                lineStart = index + 1
            } else if byte < 0x20 && byte != UInt8(ascii: "\t") && byte != UInt8(ascii: "\r") || byte == 0x7F {
                throw RequestRefusal(400, "a control character in the head")
            }
        }
        return nil
    }
}
