#if Server
    import Configuration
    import Foundation
    import ReprisePlatform

    /// A file of settings: one object of JSON, a member a setting.
    struct SettingsFile: Sendable {
        let path: String
        private let snapshot: JSONSnapshot

        /// The type of a member; settings have no other types of JSON.
        private enum Member: Decodable {
            case of(ConfigType)
            case other

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                func holds(_ type: (some Decodable).Type) -> Bool { (try? container.decode(type)) != nil }
                if container.decodeNil() {
                    self = .other
                } else if holds(Bool.self) {
                    self = .of(.bool)
                } else if holds(Int.self) {
                    self = .of(.int)
                } else if holds(String.self) {
                    self = .of(.string)
                } else {
                    self = holds([String].self) ? .of(.stringArray) : .other
                }
            }
        }

        /// Reads the file at `path`.
        /// - Throws: A `Failure` that names file and key where it cannot be read or holds what it should not.
        init(path: String) throws {
            let data: Data
            do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
                throw Failure(
                    Failure.settings, "the settings file \(path) cannot be read: \(error.localizedDescription)")
            }
            let members: [String: Member]
            do { members = try JSONDecoder().decode([String: Member].self, from: data) } catch {
                throw Failure(Failure.settings, "the settings file \(path) is not a JSON object")
            }
            for (key, member) in members.sorted(by: { $0.key < $1.key }) {
                guard let name = SettingName(rawValue: key) else {
                    let advice =
                        SettingName.nearest(to: key).map { "did you mean \"\($0.rawValue)\"?" }
                        ?? "`reprise serve --show-settings` lists them"
                    throw Failure(Failure.settings, "\(path): unknown setting \"\(key)\"; \(advice)")
                }
                guard case .of(name.type) = member else { throw Settings.wrong(name, in: path) }
            }
            let bytes = [UInt8](data)
            do {
                // A view of `bytes`, which outlives the call.
                snapshot = try unsafe JSONSnapshot(
                    data: bytes.span.bytes, providerName: path, parsingOptions: .default)
            } catch {
                throw Failure(Failure.settings, "the settings file \(path) cannot be used: \(error)")
            }
            self.path = path
        }

        /// The file that is read without being named, whether it exists or not.
        static var standardPath: String {
            let home = SystemCalls.environment("HOME") ?? "/var/tmp"
            #if os(macOS)
                return home + "/Library/Application Support/reprise/config.json"
            #else
                return (SystemCalls.environment("XDG_CONFIG_HOME") ?? home + "/.config") + "/reprise/config.json"
            #endif
        }

        /// What it says of a setting; `nil` where it says nothing.
        func content(_ name: SettingName) throws -> ConfigContent? {
            try snapshot.value(forKey: name.key, type: name.type).value?.content
        }
    }
#endif
