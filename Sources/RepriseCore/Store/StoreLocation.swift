import RepriseHTTP

/// Where a cache keeps its files, and so what the system may do with them.
///
/// | location | the system deletes it when room is short | backed up | pins |
/// |---|---|---|---|
/// | `.caches` | yes | no | no |
/// | `.offline` | no | no | yes |
/// | `.appGroup` | no | no | yes |
/// | `.directory` | that is the caller's affair | that is the caller's affair | yes |
///
/// A name is one path component: not empty, without `/`, neither `.` nor `..`.
public enum StoreLocation: Sendable, Hashable {
    /// In the app's Caches directory; on Linux in `$XDG_CACHE_HOME`, else `~/.cache`.
    case caches(_ name: String = "Reprise")
    /// In Application Support, kept out of backups; on Linux in `$XDG_DATA_HOME`, else `~/.local/share`. For media that
    /// has to be there without a network. Not on tvOS, which keeps no files.
    case offline(_ name: String = "Reprise")
    /// In the container of an app group, kept out of backups: one app or extension at a time writes it. Apple's systems
    /// only.
    case appGroup(_ id: String, _ name: String = "Reprise")
    /// In a directory of the caller's own, by its absolute path.
    case directory(_ path: String)

    /// Whether the system deletes these files when it needs room, whatever a pin says.
    package var isPurgeable: Bool { if case .caches = self { true } else { false } }

    /// Whether the files are to be marked as not for backups.
    package var isExcludedFromBackup: Bool {
        switch self {
        case .offline, .appGroup: true
        case .caches, .directory: false  // Caches are never backed up; a directory is its owner's.
        }
    }

    /// The directory's absolute path on a device with `folders`. No I/O.
    /// - Throws: `CacheError` with `.unsupported` for names that are none and for places this system does not have.
    package func path(in folders: some DeviceFolders) throws(CacheError) -> String {
        switch self {
        case .caches(let name):
            return try StoreLocation.join(folders.caches, name, else: "the Caches directory")
        case .offline(let name):
            return try StoreLocation.join(folders.applicationSupport, name, else: "a directory for files that are kept")
        case .appGroup(let id, let name):
            try StoreLocation.check(id)
            return try StoreLocation.join(
                folders.groupContainer(id), name, else: "the container of the app group \(id); check the entitlement")
        case .directory(let path):
            guard path.beginsLike("/"), !path.utf8.contains(0) else {
                throw CacheError(.unsupported, "\"\(path)\" is not an absolute path; a store's directory has to be one")
            }
            let parts = path.pathComponents
            guard !parts.isEmpty else { throw CacheError(.unsupported, "a store cannot be the root of the disk") }
            return "/" + parts.joined(separator: "/")
        }
    }

    private static func join(
        _ folder: String?, _ name: String, else missing: String
    ) throws(CacheError) -> String {
        try check(name)
        guard let folder else { throw CacheError(.unsupported, "this system does not give us \(missing)") }
        return (folder.without(suffix: "/") ?? folder[...]) + "/" + name
    }

    private static func check(_ name: String) throws(CacheError) {
        // 255 bytes is what the file systems of all our platforms allow a component.
        guard !name.isEmpty, name.utf8.count <= 255, name != ".", name != "..",
            !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 })
        else {
            throw CacheError(
                .unsupported, "\"\(name)\" cannot name a store: one path component is needed, without / and not . or .."
            )
        }
    }
}
