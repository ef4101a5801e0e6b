#if Server
    import ArgumentParser
    import Configuration
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseProxy
    import RepriseRanges
    import RepriseStorage

    /// Where the store is, and what else is set.
    struct StoreOptions: ParsableArguments {
        @Option(name: .shortAndLong, help: "Directory of the store.")
        var directory: String?
        @Option(
            help: ArgumentHelp(
                "File with the key of an encrypted store, private to its owner: 32 bytes or 64 hexadecimal digits.",
                valueName: "file"))
        var keyFile: String?
        @Option(
            help: ArgumentHelp("Settings file to use instead of the user's.", valueName: "file"))
        var config: String?
        @OptionGroup var keys: KeyOptions

        /// What is set, by this command's flags and elsewhere.
        func settings(_ flags: [SettingName: ConfigContent?] = [:]) throws -> Settings {
            var flags = flags.merging(keys.flags) { $1 }.compactMapValues(\.self)
            flags[.directory] = directory.map { .string($0) }
            flags[.keyFile] = keyFile.map { .string($0) }
            return try Settings(flags: flags, path: config, environment: ProcessInfo.processInfo.environment)
        }

        /// What a cache over the store is opened with.
        func configuration() throws -> MediaCache.Configuration { try settings().cacheConfiguration() }

        /// The key of a URL, or of an entry that is named by its key.
        func key(_ text: String) throws -> ResourceKey {
            let configuration = try configuration()
            return OriginURL(text).map { configuration.key(for: $0) } ?? ResourceKey(text)
        }

        /// The store's directory.
        var root: String { get throws { try settings().text(.directory) ?? StoreOptions.standardRoot } }

        /// The store's directory where nothing else is said.
        static var standardRoot: String {
            let home = SystemCalls.environment("HOME") ?? "/var/tmp"
            #if os(macOS)
                return home + "/Library/Caches/reprise"
            #else
                return (SystemCalls.environment("XDG_CACHE_HOME") ?? home + "/.cache") + "/reprise"
            #endif
        }

        /// Opens the store for writing, or ends the program with a plain message.
        func open() throws -> Store { try opened(.write).mapError { Failure($0) }.get() }

        func opened(_ access: Store.Access) throws -> Result<Store, StoreError> {
            let root = try root
            let key = try key()
            return Result { () throws(StoreError) in
                try Store(
                    root: root, volume: DiskVolume(), access: access, key: key,
                    onSlots: access == .write ? try SlotTrace.fromEnvironment() : nil)
            }
        }

        /// What a server has of its directory while it runs. By the directory's lock the other commands find it.
        enum ServerHold {
            case store(Store)
            /// Its store is in memory.
            case lock(RootLock)
            /// The directory may only be read, which playing goes on without.
            case none(StoreError)

            var store: Store? { if case .store(let store) = self { store } else { nil } }
            var refusal: StoreError? { if case .none(let refusal) = self { refusal } else { nil } }
        }

        /// Holds the directory for a server.
        /// - Parameter memory: Bytes of memory that its store is in; `nil` for a store in the directory.
        func hold(forServing memory: Int64?) throws -> ServerHold {
            let root = try root
            let taken: Result<ServerHold, StoreError> =
                memory == nil ? try opened(.write).map { .store($0) } : lockedAlone(root).map { .lock($0) }
            guard case .failure(let refusal) = taken else { return try taken.get() }
            guard refusal.isWriteRefused, FileManager.default.fileExists(atPath: root) else { throw Failure(refusal) }
            // What would be an error on a volume that can be written is one here, too.
            if memory == nil, case .failure(let error) = try opened(.readOnly), error.code != .unavailable {
                throw Failure(error)
            }
            return .none(refusal)
        }

        /// Sees that no other process holds the directory, where the store is set to be in memory.
        func checkUnused() throws { _ = try lockedAlone(try root).mapError { Failure($0) }.get() }

        private func lockedAlone(_ root: String) -> Result<RootLock, StoreError> {
            Result { () throws(StoreError) in try RootLock.take(root: root, on: DiskVolume()) }
        }

        /// The token of this store's server: made once, so that URLs stay good over restarts.
        /// - Parameter isReadOnly: The store cannot be written: where it has no token yet, one is made for this time only.
        func token(isReadOnly: Bool = false) throws -> String {
            let root = try root
            do throws(FileError) {
                let files = DiskVolume()
                if isReadOnly { return try storedToken(root, files) ?? ProxyConfiguration.makeToken() }
                try files.makeDirectory(root)
                let handle = try files.open(root + "/token", .create)
                var bytes: [UInt8] = []
                try handle.read(at: 0, count: 64, into: &bytes)
                if let found = RepriseTool.token(in: bytes) { return found }
                let token = ProxyConfiguration.makeToken()
                try handle.truncate(to: 0)
                try handle.write(Array((token + "\n").utf8), at: 0)
                return token
            } catch {
                throw Failure(74, "the token file in \(root) cannot be used: \(error)")
            }
        }
    }

    private func storedToken(_ root: String, _ files: DiskVolume) throws(FileError) -> String? {
        do throws(FileError) { return token(in: try files.readAll(root + "/token", limit: 64)) } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    private func token(in bytes: [UInt8]) -> String? {
        let found = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        return found.utf8.count == 32 && found.allSatisfy { $0.isHexDigit } ? found : nil
    }

    /// A message for a person and the exit code that goes with it.
    struct Failure: Error, CustomStringConvertible {
        /// The store is in use by another process.
        static let inUse: Int32 = 75
        /// What is to be exported or imported is not there, or not all of it.
        static let noInput: Int32 = 66
        /// A settings file or a variable of the environment is not as it should be.
        static let settings: Int32 = 78

        let code: Int32
        let description: String

        init(_ code: Int32, _ message: String) {
            self.code = code
            description = message
        }

        init(_ error: StoreError) {
            self.init(error.code == .inUse ? Failure.inUse : 74, error.description)
        }

        init(_ error: CacheError) {
            switch error.code {
            case .badURL, .rangeNotSatisfiable, .unsupported: self.init(64, error.description)
            case .incomplete: self.init(Failure.noInput, error.description)
            case .store: self.init(74, error.description)
            case .closed: self.init(70, error.description)
            case .originUnreachable, .originTimedOut, .originRefused, .originForbidden, .originInvalid,
                .changed:
                self.init(69, error.description)
            }
        }
    }

    /// Runs a command; a failure becomes a line on standard error and an exit code.
    func run(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let failure as Failure {
            printError("reprise: \(failure.description)")
            throw ExitCode(failure.code)
        } catch let error as CacheError {
            let failure = Failure(error)
            printError("reprise: \(failure.description)")
            throw ExitCode(failure.code)
        } catch let code as ExitCode {
            throw code
        } catch {
            printError("reprise: \(error)")
            throw ExitCode(70)
        }
    }

    /// Reads a URL as a person gives it.
    func parseURL(_ text: String) throws -> OriginURL {
        guard let url = OriginURL(text) else {
            throw Failure(64, "\(text) is not an absolute http or https URL")
        }
        return url
    }

    /// `REPRISE_TRACE_SLOTS=file` appends a line for every slot write: how a test of `kill -9` knows what must be there.
    enum SlotTrace {
        static func fromEnvironment() throws(StoreError) -> (@Sendable (String, ByteRange) -> Void)? {
            guard let path = SystemCalls.environment("REPRISE_TRACE_SLOTS") else { return nil }
            guard let file = AppendingFile(path: path) else { return nil }
            return { name, range in file.append("\(name) \(range.lowerBound) \(range.upperBound)\n") }
        }
    }
#endif
