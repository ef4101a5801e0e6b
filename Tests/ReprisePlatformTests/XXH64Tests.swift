import ReprisePlatform
import RepriseTesting
import Testing

@Suite("XXH64")
struct XXH64Tests {
    /// The buffer of xxHash's own sanity check: the top bytes of powers of a prime.
    static let sanityBuffer: [UInt8] = {
        var generator: UInt64 = 2_654_435_761
        return (0..<2367).map { _ in
            defer { generator = generator &* 11_400_714_785_074_694_797 }
            return UInt8(generator >> 56)
        }
    }()

    struct Vector: Sendable {
        let count: Int
        let plain: UInt64
        let seeded: UInt64
    }

    /// Made with the reference library (python-xxhash 3), seeds 0 and 2654435761.
    static let vectors = [
        Vector(count: 0, plain: 0xEF46_DB37_51D8_E999, seeded: 0xAC75_FDA2_929B_17EF),
        Vector(count: 1, plain: 0xE934_A84A_DB05_2768, seeded: 0x5014_6076_43A9_B4C3),
        Vector(count: 2, plain: 0x5D48_CD60_A77E_23FF, seeded: 0x9E93_1522_32D5_4A39),
        Vector(count: 3, plain: 0xFF7E_1959_CB50_794A, seeded: 0xAA85_84E8_3660_F7D1),
        Vector(count: 4, plain: 0x9136_A0DC_A574_57EE, seeded: 0xCAAB_286B_D8E9_FDB5),
        Vector(count: 5, plain: 0x9B04_6FB1_397F_09A5, seeded: 0x2AF5_2499_30F9_84EC),
        Vector(count: 7, plain: 0x6C83_909A_9F01_ED25, seeded: 0xF98D_03B1_AD6F_9293),
        Vector(count: 8, plain: 0xCDBC_F538_E71D_1348, seeded: 0xFE0C_047A_5353_CDAC),
        Vector(count: 9, plain: 0x554B_1AE9_91ED_A6B6, seeded: 0x7908_2652_48F6_D73F),
        Vector(count: 11, plain: 0x6345_D574_6F35_DA70, seeded: 0xEAA0_8A8C_8BE3_CCCF),
        Vector(count: 12, plain: 0x0723_BF50_086E_AD9A, seeded: 0x8252_819F_4E50_6951),
        Vector(count: 13, plain: 0xC2E5_013E_3C40_BCF7, seeded: 0x4DF4_37A2_91CB_1039),
        Vector(count: 14, plain: 0x8282_DCC4_994E_35C8, seeded: 0xC3BD_6BF6_3DEB_6DF0),
        Vector(count: 15, plain: 0x1807_1931_6D62_2D84, seeded: 0xD611_05C2_0E91_F99F),
        Vector(count: 16, plain: 0x98C9_0B57_FDFC_B55C, seeded: 0xC900_AD2D_536B_607E),
        Vector(count: 17, plain: 0x0D39_A2D0_51A3_0C2C, seeded: 0x495C_D68A_647C_7A22),
        Vector(count: 24, plain: 0xF75A_6DEA_42DC_5BF4, seeded: 0x8B7C_67EB_5977_8E22),
        Vector(count: 28, plain: 0x64CD_9E8C_96A9_E2DD, seeded: 0x8160_FB8C_20B4_8287),
        Vector(count: 31, plain: 0x299B_39A2_90E6_D783, seeded: 0xDA67_3D5F_EB5C_1D79),
        Vector(count: 32, plain: 0x18B2_1649_2BB4_4B70, seeded: 0xB3F3_3BDF_93AD_E409),
        Vector(count: 33, plain: 0x55C8_DC3E_578F_5B59, seeded: 0xE92C_292F_64BC_3071),
        Vector(count: 36, plain: 0x0AE6_7584_084D_C6A4, seeded: 0x57C7_3F9E_3A6F_C2C6),
        Vector(count: 39, plain: 0xB888_CAF0_7592_B1B3, seeded: 0x602E_74D4_3465_AC3D),
        Vector(count: 40, plain: 0x23B3_810D_7D8B_1731, seeded: 0x5A57_F246_772B_C540),
        Vector(count: 47, plain: 0x84A4_2E16_7CBD_1FEF, seeded: 0xA474_B31A_5132_A541),
        Vector(count: 48, plain: 0xFD0F_EEAC_7A93_9933, seeded: 0x6FFE_2F43_A24C_2302),
        Vector(count: 63, plain: 0xA9EF_BE0F_A0F3_F4E7, seeded: 0x6C91_1FAD_B05B_6FC2),
        Vector(count: 64, plain: 0xEF55_8F8A_CAC2_B5CD, seeded: 0xB5EE_BA99_264C_C44F),
        Vector(count: 65, plain: 0xDE0F_20DC_2631_AF7A, seeded: 0xD3F6_FF39_41E3_10CA),
        Vector(count: 95, plain: 0xFF9F_46BD_CC64_4624, seeded: 0x72E7_5A56_0EF6_24A3),
        Vector(count: 96, plain: 0x1050_64E7_43ED_D1D9, seeded: 0x8FF0_B4AB_EE6F_03CC),
        Vector(count: 97, plain: 0x097B_16E4_E9B0_A2E3, seeded: 0x9704_E514_7FDC_C4F4),
        Vector(count: 127, plain: 0x3C7A_2111_9AA6_62B0, seeded: 0xB0D6_DC18_9C06_CEED),
        Vector(count: 128, plain: 0x90CA_0214_57D9_6DC5, seeded: 0xED93_40A2_02BC_D1CF),
        Vector(count: 222, plain: 0xB641_AE8C_B691_C174, seeded: 0x20CB_8AB7_AE10_C14A),
        Vector(count: 256, plain: 0x5E3F_5BF9_4D57_4981, seeded: 0x3473_3CBD_9CC1_B0D5),
        Vector(count: 1000, plain: 0x52BD_1358_F22E_9EF7, seeded: 0x7275_1A24_0801_7E26),
        Vector(count: 2048, plain: 0x5940_F275_2BC0_4387, seeded: 0xAA26_F33C_2898_013B),
        Vector(count: 2367, plain: 0xA824_18DD_EC0E_A581, seeded: 0xA36A_93C1_8052_673A),
    ]

    @Test(arguments: vectors)
    func `agrees with the reference library`(vector: Vector) {
        let bytes = Array(XXH64Tests.sanityBuffer.prefix(vector.count))
        #expect(XXH64.hash(bytes) == vector.plain)
        #expect(XXH64.hash(bytes, seed: 2_654_435_761) == vector.seeded)
    }

    @Test func `agrees on text`() {
        #expect(XXH64.hash(Array("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
        #expect(XXH64.hash(Array("Nobody inspects the spammish repetition".utf8)) == 0xFBCE_A83C_8A37_8BF1)
    }

    @Test(arguments: UInt64(1)...20)
    func `in pieces equals at once`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let bytes = random.bytes(.random(in: 0...400, using: &random))
            let start = random.next()
            var hash = XXH64(seed: start)
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = rest.prefix(.random(in: 0...70, using: &random))
                rest = rest.dropFirst(part.count)
                hash.update(part)
                // Asking in between disturbs nothing.
                let done = bytes.prefix(bytes.count - rest.count)
                #expect(hash.finish() == XXH64.hash(Array(done), seed: start), "seed \(seed)")
            }
            #expect(hash.finish() == XXH64.hash(bytes, seed: start), "seed \(seed)")
        }
    }
}
