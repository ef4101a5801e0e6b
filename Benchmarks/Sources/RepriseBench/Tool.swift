import Glibc

/// `NAME=VALUE` words after a command's name.
struct Words {
    private var values: [String: String] = [:]

    init(_ words: [String]) {
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            values[parts[0]] = parts.count > 1 ? parts[1] : ""
        }
    }

    func text(_ name: String) throws(Failure) -> String {
        guard let value = values[name] else { throw Failure("\(name)=... is missing") }
        return value
    }

    func number(_ name: String, _ otherwise: Int? = nil) throws(Failure) -> Int {
        if let number = values[name].flatMap({ Int($0) }) { return number }
        guard let otherwise, values[name] == nil else { throw Failure("\(name)=NUMBER is missing") }
        return otherwise
    }
}

/// The origin and the clients of the benchmarks; `Benchmarks/run` starts them.
@main
struct Tool {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        do throws(Failure) {
            let words = Words(Array(CommandLine.arguments.dropFirst(2)))
            switch CommandLine.arguments.dropFirst().first {
            case "origin":
                try Origin(folder: words.text("folder")).run(port: UInt16(words.number("port")))
            case "load":
                let load = try Load(
                    address: Address(words.text("url")), size: Int64(words.number("size")),
                    range: Int64(words.number("range", 0)), connections: words.number("connections", 1),
                    seconds: Double(words.number("milliseconds", 1000)) / 1000, count: words.number("count", 0),
                    seed: UInt64(words.number("seed", 1)))
                print(load.run())
            case "first-byte":
                let first = try FirstByte(
                    address: Address(words.text("url")), size: Int64(words.number("size")),
                    range: Int64(words.number("range")), count: words.number("count"),
                    first: words.number("first"), seed: UInt64(words.number("seed", 1)))
                print(try first.run())
            case "short":
                let short = try ShortConnections(
                    address: Address(words.text("url")), perSecond: words.number("per-second"),
                    seconds: words.number("seconds"))
                print(short.run())
            default:
                throw Failure("origin, load, first-byte or short?")
            }
        } catch {
            let line = Array("bench: \(error)\n".utf8)
            _ = unsafe line.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
            exit(1)
        }
    }
}
