import Glibc

/// Where a request goes: a port of this machine and a path.
struct Address: Sendable {
    let port: UInt16
    let path: String

    /// Reads `http://127.0.0.1:PORT/path`.
    init(_ url: String) throws(Failure) {
        let prefix = "http://127.0.0.1:"
        guard url.hasPrefix(prefix), let slash = url.dropFirst(prefix.count).firstIndex(of: "/"),
            let port = UInt16(url.dropFirst(prefix.count)[..<slash])
        else { throw Failure("\(url) is not http://127.0.0.1:PORT/path") }
        self.port = port
        path = String(url[slash...])
    }
}

/// The client's side of one HTTP/1.1 connection, as plain as it can be: bodies with a length, dropped as they come.
struct HTTPExchange: ~Copyable {
    private let socket: Socket
    private let port: UInt16

    init(_ port: UInt16) throws(Failure) {
        socket = try .connect(port)
        self.port = port
    }

    /// What came of one request.
    struct Answer {
        var status = 0
        var bodyBytes = 0
        /// When the first byte of the body was there.
        var firstByte: Int64 = 0
        /// The body was shorter than announced, or there was no answer.
        var isBroken = true
    }

    /// Asks for a path, or for a range of it, and takes the whole answer.
    borrowing func get(_ path: String, range: Range<Int64>? = nil, closes: Bool = false) -> Answer {
        var request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        if let range { request += "Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)\r\n" }
        if closes { request += "Connection: close\r\n" }
        request += "\r\n"
        var answer = Answer()
        guard socket.send(Array(request.utf8)) else { return answer }
        var bytes: [UInt8] = []
        var bodyStart: Int?
        while bodyStart == nil {
            let searched = max(0, bytes.count - 3)
            // Little at first, so that the body stays in the kernel.
            guard socket.receive(into: &bytes, limit: 1024) > 0 else { return answer }
            bodyStart = endOfHead(bytes, from: searched)
        }
        let head = String(decoding: bytes[..<bodyStart!], as: UTF8.self)
        answer.status = Int(head.dropFirst(9).prefix(3)) ?? 0
        guard let length = field("content-length", head).flatMap({ Int($0) }) else { return answer }
        var came = bytes.count - bodyStart!
        if came == 0, length > 0 {
            var first: [UInt8] = []
            came = max(0, socket.receive(into: &first, limit: 1))
        }
        answer.firstByte = monotonic()
        if came < length { came += socket.discard(length - came) }
        answer.bodyBytes = came
        answer.isBroken = came != length
        return answer
    }

    borrowing func closeByReset() { socket.closeByReset() }
}

/// The index behind the empty line that ends a head.
func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    var index = start
    while index + 4 <= bytes.count {
        if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13, bytes[index + 3] == 10 {
            return index + 4
        }
        index += 1
    }
    return nil
}

/// A field's value in a head; `name` in lower case.
func field(_ name: String, _ head: String) -> String? {
    for line in head.split(separator: "\r\n").dropFirst() {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name else { continue }
        return String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    return nil
}
