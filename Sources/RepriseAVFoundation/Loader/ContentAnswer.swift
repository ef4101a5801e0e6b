#if canImport(AVFoundation) && !os(watchOS)
    import RepriseCore
    import RepriseHTTP

    #if canImport(UniformTypeIdentifiers)
        import UniformTypeIdentifiers
    #endif

    /// What a loading request is told about the content before its first byte.
    struct ContentAnswer: Equatable {
        /// A uniform type identifier, never a MIME type; `nil` leaves it to the URL's extension.
        var contentType: String?
        /// The whole length in bytes, not that of the probe's answer.
        var length: Int64
        /// Whether every byte is on disk: the player may then read in small pieces instead of buffering.
        var isEntireLengthAvailableOnDemand: Bool

        /// `nil` where the length is not known: a player on a resource loader cannot do without.
        /// - Parameters:
        ///   - signature: What the first bytes are, where they were seen; it wins over a server's wrong word.
        ///   - allowed: The only types the request may be answered with, if it says so.
        init?(_ info: ContentInfo, pathExtension: String, signature: ContainerSignature, allowed: [String]?) {
            guard let length = info.length else { return nil }
            self.length = length
            isEntireLengthAvailableOnDemand = info.isComplete
            let type = ContentAnswer.identifier(MediaType(info.contentType), pathExtension, signature)
            contentType = ContentAnswer.fit(type, to: allowed)
        }

        private static func identifier(_ type: MediaType?, _ pathExtension: String, _ signature: ContainerSignature)
            -> String?
        {
            let declared = type?.uniformTypeIdentifier ?? systemIdentifier(type)
            let byExtension = MediaType.uniformTypeIdentifier(forExtension: pathExtension)
            let candidates = [declared, byExtension].compactMap { $0 }
            guard let container = identifiers[signature] else { return candidates.first }
            return candidates.first { container.contains($0) } ?? container.first
        }

        // The identifiers that each container may go by; the first where nothing else tells.
        private static let identifiers: [ContainerSignature: [String]] = [
            .mp3: ["public.mp3"],
            .isoMedia: [
                "public.mpeg-4", "public.mpeg-4-audio", "com.apple.m4a-audio", "com.apple.m4v-video",
                "com.apple.quicktime-movie", "public.3gpp", "public.3gpp2",
            ],
            .riff: ["com.microsoft.waveform-audio", "public.avi"],
            .aiff: ["public.aiff-audio"], .flac: ["org.xiph.flac"],
            .mpegTransport: ["public.mpeg-2-transport-stream"],
        ]

        private static func systemIdentifier(_ type: MediaType?) -> String? {
            #if canImport(UniformTypeIdentifiers)
                // A dynamic type says only that the system does not know it either.
                guard let type, type.essence != "application/octet-stream",
                    let found = UTType(mimeType: type.essence), !found.isDynamic
                else { return nil }
                return found.identifier
            #else
                return nil
            #endif
        }

        // Finishing with a type outside the list raises an exception that Swift cannot catch; none at all is let through.
        private static func fit(_ type: String?, to allowed: [String]?) -> String? {
            guard let type, let allowed, !allowed.contains(type) else { return type }
            let wider = conformances[type] ?? []
            return allowed.first { wider.contains($0) }
        }

        // From Apple's list of system-declared types.
        private static let conformances: [String: Set<String>] = {
            let audio: Set = [
                "public.audio", "public.audiovisual-content", "public.data", "public.content", "public.item",
            ]
            let movie: Set = [
                "public.movie", "public.audiovisual-content", "public.data", "public.content", "public.item",
            ]
            return [
                "public.mp3": audio, "public.mpeg-4-audio": audio, "public.aac-audio": audio, "org.xiph.flac": audio,
                "com.microsoft.waveform-audio": audio, "public.aiff-audio": audio, "com.apple.coreaudio-format": audio,
                "com.apple.m4a-audio": audio.union(["public.mpeg-4-audio"]), "public.mpeg-4": movie,
                "com.apple.m4v-video": movie.union(["public.mpeg-4"]), "com.apple.quicktime-movie": movie,
                "public.3gpp": movie, "public.3gpp2": movie, "public.mpeg-2-transport-stream": movie,
            ]
        }()
    }
#endif
