import RepriseCore
import RepriseHTTP

#if canImport(CommonCrypto)
    import CommonCrypto
#else
    import Crypto
    import CryptoExtras
#endif

// snippet: aes-counter-mode
extension CounterMode {
    /// AES in counter mode, with a key of 16, 24 or 32 bytes.
    init(aesKey key: [UInt8], initialCounter: [UInt8]) {
        precondition([16, 24, 32].contains(key.count), "no key of AES")
        #if canImport(CommonCrypto)
            self.init(initialCounter: initialCounter) { blocks in
                let plain = blocks
                var count = 0
                let status = unsafe CCCrypt(
                    CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionECBMode),
                    key, key.count, nil, plain, plain.count, &blocks, plain.count, &count)
                precondition(status == CCCryptorStatus(kCCSuccess) && count == plain.count)
            }
        #else
            let key = SymmetricKey(data: key)
            self.init(initialCounter: initialCounter) { blocks in
                for start in stride(from: 0, to: blocks.count, by: 16) {
                    do { try AES.permute(&blocks[start..<start + 16], key: key) } catch {
                        preconditionFailure("a block of 16 bytes: \(error)")
                    }
                }
            }
        #endif
    }
}
// end

func encryptedMedia(
    keyOfTrack: @escaping @Sendable (String) -> (key: [UInt8], counter: [UInt8])
) -> MediaCache.Configuration {
    // snippet: content-transform
    var configuration = MediaCache.Configuration()
    configuration.contentTransform = { _, url in
        guard url.pathExtension == "enc" else { return nil }
        let secret = keyOfTrack(url.path)
        return CounterMode(aesKey: secret.key, initialCounter: secret.counter)
    }
    // end
    return configuration
}
