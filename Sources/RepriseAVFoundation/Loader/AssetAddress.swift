#if canImport(AVFoundation) && !os(watchOS)
    import Foundation

    /// Which way a URL goes, and the address a mediated asset has. Decides; does nothing.
    enum AssetAddress {
        /// Put before the scheme, so that the system cannot load the URL and asks the delegate. Lower-case letters and a
        /// hyphen: what newer URL parsers accept as a scheme.
        static let prefix = "reprise-"

        /// Why `url` cannot go through a resource loader; `nil` where it can.
        static func reasonAgainstLoader(_ url: URL) -> DirectReason? {
            if url.isFileURL { return .file }
            let scheme = url.scheme?.lowercased()
            if scheme == "skd" { return .protectedContent }
            guard scheme == "http" || scheme == "https" else { return .unsupportedScheme }
            switch url.pathExtension.lowercased() {
            case "m3u8", "m3u", "mpd": return .stream
            case "m4p": return .protectedContent
            default: return nil
            }
        }

        /// The URL with our scheme: host, path, extension and query kept, as AVFoundation looks at the extension.
        /// The original is kept beside it, never computed back. User information is left out: assets' URLs end in logs.
        static func mediated(_ url: URL) -> URL? {
            guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true),
                let scheme = components.scheme
            else { return nil }
            components.scheme = prefix + scheme.lowercased()
            components.user = nil
            components.password = nil
            components.fragment = nil
            return components.url
        }
    }
#endif
