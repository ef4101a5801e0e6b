import RepriseCore
import RepriseTesting
import Testing

#if canImport(CryptoExtras)
    import Crypto
    import CryptoExtras
#endif

/// The counting of counter mode, and AES in it as the documentation shows it.
@Suite struct CounterModeTests {
    /// NIST SP 800-38A, F.5: one text and one first counter, a key and what comes of it for each size.
    private static let counter = bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    private static let plain = bytes(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
            + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
    private static let vectors = [
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
                + "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"
        ),
        (
            "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
            "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
                + "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050"
        ),
        (
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
                + "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
        ),
    ]

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    @Test(arguments: vectors)
    func `AES gives the published bytes from every offset to every other, both ways`(key: String, cipher: String) {
        let mode = CounterMode(aesKey: Self.bytes(key), initialCounter: Self.counter)
        let cipher = Self.bytes(cipher)
        for start in 0...64 {
            for end in start...64 {
                var part = Array(cipher[start..<end])
                mode.apply(to: &part, at: Int64(start))
                #expect(part == Array(Self.plain[start..<end]))
                mode.apply(to: &part, at: Int64(start))
                #expect(part == Array(cipher[start..<end]))
            }
        }
    }

    /// The counter blocks themselves, where the cipher changes nothing.
    private func counters(_ initial: String, at offset: Int64, _ count: Int) -> [UInt8] {
        var stream = [UInt8](repeating: 0, count: count)
        CounterMode(initialCounter: Self.bytes(initial)) { _ in }.apply(to: &stream, at: offset)
        return stream
    }

    @Test func `the counter carries through all its bytes and comes back to 0`() {
        let carries = [
            ("000000000000000000000000ffffffff", "00000000000000000000000100000000"),
            ("0123456789abcdef00000001ffffffff", "0123456789abcdef0000000200000000"),
            ("0123456789abcdefffffffffffffffff", "0123456789abcdf00000000000000000"),
            ("ffffffffffffffffffffffffffffffff", "00000000000000000000000000000000"),
        ]
        for (initial, next) in carries {
            #expect(counters(initial, at: 0, 32) == Self.bytes(initial + next))
            #expect(counters(initial, at: 16, 16) == Self.bytes(next))
            #expect(counters(initial, at: 9, 14) == Array(Self.bytes(initial + next)[9..<23]))
        }
    }

    @Test func `an offset past 2 to the 36th is counted in more than 32 bits of blocks`() {
        let zero = String(repeating: "0", count: 32)
        let place = Int64(16) << 32
        let around = Self.bytes("000000000000000000000000ffffffff" + "00000000000000000000000100000000")
        #expect(counters(zero, at: place - 16, 32) == around)
        #expect(counters(zero, at: place - 3, 6) == [0xFF, 0xFF, 0xFF, 0, 0, 0])
        let last = counters(zero, at: .max - 31, 16)
        #expect(last == Self.bytes("000000000000000007fffffffffffffe"))
    }

    @Test func `nothing is nothing`() {
        #expect(counters(String(repeating: "0", count: 32), at: 5, 0) == [])
    }

    #if canImport(CryptoExtras)
        @Test(arguments: UInt64(1)...4)
        func `any range is what another implementation makes of the whole`(seed: UInt64) throws {
            var random = SeededGenerator(seed: seed)
            let key = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Two blocks before a carry past 32 bits, and past 64.
            let counter =
                (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) } + [
                    0xFF, 0xFF, 0xFF, UInt8(0xFE + seed % 2), 0xFF, 0xFF, 0xFF, 0xFE,
                ]
            let plain = (0..<5003).map { _ in UInt8.random(in: 0...255, using: &random) }
            let cipher = Array(
                try AES._CTR.encrypt(plain, using: SymmetricKey(data: key), nonce: AES._CTR.Nonce(nonceBytes: counter)))
            let mode = CounterMode(aesKey: key, initialCounter: counter)
            for _ in 0..<200 {
                let start = Int.random(in: 0..<plain.count, using: &random)
                let end = Int.random(in: start...plain.count, using: &random)
                var part = Array(cipher[start..<end])
                mode.apply(to: &part, at: Int64(start))
                #expect(part == Array(plain[start..<end]))
            }
        }
    #endif
}
