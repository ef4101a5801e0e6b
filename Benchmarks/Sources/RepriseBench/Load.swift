import Glibc
import Synchronization

/// What a run of clients came to.
final class Tally: Sendable {
    struct Sums {
        var requests = 0
        var bytes = 0
        var failures = 0
        /// Nanoseconds from sending a request to its last byte.
        var times: [Int64] = []
    }

    private struct State {
        var sums = Sums()
        var running = 0
    }

    private let state = Mutex(State())

    /// Runs `clients` at once, each on a thread of its own, until all have ended; the line for whoever started the run.
    static func run(clients: Int, _ client: @escaping @Sendable (_ number: Int, _ sums: inout Sums) -> Void) -> String {
        let tally = Tally()
        let start = monotonic()
        tally.state.withLock { $0.running = clients }
        for number in 0..<clients {
            onThread {
                var sums = Sums()
                client(number, &sums)
                tally.end(sums)
            }
        }
        while tally.state.withLock({ $0.running }) > 0 { sleep(until: monotonic() + 2_000_000) }
        return tally.report(seconds: Double(monotonic() - start) / 1e9)
    }

    private func end(_ sums: Sums) {
        state.withLock { state in
            state.sums.requests += sums.requests
            state.sums.bytes += sums.bytes
            state.sums.failures += sums.failures
            state.sums.times += sums.times
            state.running -= 1
        }
    }

    private func report(seconds: Double) -> String {
        let sums = state.withLock { $0.sums }
        let sorted = sums.times.sorted()
        func part(_ share: Double) -> Double {
            sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]) / 1e6
        }
        return "{\"requests\": \(sums.requests), \"bytes\": \(sums.bytes), \"failures\": \(sums.failures), "
            + "\"seconds\": \(seconds), \"p50_ms\": \(part(0.5)), \"p99_ms\": \(part(0.99))}"
    }
}

/// A generator of numbers that are the same in every run and for every server.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Clients that ask for random ranges, or for the whole, as fast as they are served.
struct Load {
    var address: Address
    var size: Int64
    /// Bytes of a range, aligned to itself; 0 for the whole.
    var range: Int64
    var connections: Int
    var seconds: Double
    /// Requests of each client; 0 for as many as fit the time.
    var count: Int
    var seed: UInt64

    func run() -> String {
        let deadline = count > 0 ? Int64.max : monotonic() + Int64(seconds * 1e9)
        return Tally.run(clients: connections) { [self] number, sums in client(number, until: deadline, &sums) }
    }

    private func client(_ number: Int, until deadline: Int64, _ sums: inout Tally.Sums) {
        var random = SplitMix(state: seed &* 1_000_003 &+ UInt64(number))
        do throws(Failure) {
            let exchange = try HTTPExchange(address.port)
            while monotonic() < deadline, count == 0 || sums.requests < count {
                let begin = monotonic()
                var wanted: Range<Int64>?
                if range > 0 {
                    let start = Int64.random(in: 0..<(size / range), using: &random) * range
                    wanted = start..<start + range
                }
                let answer = exchange.get(address.path, range: wanted)
                sums.requests += 1
                sums.bytes += answer.bodyBytes
                sums.times.append(monotonic() - begin)
                if answer.isBroken || answer.bodyBytes != Int(range > 0 ? range : size) {
                    sums.failures += 1
                    return
                }
            }
        } catch {
            sums.failures += 1
        }
    }
}

/// One request after the other to objects, each of which nobody asked for before; the time to each one's first byte.
struct FirstByte {
    /// `%` stands for the number of the object.
    var address: Address
    var size: Int64
    var range: Int64
    var count: Int
    var first: Int
    var seed: UInt64

    func run() throws(Failure) -> String {
        var random = SplitMix(state: seed)
        var times: [Double] = []
        let exchange = try HTTPExchange(address.port)
        for number in first..<first + count {
            let parts = address.path.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
            let path = parts.joined(separator: "\(number)")
            let start = Int64.random(in: 0..<(size / range), using: &random) * range
            let begin = monotonic()
            let answer = exchange.get(path, range: start..<start + range)
            guard !answer.isBroken, answer.bodyBytes == Int(range) else {
                throw Failure("object \(number) was answered \(answer.status)")
            }
            times.append(Double(answer.firstByte - begin) / 1e6)
            // Between two players' requests there is time: what the last one left behind is not this one's wait.
            sleep(until: monotonic() + 5_000_000)
        }
        return "{\"times_ms\": \(times)}"
    }
}

/// Connections of one small request each, at a steady rate; every other one is closed by a reset.
struct ShortConnections {
    var address: Address
    var perSecond: Int
    var seconds: Int

    func run() -> String {
        let start = monotonic()
        let clients = 8
        return Tally.run(clients: clients) { [self] number, sums in
            for turn in stride(from: number, to: perSecond * seconds, by: clients) {
                sleep(until: start + Int64(turn) * 1_000_000_000 / Int64(perSecond))
                let begin = monotonic()
                sums.requests += 1
                do throws(Failure) {
                    let exchange = try HTTPExchange(address.port)
                    let offset = Int64(turn % 1024) * 1024
                    let answer = exchange.get(address.path, range: offset..<offset + 1024, closes: turn % 2 == 0)
                    if turn % 2 == 1 { exchange.closeByReset() }
                    sums.bytes += answer.bodyBytes
                    if answer.isBroken { sums.failures += 1 }
                } catch {
                    sums.failures += 1
                }
                sums.times.append(monotonic() - begin)
            }
        }
    }
}
