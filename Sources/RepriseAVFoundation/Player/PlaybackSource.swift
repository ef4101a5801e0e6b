#if canImport(AVFoundation) && !os(watchOS)
    public import Foundation
    public import RepriseCore

    /// Something to play: a remote URL, which goes through the cache; a file of the app's sandbox; a resource of a bundle.
    public struct PlaybackSource: Sendable, Hashable {
        /// Where it is; `nil` where a bundle has no such resource.
        public let url: URL?
        /// Fields its origin needs, for example `Authorization`.
        public let headers: [String: String]
        /// What names it in the cache, instead of what the key policy makes of the URL.
        public let key: ResourceKey?
        /// For a person: what was looked for.
        let name: String

        /// A remote URL, or a file URL.
        public static func url(_ url: URL, headers: [String: String] = [:], key: ResourceKey? = nil) -> PlaybackSource {
            PlaybackSource(url: url, headers: headers, key: key, name: url.lastPathComponent)
        }

        /// A resource of a bundle, looked for at once. Where there is none, playing it fails with `.missingResource`.
        public static func resource(
            _ name: String, withExtension fileExtension: String? = nil, in bundle: Bundle = .main
        ) -> PlaybackSource {
            PlaybackSource(
                url: bundle.url(forResource: name, withExtension: fileExtension), headers: [:], key: nil,
                name: fileExtension.map { "\(name).\($0)" } ?? name)
        }
    }
#endif
