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
            for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, target, &random) }
            run(target, bytes)
        }
    }

    private static let texts = [
        " ", "\t", ",", ";", "=", "-", "/", "*", "\"", "\\", "@", ":", "?", "#", "[", "%", ".", "+",
    ]
    private static let bytes =
        texts.map { Array($0.utf8) }
        + ["\r\n", "\0", "\u{301}", "\u{E9}", "\u{1F3B5}", "\u{660}", "9"].map { Array($0.utf8) }
        + [[0xFF], [0x80], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0]]

    private func mutate(_ bytes: inout [UInt8], _ target: FuzzTarget, _ random: inout SeededGenerator) {
        let index = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes.insert(contentsOf: FuzzingTests.bytes.randomElement(using: &random) ?? [], at: index)
        case 1: bytes.removeSubrange(index..<min(bytes.count, index + .random(in: 1...8, using: &random)))
        case 2: if index < bytes.count { bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
        case 3: if index < bytes.count { bytes[index] = .random(in: 0...255, using: &random) }
        case 4: bytes = Array(bytes[index...] + bytes[..<index])
        default:
            bytes.replaceSubrange(index..., with: (target.seeds.randomElement(using: &random) ?? []).dropFirst(index))
        }
    }

    private func run(_ target: FuzzTarget, _ bytes: [UInt8]) {
        do { try target.run(bytes) } catch {
            let text = String(decoding: bytes, as: UTF8.self)
            Issue.record("\(error), with \(bytes): \(text.debugDescription)")
        }
    }
}
