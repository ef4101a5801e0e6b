#if Server
    import Foundation
    import ReprisePlatform
    import RepriseStorage

    /// Where the key of a sealed store comes from: a file, or `REPRISE_KEY`.
    enum KeyFile {
        /// 64 hexadecimal digits; blanks and line ends around them do not count.
        static func key(digits text: String) -> SealKey? {
            let digits = Array(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
            guard digits.count == 64 else { return nil }
            let bytes = stride(from: 0, to: 64, by: 2).compactMap { index in
                UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
            }
            return SealKey(bytes)
        }

        /// Reads a key file: 32 bytes, or 64 hexadecimal digits, accessible by its owner alone.
        static func read(_ path: String) throws -> SealKey {
            do {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
                guard mode & 0o077 == 0 else {
                    throw Failure(
                        Failure.settings,
                        "the key file \(path) is accessible to other users; run chmod 600 on it")
                }
            } catch let failure as Failure { throw failure } catch {
                throw Failure(Failure.settings, "the key file \(path) cannot be read: \(error.localizedDescription)")
            }
            let bytes: [UInt8]
            do throws(FileError) { bytes = try DiskVolume().readAll(path, limit: 1024) } catch {
                throw Failure(Failure.settings, "the key file \(path) cannot be read: \(error)")
            }
            if bytes.count == 32, let key = SealKey(bytes) { return key }
            if let key = key(digits: String(decoding: bytes, as: UTF8.self)) { return key }
            throw Failure(
                Failure.settings,
                "the key file \(path) contains no key: expected 32 bytes or 64 hexadecimal digits, "
                    + "as printed by `openssl rand -hex 32`")
        }
    }

    extension StoreOptions {
        /// The key of the store; `nil` for a plain one. A flag goes before `REPRISE_KEY`, that before other places.
        func key() throws -> SealKey? {
            let settings = try settings()
            let path = settings.text(.keyFile)
            if case .flag? = settings[.keyFile]?.source, let path { return try KeyFile.read(path) }
            if let text = SystemCalls.environment("REPRISE_KEY"), !text.isEmpty {
                guard let key = KeyFile.key(digits: text) else {
                    throw Failure(Failure.settings, "REPRISE_KEY: expected 64 hexadecimal digits")
                }
                return key
            }
            return try path.map { try KeyFile.read($0) }
        }
    }
#endif
