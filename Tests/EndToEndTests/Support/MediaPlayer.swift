#if Server
    import Foundation
    import ReprisePlatform
    import Testing

    /// What a player made of a file: equal for equal media.
    struct Playback: Sendable, Hashable, CustomStringConvertible {
        var hash: UInt64
        var size: Int

        init(_ data: Data) {
            hash = XXH64.hash([UInt8](data))
            size = data.count
        }

        var description: String { "\(size) bytes, hash \(String(hash, radix: 16))" }
    }

    /// A real player, run without screen and loudspeaker as fast as it can.
    enum MediaPlayer: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case ffmpeg, ffprobe, mpv, gstreamer, vlc, curl

        var testDescription: String { rawValue }

        /// Plays `url` from its start, or from `start` seconds on for one second (ffmpeg only).
        func play(_ url: String, from start: Int? = nil) async throws -> Playback {
            let directory = try WorkDirectory()
            let file = directory.path + "/out"
            let result: CommandResult
            switch self {
            case .ffmpeg:
                let seek = start.map { ["-ss", "\($0)"] } ?? []
                let length = start == nil ? [] : ["-t", "1"]
                result = try await Command.run(
                    "ffmpeg",
                    ["-nostdin", "-v", "error"] + seek + ["-i", url] + length
                        + ["-map", "0:v:0?", "-map", "0:a:0?", "-f", "framemd5", file], in: directory.path)
            case .ffprobe:
                result = try await Command.run(
                    "ffprobe",
                    [
                        "-v", "error", "-show_data_hash", "md5", "-of", "compact", "-show_entries",
                        "format=format_name,duration,size:stream=codec_name,duration:packet=pts,size,data_hash", "-o",
                        file,
                        url,
                    ], in: directory.path)
            case .mpv:
                result = try await Command.run(
                    "mpv",
                    [
                        "--no-config", "--no-terminal", "--ytdl=no", "--vo=null", "--untimed", "--ao=pcm",
                        "--ao-pcm-file=\(file)", url,
                    ], in: directory.path)
            case .gstreamer:
                let sink = "audioconvert ! audioresample ! audio/x-raw,format=S16LE,channels=1,rate=8000"
                result = try await Command.run(
                    "gst-launch-1.0",
                    [
                        "-q", "playbin", "uri=\(url)", "audio-sink=\(sink) ! filesink location=\(file)",
                        "video-sink=fakesink sync=false",
                    ], in: directory.path)
            case .vlc:
                // It refuses to run as root.
                let transcode = "#transcode{acodec=s16l,channels=1,samplerate=8000}"
                result = try await Command.run(
                    "setpriv",
                    [
                        "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=\(directory.path)",
                        "XDG_RUNTIME_DIR=\(directory.path)", "cvlc", "-q", "-I", "dummy", "--no-video",
                        "--no-sout-video",
                        "--sout", transcode + ":std{access=file,mux=wav,dst=\(file)}", url, "vlc://quit",
                    ], in: directory.path)
            case .curl:
                result = try await Command.run("curl", ["-sS", "--fail", "-o", file, url], in: directory.path)
            }
            guard result.status == 0, let data = FileManager.default.contents(atPath: file), !data.isEmpty else {
                throw PlayerFailure("\(self) ended with \(result.status): \(result.errors.prefix(500))")
            }
            return Playback(data)
        }
    }
#endif
