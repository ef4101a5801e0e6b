#if Server
    import Foundation

    /// Volumes of a test's own.
    enum Volume {
        /// Runs `work` on a volume with those options of its mount; only root may make one, so others are told.
        static func use(
            _ options: String, _ work: (_ volume: String, WorkDirectory) async throws -> Void
        ) async throws {
            let directory = try WorkDirectory()
            let volume = directory.path + "/volume"
            try FileManager.default.createDirectory(atPath: volume, withIntermediateDirectories: true)
            let mounted = try Program.run("/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", volume])
            guard mounted.status == 0 else {
                print("no volume of its own can be made here, so this is not tested: \(mounted.errors)")
                return
            }
            let outcome = await Outcome { try await work(volume, directory) }
            _ = try Program.run("/bin/umount", ["-l", volume])
            try outcome.get()
        }
    }
#endif
