#if Server
    import Configuration
    import Foundation
    import RepriseHTTP
    import ReprisePlatform
    import RepriseStorage

    /// What is set, and where: a flag goes before a variable of the environment, that before the file, that before the
    /// default. A list is taken from one place as a whole.
    struct Settings: Sendable {
        /// Where a value came from.
        enum Source: Sendable, Hashable, CustomStringConvertible {
            case flag(SettingName)
            case variable(String)
            case file(String)
            case standard

            var description: String {
                switch self {
                case .flag(let name): "--\(name.rawValue)"
                case .variable(let name): name
                case .file(let path): path
                case .standard: "default"
                }
            }
        }

        struct Value: Sendable {
            var content: ConfigContent
            var source: Source
        }

        private let values: [SettingName: Value]
        /// The file that was read; `nil` where there is none.
        let file: String?

        /// Reads everything there is to read.
        /// - Parameters:
        ///   - flags: What the command line says.
        ///   - path: The file that `--config` names.
        ///   - environment: The environment's variables; those that are empty say nothing.
        /// - Throws: A `Failure` that names the place and what was expected there.
        init(flags: [SettingName: ConfigContent], path: String?, environment: [String: String]) throws {
            let named = path ?? environment["REPRISE_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
            let standard = SettingsFile.standardPath
            let isThere = named != nil || FileManager.default.fileExists(atPath: standard)
            let file = isThere ? try SettingsFile(path: Settings.absolute(named ?? standard)) : nil
            let variables = EnvironmentVariablesProvider(environmentVariables: environment.filter { !$0.value.isEmpty })
            var values: [SettingName: Value] = [:]
            for name in SettingName.allCases {
                if let content = flags[name] {
                    values[name] = Value(content: content, source: .flag(name))
                } else if let value = try Settings.value(name, variables) {
                    values[name] = value
                } else if let file, let content = try file.content(name) {
                    values[name] = Value(content: content, source: .file(file.path))
                } else if let content = name.standard {
                    values[name] = Value(content: content, source: .standard)
                }
            }
            let folder = file.map { String($0.path[..<($0.path.lastIndex(of: "/") ?? $0.path.startIndex)]) }
            values[.directory] =
                values[.directory].map { Settings.path($0, folder: folder) }
                ?? Value(content: .string(StoreOptions.standardRoot), source: .standard)
            values[.keyFile] = values[.keyFile].map { Settings.path($0, folder: folder) }
            self.values = values
            self.file = file?.path
        }

        private static func value(_ name: SettingName, _ variables: EnvironmentVariablesProvider) throws -> Value? {
            let found: LookupResult
            do { found = try variables.value(forKey: name.variable, type: name.type) } catch {
                throw wrong(name, in: "REPRISE_" + name.rawValue.uppercased().replacing("-", with: "_"))
            }
            return found.value.map { Value(content: $0.content, source: .variable(found.encodedKey)) }
        }

        // A path in a file is meant from where the file is.
        private static func path(_ value: Value, folder: String?) -> Value {
            guard case .string(let path) = value.content else { return value }
            guard case .file = value.source, let folder, !path.beginsLike("/") else {
                return Value(content: .string(absolute(path)), source: value.source)
            }
            return Value(content: .string(absolute(folder + "/" + path)), source: value.source)
        }

        private static func absolute(_ path: String) -> String {
            if path.beginsLike("/") { return path == "/" ? path : path.without(suffix: "/").map { String($0) } ?? path }
            return SystemCalls.currentDirectory + "/" + path
        }

        /// What is said to somebody who set `name` to what it cannot be.
        static func wrong(_ name: SettingName, in place: String) -> Failure {
            Failure(Failure.settings, "\(place): \(name.rawValue): \(name.expectation)")
        }

        /// A setting's value and where it came from; `nil` where it has none.
        subscript(name: SettingName) -> Value? { values[name] }

        /// The failure for a value that has the right type and still cannot be; a flag's is wrong usage.
        func wrong(_ name: SettingName) -> Failure {
            guard let source = self[name]?.source else { return Failure(64, "\(name.rawValue): \(name.expectation)") }
            if case .flag = source { return Failure(64, "\(source): \(name.expectation)") }
            return Settings.wrong(name, in: "\(source)")
        }

        func text(_ name: SettingName) -> String? {
            if case .string(let text)? = self[name]?.content { text } else { nil }
        }

        /// The texts of a list.
        func texts(_ name: SettingName) -> [String] {
            if case .stringArray(let texts)? = self[name]?.content { texts } else { [] }
        }

        func isTrue(_ name: SettingName) -> Bool { self[name]?.content == .bool(true) }

        /// A number that lies in `range`.
        func number(_ name: SettingName, in range: ClosedRange<Int>) throws -> Int? {
            guard case .int(let number)? = self[name]?.content else { return nil }
            guard range.contains(number) else { throw wrong(name) }
            return number
        }

        /// Bytes of memory that the store is to be in; `nil` for a store on the disk.
        func memory() throws -> Int64? {
            guard let text = text(.memory) else { return nil }
            guard let size = Size(text), size.bytes >= 1 << 20 else { throw wrong(.memory) }
            return size.bytes
        }

        /// How much the store may take.
        func limits() throws -> StoreLimits {
            func size(_ name: SettingName) throws -> Int64? {
                guard let text = text(name), text != "none" else { return nil }
                guard let size = Size(text), size.bytes > 0 else { throw wrong(name) }
                return size.bytes
            }
            var limits = StoreLimits.server
            limits.bytes = try size(.limit)
            limits.freeSpace = try size(.minFree)
            limits.age = nil
            if let text = text(.maxAge), text != "none" {
                guard let age = Duration(text: text), age > .zero else { throw wrong(.maxAge) }
                limits.age = age
            }
            return limits
        }

        /// Who may be asked.
        func upstreamRules() throws -> UpstreamRules {
            func patterns(_ name: SettingName) throws -> [UpstreamPattern] {
                try texts(name).map { text in
                    guard let pattern = UpstreamPattern(text.trimmingCharacters(in: .whitespaces)) else {
                        throw wrong(name)
                    }
                    return pattern
                }
            }
            return UpstreamRules(allowed: try patterns(.allow), denied: try patterns(.deny))
        }
    }
#endif
