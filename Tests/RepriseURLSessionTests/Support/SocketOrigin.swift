import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting

/// A scripted origin on a real socket, with a thread for each connection and nothing else: so that it needs no package
/// and runs under the sanitizers.
final class SocketOrigin: Sendable {
    private struct State {
        var accepted = 0
        var connections: [Int32] = []
        var isStopped = false
    }

    let origin: ScriptedOrigin
    let port: Int
    private let listener: Int32
    private let state = Lock(State())

    init(_ origin: ScriptedOrigin) throws {
        self.origin = origin
        let loopback = try LoopbackPort()
        try loopback.listen()
        (listener, port) = (loopback.socket, loopback.number)
        Thread.detachNewThread { [self] in acceptAll() }
    }

    deinit { stop() }

    var base: String { "http://127.0.0.1:\(port)" }

    /// Connections accepted so far.
    var accepted: Int { state.withLock { $0.accepted } }

    /// Connections that are open now.
    var openConnections: Int { state.withLock { $0.connections.count } }

    /// Goes away: connections are closed and new ones refused.
    func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            if !state.isStopped { for connection in state.connections { Sockets.shutDown(connection) } }
            return !state.isStopped
        }
        guard isFirst else { return }
        Sockets.shutDown(listener)
    }

    private func acceptAll() {
        while let connection = Sockets.accept(listener) {
            let isWanted = state.withLock { state in
                if state.isStopped { return false }
                state.accepted += 1
                state.connections.append(connection)
                return true
            }
            guard isWanted else {
                Sockets.close(connection)
                break
            }
            Thread.detachNewThread { [self] in
                serve(connection)
                state.withLock { $0.connections.removeAll { $0 == connection } }
                Sockets.close(connection)
            }
        }
        Sockets.close(listener)
    }

    private func serve(_ connection: Int32) {
        var buffer: [UInt8] = []
        while let request = SocketRequest.read(connection, &buffer) {
            guard !origin.isDown else { return }
            let answer = origin.answer(method: request.method, target: request.target, fields: request.fields)
            if answer.delay > 0 { Thread.sleep(forTimeInterval: Double(answer.delay) / 1e9) }
            let player = AnswerPlayer(connection, origin, origin.resource(at: request.path), answer)
            guard player.play(withBody: request.method != "HEAD") else { return }
        }
    }
}

/// A request as it came over the socket.
private struct SocketRequest {
    var method: String
    var target: String
    var fields: HTTPFields

    var path: String { String(target.prefix { $0 != "?" }) }

    static func read(_ connection: Int32, _ buffer: inout [UInt8]) -> SocketRequest? {
        while true {
            if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
                let text = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                buffer.removeSubrange(..<end.upperBound)
                return SocketRequest(text)
            }
            guard let more = Sockets.receive(connection), !more.isEmpty else { return nil }
            buffer += more
        }
    }

    private init?(_ text: String) {
        let lines = text.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        method = String(words[0])
        target = String(words[1])
        fields = HTTPFields()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields.add(String(line[..<colon]), String(line[line.index(after: colon)...]))
        }
    }
}

/// Sends one answer, with whatever goes wrong in it.
private struct AnswerPlayer {
    let connection: Int32
    let origin: ScriptedOrigin
    let resource: ScriptedOrigin.Resource?
    let answer: ScriptedAnswer

    init(
        _ connection: Int32, _ origin: ScriptedOrigin, _ resource: ScriptedOrigin.Resource?, _ answer: ScriptedAnswer
    ) {
        self.connection = connection
        self.origin = origin
        self.resource = resource
        self.answer = answer
    }

    /// Answers whether the connection can go on.
    func play(withBody: Bool) -> Bool {
        var text = answer.interim.map { "HTTP/1.1 \($0.status) Early Hints\r\n\r\n" }.joined()
        text += "HTTP/1.1 \(answer.status) Status\r\n"
        for line in answer.fields.lines { text += "\(line.name): \(line.value)\r\n" }
        switch answer.framing {
        case .length: break
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .close: text += "Connection: close\r\n"
        }
        guard Sockets.send(connection, Array((text + "\r\n").utf8)) else { return false }
        for step in withBody ? answer.steps : [] {
            switch step {
            case .content(let range): guard sendContent(range) else { return false }
            case .literal(let bytes): guard sendBody(bytes) else { return false }
            case .stall:
                // Until the other side leaves.
                while let bytes = Sockets.receive(connection), !bytes.isEmpty {}
                return false
            case .reset:
                Sockets.resetOnClose(connection)
                return false
            }
        }
        if answer.framing == .chunked { return Sockets.send(connection, Array("0\r\n\r\n".utf8)) }
        return answer.framing != .close
    }

    private func sendContent(_ range: ByteRange) -> Bool {
        var position = range.lowerBound
        let size = answer.bytesPerSecond > 0 ? max(512, min(answer.bytesPerSecond / 100, 65_536)) : 65_536
        while position < range.upperBound {
            let part = ByteRange(position, min(position + size, range.upperBound))
            guard sendBody(resource?.bytes(in: part) ?? []) else { return false }
            position = part.upperBound
        }
        return true
    }

    private func sendBody(_ bytes: [UInt8]) -> Bool {
        if bytes.isEmpty { return true }
        var message = bytes
        if answer.framing == .chunked {
            message = Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
        }
        guard Sockets.send(connection, message) else { return false }
        origin.countSent(bytes.count)
        if answer.bytesPerSecond > 0 {
            Thread.sleep(forTimeInterval: Double(bytes.count) / Double(answer.bytesPerSecond))
        }
        return true
    }
}
