import RepriseHTTP

/// Decides what a copy of an entry is called. No I/O.
package struct ExportDestination: Sendable, Hashable {
    /// Bytes of a name's stem that are taken from a URL: with the extension it fits every file system (255).
    private static let longestStem = 200

    /// Where the file will be.
    package let path: String
    /// Where it is while it is being made: beside it, so that one step puts it in its place.
    package let temporary: String

    /// - Parameters:
    ///   - given: An absolute path: of a directory, or of the file, which gets an extension where it has none.
    ///   - isDirectory: Whether it is one that is there.
    ///   - mark: What tells it from other copies that are being made.
    package init(_ given: String, isDirectory: Bool, of info: EntryInfo, mark: String) {
        let parts = given.pathComponents
        let folder: String
        var name: String
        if isDirectory {
            folder = "/" + parts.joined(separator: "/")
            name = ExportDestination.stem(info)
        } else {
            folder = "/" + parts.dropLast().joined(separator: "/")
            name = String(parts.last ?? "")
        }
        let hasExtension = name.cut(atLast: ".").map { !$0.head.isEmpty && !$0.tail.isEmpty } ?? false
        if isDirectory || !hasExtension, let ending = ExportDestination.fileExtension(info) { name += "." + ending }
        let start = folder == "/" ? "/" : folder + "/"
        path = start + name
        temporary = start + "." + String(name.prefix(64)) + "." + mark + ".part"
    }

    /// The extension that players know the bytes by: the URL's where it is one of media, else the content type's; `nil`
    /// where nobody knows.
    static func fileExtension(_ info: EntryInfo) -> String? {
        let type = MediaType(info.fields["Content-Type"])?.fileExtension
        let known = MediaType.uniformTypeIdentifier(forExtension: info.fileExtension) != nil
        if !known, let type, type != "bin" { return type }
        return info.fileExtension == "bin" || info.fileExtension.isEmpty ? nil : info.fileExtension
    }

    /// The URL's last name without its extension, as a file may be called.
    private static func stem(_ info: EntryInfo) -> String {
        let url = info.url.upTo("?#")
        let path = url.pathComponents.dropFirst(2)  // scheme and host
        let last = String(decoding: path.last?.percentDecoded ?? [], as: UTF8.self)
        var name = ""
        for scalar in last.unicodeScalars {
            let isPlain = scalar != "/" && scalar.value >= 0x20 && scalar.value != 0x7F
            name.unicodeScalars.append(isPlain ? scalar : "_")
        }
        if let (stem, ending) = name.cut(atLast: "."), ending.utf8.count <= 8,
            ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        {
            name = String(stem)
        }
        name = String(name.unicodeScalars.drop { $0 == "." })
        while name.utf8.count > longestStem { name.removeLast() }
        return name.isEmpty ? "media" : name
    }
}
