import ReprisePlatform

/// The fixed work whose instructions are counted: `scripts/checks/instructions` runs it under callgrind, `make bench` by the
/// clock. Prints a line a piece of work: its name, how often it was done, and nanoseconds in all.
@main
struct Program {
    static func main() throws {
        let wanted = CommandLine.arguments.dropFirst()
        for work in Work.all where wanted.isEmpty || wanted.contains(where: { work.name.contains($0) }) {
            // What is done once a process is done here, and so is not counted.
            try work.prepare()()
            let ready = try work.prepare()
            print(work.name, work.count, try measured(ready))
        }
    }
}

/// Does the work and answers how many nanoseconds it took. What callgrind counts: it goes by this function's name.
@inline(never)
func measured(_ work: () throws -> Void) rethrows -> Int64 {
    let begun = SystemCalls.monotonicNanoseconds()
    try work()
    return SystemCalls.monotonicNanoseconds() - begun
}

/// Something that is done again and again, the same each time.
struct Work {
    let name: String
    /// How often it is done in one go.
    let count: Int
    /// Gets everything ready and answers what is then done `count` times.
    let prepare: () throws -> () throws -> Void

    static var all: [Work] { ranges + fields + blocks + engine }

    /// One that needs nothing but itself. `body` takes the number of the turn and answers something that depends on all it
    /// did, so that the compiler leaves nothing out.
    init(_ name: String, count: Int, _ body: @escaping (Int) -> Int) {
        self.init(name, count: count, from: ()) { _ in { turn in body(turn) } }
    }

    /// One that begins with `start`, made anew each time it is got ready.
    init<Start>(
        _ name: String, count: Int, from start: @autoclosure @escaping () throws -> Start,
        _ begin: @escaping (Start) throws -> (Int) throws -> Int
    ) {
        self.name = name
        self.count = count
        prepare = {
            let body = try begin(start())
            return {
                var sum = 0
                for turn in 0..<count { sum &+= try body(turn) }
                if sum == .min { print("never") }
            }
        }
    }
}
