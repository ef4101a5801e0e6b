/// A media type (RFC 9110 §8.3.1) in lower case, without its parameters.
public struct MediaType: Hashable, Sendable {
    /// For example `audio`.
    public let type: String
    /// For example `mpeg`.
    public let subtype: String

    /// Reads a `Content-Type`; `nil` where it is not of the form `type/subtype`.
    public init?(_ field: String?) {
        guard let field else { return nil }
        let essence = field.upTo(";").trimmingOptionalWhitespace.lowercased()
        let parts = essence.parts(between: "/")
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(MediaType.isToken) }) else {
            return nil
        }
        type = String(parts[0])
        subtype = String(parts[1])
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// `type/subtype`
    public var essence: String { "\(type)/\(subtype)" }

    /// Whether the type is one of text mark-up or data (HTML, XML, JSON), which media never is.
    public var isMarkup: Bool {
        if type == "text" { return true }
        guard type == "application" else { return false }
        return ["json", "xml", "xhtml+xml", "javascript"].contains(subtype)
            || subtype.endsLike("+json") || subtype.endsLike("+xml")
    }

    /// Whether the type is that of an HLS or DASH manifest.
    public var isManifest: Bool {
        [
            "application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl",
            "application/dash+xml",
        ].contains(essence)
    }

    /// Whether a browser runs nothing of what has it: sound, pictures but SVG, playlists, and bytes of no type.
    public var isInert: Bool {
        guard !isXML else { return false }
        switch type {
        case "audio", "video", "image": return true
        default:
            return isManifest
                || ["application/octet-stream", "application/ogg", "application/mp4"].contains(essence)
        }
    }

    /// Whether servers give bodies of that type a coding: text, and what is much like it. Sound, films, most pictures, archives and
    /// bytes of no type are compressed in themselves.
    public var isCompressible: Bool {
        if isMarkup || isXML || isManifest { return true }
        switch type {
        case "image": return ["bmp", "x-ms-bmp", "x-icon", "vnd.microsoft.icon"].contains(subtype)
        case "font": return !["woff", "woff2"].contains(subtype)
        case "application":
            return ["wasm", "x-javascript", "ecmascript", "rtf", "manifest", "vnd.ms-fontobject", "x-font-ttf"]
                .contains(subtype)
        default: return false
        }
    }

    /// Whether it is XML by its type, whatever of (RFC 7303 §4.2): pictures (SVG) and manifests (DASH) are.
    public var isXML: Bool { subtype == "xml" || subtype.endsLike("+xml") }

    /// The usual file extension for a stored body, `bin` where none is known.
    public var fileExtension: String { MediaType.known[essence]?.fileExtension ?? "bin" }

    /// The uniform type identifier Apple's frameworks know it by, if any.
    public var uniformTypeIdentifier: String? { MediaType.known[essence]?.identifier }

    /// The uniform type identifier that Apple's frameworks know files with this extension by, if any. Case does not matter.
    public static func uniformTypeIdentifier(forExtension fileExtension: String) -> String? {
        extensions[fileExtension.lowercased()]
    }

    /// The content type that files with this extension usually have, if one is known. Case does not matter.
    public static func contentType(forExtension fileExtension: String) -> String? {
        contentTypes[fileExtension.lowercased()]
    }

    private static let contentTypes: [String: String] = [
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "m4b": "audio/mp4", "aac": "audio/aac", "flac": "audio/flac",
        "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav", "aif": "audio/aiff",
        "aiff": "audio/aiff", "caf": "audio/x-caf", "ac3": "audio/ac3", "mp4": "video/mp4", "m4v": "video/x-m4v",
        "mov": "video/quicktime", "qt": "video/quicktime", "webm": "video/webm", "mkv": "video/x-matroska",
        "ogv": "video/ogg", "ts": "video/mp2t", "mpg": "video/mpeg", "mpeg": "video/mpeg", "avi": "video/x-msvideo",
        "3gp": "video/3gpp",
    ]

    // Where several types share an extension, the one that Apple's players prefer for it.
    private static let extensions: [String: String] = [
        "mp3": "public.mp3", "m4a": "com.apple.m4a-audio", "m4b": "com.apple.m4a-audio", "aac": "public.aac-audio",
        "mp4": "public.mpeg-4", "m4v": "com.apple.m4v-video", "mov": "com.apple.quicktime-movie",
        "qt": "com.apple.quicktime-movie", "wav": "com.microsoft.waveform-audio", "aif": "public.aiff-audio",
        "aiff": "public.aiff-audio", "caf": "com.apple.coreaudio-format", "flac": "org.xiph.flac",
        "ogg": "org.xiph.ogg-audio", "opus": "org.xiph.opus", "ac3": "public.ac3-audio",
        "ec3": "public.enhanced-ac3-audio", "3gp": "public.3gpp", "3gpp": "public.3gpp", "3g2": "public.3gpp2",
        "mpg": "public.mpeg", "mpeg": "public.mpeg", "ts": "public.mpeg-2-transport-stream", "avi": "public.avi",
        "webm": "org.webmproject.webm",
    ]

    private static let known: [String: (fileExtension: String, identifier: String?)] = [
        "audio/mpeg": ("mp3", "public.mp3"), "audio/mp3": ("mp3", "public.mp3"),
        "audio/mp4": ("m4a", "public.mpeg-4-audio"), "audio/x-m4a": ("m4a", "com.apple.m4a-audio"),
        "audio/m4a": ("m4a", "com.apple.m4a-audio"), "audio/aac": ("aac", "public.aac-audio"),
        "audio/aacp": ("aac", "public.aac-audio"), "audio/flac": ("flac", "org.xiph.flac"),
        "audio/x-flac": ("flac", "org.xiph.flac"), "audio/ogg": ("ogg", "org.xiph.ogg-audio"),
        "audio/opus": ("opus", "org.xiph.opus"), "audio/wav": ("wav", "com.microsoft.waveform-audio"),
        "audio/wave": ("wav", "com.microsoft.waveform-audio"), "audio/x-wav": ("wav", "com.microsoft.waveform-audio"),
        "audio/vnd.wave": ("wav", "com.microsoft.waveform-audio"), "audio/aiff": ("aiff", "public.aiff-audio"),
        "audio/x-aiff": ("aiff", "public.aiff-audio"), "audio/webm": ("webm", nil),
        "audio/ac3": ("ac3", "public.ac3-audio"), "audio/x-caf": ("caf", "com.apple.coreaudio-format"),
        "video/mp4": ("mp4", "public.mpeg-4"), "video/x-m4v": ("m4v", "com.apple.m4v-video"),
        "video/quicktime": ("mov", "com.apple.quicktime-movie"), "video/webm": ("webm", "org.webmproject.webm"),
        "video/ogg": ("ogv", nil), "video/x-matroska": ("mkv", nil),
        "video/mp2t": ("ts", "public.mpeg-2-transport-stream"),
        "video/mpeg": ("mpg", "public.mpeg"), "video/x-msvideo": ("avi", "public.avi"),
        "video/3gpp": ("3gp", "public.3gpp"),
        "application/ogg": ("ogg", nil), "application/mp4": ("mp4", "public.mpeg-4"),
    ]
}

