#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension DiskVolume {
    /// As `StoreVolume.clone`: `clonefile` on Apple's systems (APFS), `FICLONE` on Linux (btrfs, XFS, bcachefs, overlays of them).
    public func clone(_ source: any VolumeFile, to path: String) throws(FileError) -> Bool {
        guard let descriptor = source.descriptor else { return false }
        #if canImport(Darwin)
            if unsafe fclonefileat(descriptor, AT_FDCWD, path, 0) == 0 { return true }
            let code = errno
        #else
            let target = try open(path, .createNew)
            guard let number = target.descriptor else { return false }
            // FICLONE, linux/fs.h
            if ioctl(number, 0x4004_9409, descriptor) == 0 { return true }
            let code = errno
            try removeFile(path)
        #endif
        let error = FileError(code: code, operation: "clone", path: path)
        if error.kind == .full || error.kind == .exists { throw error }
        // Another volume, or one that cannot; a copy finds out whether it was something worse.
        return false
    }
}
