import RepriseHTTP
package import ReprisePlatform

/// The folders a system gives an app, and the marks it can put on them; a seam, so that each system's rules are tested
/// on every other.
package protocol DeviceFolders: Sendable {
    /// For files that can be made again.
    var caches: String? { get }
    /// For files that are kept and that the user does not see.
    var applicationSupport: String? { get }
    /// The container that the apps of a group share.
    func groupContainer(_ id: String) -> String?
    /// Keeps a directory and all in it out of backups. The mark is lost when the directory is made anew. I/O.
    func excludeFromBackup(_ path: String) throws(FileError)
    /// Has what will be made in a directory readable from the first unlock after a start on, also while the screen is
    /// locked: else a locked phone could not go on playing. I/O.
    func allowAfterFirstUnlock(_ path: String) throws(FileError)
}

/// No folders of a system's: for a store on a volume that is not the system's.
struct NoFolders: DeviceFolders {
    var caches: String? { nil }
    var applicationSupport: String? { nil }
    func groupContainer(_ id: String) -> String? { nil }
    func excludeFromBackup(_ path: String) throws(FileError) {}
    func allowAfterFirstUnlock(_ path: String) throws(FileError) {}
}

#if canImport(Darwin)
    import Foundation

    /// The folders of the app this runs in.
    package struct SystemFolders: DeviceFolders {
        package init() {}

        package var caches: String? { folder(.cachesDirectory) }

        package var applicationSupport: String? {
            #if os(tvOS)
                nil  // Apps keep nothing there: all their files may be deleted while they do not run.
            #else
                folder(.applicationSupportDirectory)
            #endif
        }

        private func folder(_ directory: FileManager.SearchPathDirectory) -> String? {
            FileManager.default.urls(for: directory, in: .userDomainMask).first?.path(percentEncoded: false)
        }

        package func groupContainer(_ id: String) -> String? {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: id)?.path(percentEncoded: false)
        }

        package func excludeFromBackup(_ path: String) throws(FileError) {
            var url = URL(filePath: path, directoryHint: .isDirectory)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            do { try url.setResourceValues(values) } catch {
                throw SystemFolders.failure("exclude from backup", path, error)
            }
        }

        package func allowAfterFirstUnlock(_ path: String) throws(FileError) {
            // What is made in a directory takes over its class. macOS and Linux have no such classes.
            #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
                let attributes: [FileAttributeKey: Any] = [
                    .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication
                ]
                do { try FileManager.default.setAttributes(attributes, ofItemAtPath: path) } catch {
                    throw SystemFolders.failure("set file protection", path, error)
                }
            #endif
        }

        private static func failure(_ operation: String, _ path: String, _ error: any Error) -> FileError {
            FileError(code: FileError.inputOutput, operation: "\(operation) (\(error))", path: path)
        }
    }
#else
    /// The folders of the XDG base directory specification. Relative paths in its variables are invalid and ignored.
    package struct SystemFolders: DeviceFolders {
        private let variable: @Sendable (String) -> String?

        /// - Parameter variable: The environment to look into.
        package init(variable: @escaping @Sendable (String) -> String? = { SystemCalls.environment($0) }) {
            self.variable = variable
        }

        package var caches: String? { folder("XDG_CACHE_HOME", else: ".cache") }

        package var applicationSupport: String? { folder("XDG_DATA_HOME", else: ".local/share") }

        private func folder(_ name: String, else standard: String) -> String? {
            if let path = variable(name), path.beginsLike("/") { return path }
            guard let home = variable("HOME"), home.beginsLike("/") else { return nil }
            return (home.endsLike("/") ? home : home + "/") + standard
        }

        package func groupContainer(_ id: String) -> String? { nil }

        package func excludeFromBackup(_ path: String) throws(FileError) {}

        package func allowAfterFirstUnlock(_ path: String) throws(FileError) {}
    }
#endif
