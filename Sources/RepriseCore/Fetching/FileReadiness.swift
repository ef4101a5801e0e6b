import RepriseHTTP
package import RepriseStorage

/// Decides when a file may be given away by its path while the rest of it is still coming. No I/O.
package enum FileReadiness: Sendable, Hashable {
    /// So many bytes from the start have to be there first; to look at them, or to give the file away.
    case look(bytes: Int64)
    /// The file may be given away once so many bytes from the start are there.
    case give(bytes: Int64)
    /// Not before all of it is there.
    case refuse(String)
    /// Not even then.
    case never(String)

    /// An index that begins or ends past this is not looked for: the file counts as one whose index is last.
    private static let furthestLook: Int64 = 1 << 20

    /// - Parameters:
    ///   - asked: Bytes the caller wants to be there; `Int64.max` for all.
    ///   - head: The file's first bytes, as many as `look` asked for.
    ///   - length: Length of the whole, if known.
    package init(asked: Int64, head: [UInt8], length: Int64?, integrity: BlockIntegrity) {
        if integrity == .sealed {
            self = .never(
                "a sealed store's files are encrypted; read it through asset(for:), the server or a reader, "
                    + "or have it decrypted by fileURL(decryptedIn:)")
            return
        }
        if asked == .max {
            self = .give(bytes: asked)
            return
        }
        if let length, asked >= length || Int64(head.count) >= length {
            self = .give(bytes: length)
            return
        }
        switch MP4Layout(head) {
        case .other: self = .give(bytes: asked)
        case .indexFirst(let end): self = .give(bytes: max(asked, end))
        case .needs(let bytes) where bytes <= FileReadiness.furthestLook: self = .look(bytes: bytes)
        case .needs, .indexLast:
            self = .refuse(
                "its index comes after the media, so no player can open it before all is there; "
                    + "use fileURL(), or play it through asset(for:) or the server")
        }
    }
}
