import Glibc
import Synchronization

/// An origin that counts: serves `FOLDER/KIND` under `/KIND/any-name`, so that an object nobody asked for before is
/// never far, at a rate all its connections share, and keeps account of every byte the kernel took.
///
///     /, /KIND/                 links to a few names, for those who list before they ask
///     /.origin/account          what was sent since it was last asked, as JSON; empties the account
///     /.origin/rate/BYTES       bytes a second from now on; 0 for as fast as possible
final class Origin: Sendable {
    private struct Account {
        var requests = 0
        var connections = 0
        var bytes = 0
        var sent: [(path: String, start: Int64, end: Int64)] = []
        /// When the last byte was sent.
        var lastSent: Int64 = 0
    }

    private struct Pace {
        var rate: Int64 = 0
        /// When the link is free again.
        var free: Int64 = 0
    }

    private let folder: String
    private let account = Mutex(Account())
    private let pace = Mutex(Pace())

    init(folder: String) { self.folder = folder }

    /// Serves until the process ends.
    func run(port: UInt16) throws(Failure) {
        let listener = try Socket.listen(port)
        print("ready")
        fflush(nil)
        while true {
            let socket = try listener.accept()
            // A socket cannot be given to a closure, its number can.
            let descriptor = dup(socket.descriptor)
            account.withLock { $0.connections += 1 }
            onThread { [self] in serve(Socket(adopting: descriptor)) }
        }
    }

    private func serve(_ socket: consuming Socket) {
        var bytes: [UInt8] = []
        while true {
            var end = endOfHead(bytes, from: 0)
            while end == nil {
                guard bytes.count < 64 * 1024, socket.receive(into: &bytes) > 0 else { return }
                end = endOfHead(bytes, from: 0)
            }
            let head = String(decoding: bytes[..<end!], as: UTF8.self)
            bytes.removeFirst(end!)
            guard answer(head, socket) else { return }
            if field("connection", head)?.lowercased() == "close" { return }
        }
    }

    // `false` where the connection is of no more use.
    private func answer(_ head: String, _ socket: borrowing Socket) -> Bool {
        let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
        guard words.count == 3, words[0] == "GET" || words[0] == "HEAD" else { return false }
        let path = String(words[1].prefix { $0 != "?" })
        if path.hasPrefix("/.origin/") { return control(path, socket) }
        if path == "/" {
            let links = ["1g", "8m", "frag"].map { "<a href=\"\($0)/\">x</a>\n" }.joined()
            return text("200 OK", "<html><body>\n\(links)</body></html>", type: "text/html", socket)
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return text("404 Not Found", "no such object", socket) }
        if parts[2].isEmpty { return index(socket) }
        let file = unsafe open("\(folder)/\(parts[1])", O_RDONLY)
        guard file >= 0 else { return text("404 Not Found", "no such object", socket) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { return false }
        let size = Int64(status.st_size)
        account.withLock { $0.requests += 1 }
        // As strong as it looks: the name of an object stands for its bytes.
        let common =
            "ETag: \"\(parts[2])\"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
            + "Accept-Ranges: bytes\r\nContent-Type: video/mp4\r\nCache-Control: public, max-age=86400\r\n"
        var part = 0..<size
        var lines = "HTTP/1.1 200 OK\r\n"
        if let asked = field("range", head), field("if-range", head).map({ $0 == "\"\(parts[2])\"" }) ?? true {
            guard let found = range(asked, size) else {
                return socket.send(
                    Array("HTTP/1.1 416 Out\r\nContent-Range: bytes */\(size)\r\nContent-Length: 0\r\n\r\n".utf8))
            }
            part = found
            lines =
                "HTTP/1.1 206 Partial Content\r\n"
                + "Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)\r\n"
        }
        lines += common + "Content-Length: \(part.upperBound - part.lowerBound)\r\n\r\n"
        let rate = pace.withLock { $0.rate }
        // A small buffer, so that what the kernel took is near what was read; unthrottled it would only slow down.
        if rate > 0 { socket.set(SOL_SOCKET, SO_SNDBUF, 64 * 1024) }
        guard socket.send(Array(lines.utf8)) else { return false }
        return words[0] == "HEAD" || send(file, part, path, rate, socket)
    }

    private func send(
        _ file: Int32, _ part: Range<Int64>, _ path: String, _ rate: Int64, _ socket: borrowing Socket
    ) -> Bool {
        let piece = rate > 0 ? max(4096, min(rate / 500, 64 * 1024)) : 1 << 20
        var position = off_t(part.lowerBound)
        while Int64(position) < part.upperBound {
            let count = min(piece, part.upperBound - Int64(position))
            let start = pace.withLock { pace in
                guard rate > 0 else { return Int64(0) }
                let now = max(monotonic(), pace.free)
                pace.free = now + count * 1_000_000_000 / rate
                return now
            }
            if start > 0 { sleep(until: start) }
            var wanted = Int(count)
            while wanted > 0 {
                let sent = unsafe sendfile(socket.descriptor, file, &position, wanted)
                let done = Int64(position)
                guard sent > 0 else { return false }
                wanted -= sent
                account.withLock { account in
                    account.bytes += sent
                    account.lastSent = monotonic()
                    if let last = account.sent.indices.last, account.sent[last].path == path,
                        account.sent[last].end == done - Int64(sent)
                    {
                        account.sent[last].end = done
                    } else {
                        account.sent.append((path, done - Int64(sent), done))
                    }
                }
            }
        }
        return true
    }

    private func range(_ text: String, _ size: Int64) -> Range<Int64>? {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        guard let first = Int64(ends[0]) else {
            guard let last = Int64(ends[1]), last > 0 else { return nil }
            return max(0, size - last)..<size
        }
        guard first < size else { return nil }
        let last = Int64(ends[1]) ?? size - 1
        return last < first ? nil : first..<min(last + 1, size)
    }

    private func index(_ socket: borrowing Socket) -> Bool {
        // Few names, because who lists asks for each one's length, too.
        let names = ["warm", "cold", "first", "seek", "leave", "frag"]
        let links = names.flatMap { name in
            (0..<(name == "first" ? 80 : 16)).map { "<a href=\"\(name)-\($0).mp4\">x</a>\n" }
        }
        return text("200 OK", "<html><body>\n" + links.joined() + "</body></html>", type: "text/html", socket)
    }

    private func text(_ status: String, _ text: String, type: String = "text/plain", _ socket: borrowing Socket) -> Bool
    {
        let head = "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
        return socket.send(Array((head + text).utf8))
    }

    private func control(_ path: String, _ socket: borrowing Socket) -> Bool {
        let rates = "/.origin/rate/"
        if path.hasPrefix(rates), let rate = Int64(path.dropFirst(rates.count)) {
            pace.withLock { $0 = Pace(rate: rate, free: 0) }
            return text("200 OK", "{}", socket)
        }
        let now = monotonic()
        let report = account.withLock { account in
            let sent = account.sent.map { "[\"\($0.path)\", \($0.start), \($0.end)]" }.joined(separator: ", ")
            defer { account = Account() }
            return "{\"requests\": \(account.requests), \"connections\": \(account.connections), "
                + "\"bytes\": \(account.bytes), \"last_sent\": \(account.lastSent), \"now\": \(now), "
                + "\"sent\": [\(sent)]}"
        }
        return text("200 OK", report, type: "application/json", socket)
    }
}
