#if Server
    import Foundation
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// A kind of media file players differ in.
    enum MediaSample: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case mp3, m4a, flac, ogg, wav, webm
        /// The index stands behind the media.
        case mp4IndexLast = "last.mp4"
        /// The index stands before the media.
        case mp4IndexFirst = "first.mp4"
        /// A small index in front of each fragment.
        case mp4Fragmented = "fragmented.mp4"

        var testDescription: String { rawValue }
        var path: String { "/media/sample.\(rawValue)" }
        var hasVideo: Bool { encoder.contains("-c:v") }

        var contentType: String {
            switch self {
            case .mp3: "audio/mpeg"
            case .m4a: "audio/mp4"
            case .flac: "audio/flac"
            case .ogg: "audio/ogg"
            case .wav: "audio/wav"
            case .webm: "video/webm"
            case .mp4IndexLast, .mp4IndexFirst, .mp4Fragmented: "video/mp4"
            }
        }

        fileprivate var encoder: [String] {
            let mp4 = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "aac"]
            return switch self {
            case .mp3: ["-c:a", "libmp3lame", "-b:a", "128k", "-id3v2_version", "3", "-write_id3v1", "1"]
            case .m4a: ["-c:a", "aac", "-b:a", "128k"]
            case .flac: ["-c:a", "flac"]
            case .ogg: ["-c:a", "libvorbis"]
            case .wav: ["-c:a", "pcm_s16le"]
            case .webm:
                ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "800k", "-c:a", "libvorbis"]
            case .mp4IndexLast: mp4
            case .mp4IndexFirst: mp4 + ["-movflags", "+faststart"]
            case .mp4Fragmented: mp4 + ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"]
            }
        }
    }

    /// All samples on one origin, made once by ffmpeg's own sources: a sweep of tones and a test picture.
    struct MediaLibrary: Sendable {
        /// Length of each sample in seconds.
        static let seconds = 12

        let origin: ScriptedOrigin
        let server: LoopbackOrigin

        private static let made = Task { try await make(seconds: seconds, MediaSample.allCases) }

        static func shared() async throws -> MediaLibrary { try await made.value }

        func bytes(of sample: MediaSample) -> [UInt8] { origin.resource(at: sample.path)?.literal ?? [] }

        /// Makes samples of so many seconds, on an origin of their own.
        static func make(seconds: Int, _ samples: [MediaSample]) async throws -> MediaLibrary {
            let directory = try WorkDirectory()
            let origin = ScriptedOrigin()
            for sample in samples {
                let file = directory.path + "/sample." + sample.rawValue
                var arguments = ["-nostdin", "-v", "error", "-y"]
                if sample.hasVideo {
                    arguments += ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=\(seconds)"]
                }
                arguments += [
                    "-f", "lavfi", "-i", "sine=frequency=330:beep_factor=4:duration=\(seconds):sample_rate=44100",
                ]
                arguments += sample.encoder + ["-metadata", "title=Sample", "-bitexact", file]
                let result = try await Command.run("ffmpeg", arguments, in: directory.path)
                guard result.status == 0 else {
                    throw PlayerFailure("ffmpeg could not make \(sample): \(result.errors)")
                }
                var behaviour = OriginBehaviour()
                behaviour.contentType = sample.contentType
                let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
                origin.put(.init(literal: [UInt8](bytes), behaviour), at: sample.path)
            }
            return MediaLibrary(origin: origin, server: try await LoopbackOrigin.start(origin))
        }
    }

    struct PlayerFailure: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }
#endif
