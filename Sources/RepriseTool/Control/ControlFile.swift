#if Server
    import Foundation
    import ReprisePlatform
    import RepriseProxy
    import RepriseStorage

    /// `<root>/control`: how the tool reaches the server that holds a root. Owner-only, as it has the server's secret;
    /// there while the server runs. One that a killed server left behind leads nowhere and is replaced by the next.
    struct ControlFile: Codable, Sendable {
        /// The server's process.
        var process: Int32
        /// Path of a Unix socket; `nil` where it would be too long for one.
        var socket: String?
        /// Port of loopback, where there is no socket.
        var port: Int?
        /// What requests have to carry.
        var secret: String
        /// Where media is served, like `http://127.0.0.1:8787`.
        var media: String
        /// Whether media URLs carry the store's token.
        var hasToken: Bool
        /// Whether its store is in memory, so that the directory tells nothing of it; absent where it is not.
        var isInMemory: Bool?

        /// Longest path a Unix socket can have, with its final zero: `sun_path` of Linux has 108 bytes, of macOS 104.
        private static let longestSocketPath = 103

        static func path(_ root: String) -> String { root + "/control" }

        /// Where the server of `root` is to listen.
        static func address(_ root: String) -> AdminServer.Address {
            let path = root + "/control.socket"
            return path.utf8.count <= longestSocketPath ? .unix(path: path) : .tcp(host: "127.0.0.1", port: 0)
        }

        /// The file of `root`; `nil` where there is none.
        static func read(_ root: String) throws(FileError) -> ControlFile? {
            do throws(FileError) {
                let bytes = try DiskVolume().readAll(path(root), limit: 4096)
                // A half-written one is as good as none.
                return try? JSONDecoder().decode(ControlFile.self, from: Data(bytes))
            } catch {
                if error.kind == .missing { return nil }
                throw error
            }
        }

        /// Puts the file in its place, whole.
        func write(_ root: String) throws {
            let files = DiskVolume()
            let temporary = ControlFile.path(root) + ".new"
            let handle = try files.open(temporary, .create)
            try handle.truncate(to: 0)
            try handle.write(Array(try JSONEncoder().encode(self)), at: 0)
            try files.rename(temporary, to: ControlFile.path(root))
        }

        /// Takes file and socket away, when the server stops.
        static func remove(_ root: String) {
            for name in [path(root), root + "/control.socket"] {
                // They may be gone already; nothing depends on it.
                do throws(FileError) { try DiskVolume().removeFile(name) } catch { continue }
            }
        }
    }
#endif
