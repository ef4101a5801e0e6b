import Foundation
import RepriseFuzzing
import RepriseTesting
import Testing

/// Every parser is total: any bytes have an answer, and what its target says of them holds.
@Suite("Any bytes")
struct FuzzingTests {
    @Test(arguments: FuzzTarget.all)
    func `that reach far or once broke something keep the rules`(target: FuzzTarget) {
        for seed in target.seeds { run(target, seed) }
    }

    /// What `scripts/fuzz --write` wrote down.
    @Test(arguments: FuzzTarget.all)
    func `that coverage found keep the rules`(target: FuzzTarget) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Corpora")
        let file = folder.appendingPathComponent(target.name + ".txt")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines { run(target, Array(try #require(Data(base64Encoded: String(line))))) }
    }

    @Test(arguments: FuzzTarget.all)
    func `made of those by chance keep the rules`(target: FuzzTarget) throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<1000 {
            var bytes = try #require(target.seeds.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...4, using: &random) { random.mutate(&bytes, seeds: target.seeds) }
            run(target, bytes)
        }
    }

    private func run(_ target: FuzzTarget, _ bytes: [UInt8]) {
        do { try target.run(bytes) } catch {
            let text = String(decoding: bytes, as: UTF8.self)
            Issue.record("\(error), with \(bytes): \(text.debugDescription)")
        }
    }
}
