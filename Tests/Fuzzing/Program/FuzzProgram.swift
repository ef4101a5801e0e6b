import RepriseFuzzing
import ReprisePlatform

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What `make fuzz` runs, built with the coverage and the driver of libFuzzer:
///
///     RepriseFuzz                                      names the targets
///     REPRISE_FUZZ=TARGET RepriseFuzz seeds FOLDER     writes the target's seeds into a folder, a file each
///     REPRISE_FUZZ=TARGET RepriseFuzz ARGUMENT...      libFuzzer's own arguments, of this target
@main
enum FuzzProgram {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard let name = SystemCalls.environment("REPRISE_FUZZ") else {
            for target in FuzzTarget.all { print(target.name) }
            return
        }
        guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
            fatalError("no target is called \(name)")
        }
        if arguments.count == 3, arguments[1] == "seeds" {
            try write(target.seeds, into: arguments[2])
        } else {
            run(target)
        }
    }

    private static func write(_ seeds: [[UInt8]], into folder: String) throws {
        for (number, seed) in seeds.enumerated() {
            let file = try DiskVolume().open("\(folder)/seed-\(number)", .create)
            try file.truncate(to: 0)
            try file.write(seed, at: 0)
        }
    }

    private static func run(_ target: FuzzTarget) {
        #if FUZZING
            unsafe FuzzProgram.target = target
            var arguments = unsafe CommandLine.unsafeArgv
            var count = CommandLine.argc
            exit(
                unsafe runDriver(&count, &arguments) { bytes, size in
                    FuzzProgram.run(unsafe Array(UnsafeBufferPointer(start: bytes, count: size)))
                    return 0
                })
        #else
            fatalError("this was built without libFuzzer: make fuzz")
        #endif
    }

    #if FUZZING
        // nonisolated(unsafe): set once, before libFuzzer's one thread calls back; a C function carries no context.
        nonisolated(unsafe) private static var target: FuzzTarget?

        private static func run(_ bytes: [UInt8]) {
            guard let target = unsafe target else { return }
            do { try target.run(bytes) } catch { fatalError("\(target): \(error)") }
        }
    #endif
}

#if FUZZING
    /// libFuzzer's own loop (compiler-rt, `FuzzerInterface.h`).
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ count: UnsafeMutablePointer<Int32>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
    ) -> Int32
#endif