/// What the first bytes of a body say it is.
public enum ContainerSignature: String, Hashable, Sendable {
    case isoMedia, mp3, flac, ogg, riff, matroska, mpegTransport, aiff
    /// HTML, XML or JSON: an error page, a login page, an expired-URL document.
    case markup
    /// An HLS playlist or a DASH manifest, whatever its type says.
    case manifest
    /// Nothing known: says nothing either way.
    case unknown

    /// Looks at up to the first 512 bytes. Total: any bytes have an answer.
    public static func of(_ bytes: some Collection<UInt8>) -> ContainerSignature {
        let head = Array(bytes.prefix(512))
        func has(_ text: String, at offset: Int = 0) -> Bool {
            head.count >= offset + text.utf8.count && head[offset...].starts(with: text.utf8)
        }
        if ["ftyp", "moov", "moof", "styp", "mdat", "sidx"].contains(where: { has($0, at: 4) }) { return .isoMedia }
        if has("ID3") { return .mp3 }
        if has("fLaC") { return .flac }
        if has("OggS") { return .ogg }
        if has("RIFF") || has("RF64") { return .riff }
        if has("FORM") && has("AIF", at: 8) { return .aiff }
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return .matroska }
        if head.count > 188, head[0] == 0x47, head[188] == 0x47 { return .mpegTransport }
        if head.count > 1, head[0] == 0xFF, head[1] & 0xE0 == 0xE0, head[1] & 0x06 != 0 { return .mp3 }
        var text = head[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }  // a byte-order mark
        text = text.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let start = String(decoding: text.prefix(64), as: UTF8.self).lowercased()
        let root = root(of: text, start)
        if manifests.contains(where: { root.beginsLike($0) }) { return .manifest }
        return pages.contains(where: { start.beginsLike($0) }) || isJSON(text) ? .markup : .unknown
    }

    /// How manifests begin (RFC 8216 §4.3.1.1, ISO/IEC 23009-1 §5.3.1.2), in lower case.
    private static let manifests = ["#extm3u", "<mpd"]
    private static let pages = ["<!doctype", "<html", "<head", "<body", "<?xml", "<error", "<script", "<svg", "<!--"]

    /// How the first element of XML begins, behind the declaration where there is one; else how the text does.
    private static func root(of text: ArraySlice<UInt8>, _ start: String) -> String {
        guard start.beginsLike("<?xml"), let end = text.prefix(512).firstIndex(of: 0x3E) else { return start }
        let root = text[(end + 1)...].drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return String(decoding: root.prefix(64), as: UTF8.self).lowercased()
    }

    private static func isJSON(_ text: ArraySlice<UInt8>) -> Bool {
        // An object whose first member is a string, or an array of one of those.
        guard let first = text.first, first == 0x7B || first == 0x5B else { return false }
        let next = text.dropFirst().drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }.first
        let printable = text.prefix(64).allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0D].contains($0) }
        return printable && (next == 0x22 || next == 0x7D || next == 0x7B || next == 0x5D)
    }
}
