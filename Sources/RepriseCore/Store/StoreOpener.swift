package import ReprisePlatform
package import RepriseStorage

/// Opens the store at a location, as often as it has to be: at the start, and again where that failed or the lock was
/// given away.
package struct StoreOpener: Sendable {
    package let location: StoreLocation
    private let fileSystem: any FileSystem
    private let folders: any DeviceFolders
    private let layout: BlockLayout
    private let seal: Seal?

    package init(
        location: StoreLocation, fileSystem: any FileSystem = RealFileSystem(),
        folders: any DeviceFolders = SystemFolders(), layout: BlockLayout = .standard, seal: Seal? = nil
    ) {
        self.location = location
        self.fileSystem = fileSystem
        self.folders = folders
        self.layout = layout
        self.seal = seal
    }

    /// Makes the directory if need be, marks it, and opens the store in it. I/O.
    ///
    /// The marks are set at every open: restoring a backup or deleting the directory by hand loses them.
    package func open() throws(CacheError) -> Store {
        let path = try location.path(in: folders)
        do throws(FileError) {
            try fileSystem.makeDirectory(path)
            // Before anything is made in it: what is there already keeps the class it was made with.
            try folders.allowAfterFirstUnlock(path)
            if location.isExcludedFromBackup { try folders.excludeFromBackup(path) }
        } catch {
            throw CacheError(StoreError(error, doing: "making the store \(path)"))
        }
        do throws(StoreError) {
            return try Store(root: path, fileSystem: fileSystem, layout: layout, key: seal?.key())
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
