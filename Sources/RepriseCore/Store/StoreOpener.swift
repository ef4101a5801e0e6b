package import ReprisePlatform
package import RepriseStorage

/// Opens the store at a location, as often as it has to be: at the start, and again where that failed or the lock was
/// given away.
package struct StoreOpener: Sendable {
    package let location: StoreLocation
    private let volume: any StoreVolume
    private let folders: any DeviceFolders
    private let layout: BlockLayout
    private let seal: Seal?

    package init(
        location: StoreLocation, volume: any StoreVolume = DiskVolume(),
        folders: any DeviceFolders = SystemFolders(), layout: BlockLayout = .standard, seal: Seal? = nil
    ) {
        self.location = location
        self.volume = volume
        self.folders = folders
        self.layout = layout
        self.seal = seal
    }

    /// A store in the directory `path` of a volume of an app's own.
    package init(at path: String, on volume: any StoreVolume, seal: Seal?) {
        // What is no directory of the system's gets no marks of the system's.
        let folders: any DeviceFolders = volume.hasPaths ? SystemFolders() : NoFolders()
        self.init(location: .directory(path), volume: volume, folders: folders, seal: seal)
    }

    /// Makes the directory if need be, marks it, and opens the store in it. I/O.
    ///
    /// The marks are set at every open: restoring a backup or deleting the directory by hand loses them.
    package func open() throws(CacheError) -> Store {
        let path = try location.path(in: folders)
        do throws(FileError) {
            try volume.makeDirectory(path)
            // Before anything is made in it: what is there already keeps the class it was made with.
            try folders.allowAfterFirstUnlock(path)
            if location.isExcludedFromBackup { try folders.excludeFromBackup(path) }
        } catch {
            throw CacheError(StoreError(error, doing: "making the store \(path)"))
        }
        do throws(StoreError) {
            return try Store(root: path, volume: volume, layout: layout, key: seal?.key())
        } catch {
            throw CacheError(error)
        }
    }
}

extension CacheError {
    /// What the store says, as the cache says it.
    package init(_ error: StoreError) {
        self.init(error.code == .incomplete ? .incomplete : .store, error.description)
    }
}
