#if Server
    import Configuration
    import RepriseHTTP

    extension Settings {
        private struct Row: Encodable {
            var setting: String
            var value: String?
            var source: String
        }

        private struct Report: Encodable {
            var file: String?
            var settings: [Row]
        }

        /// Prints every setting, its value and where it came from; what proves who asks is masked.
        func show(json: Bool) {
            let rows = SettingName.allCases.map { name in
                Row(
                    setting: name.rawValue, value: self[name].map { Settings.shown($0.content, name) },
                    source: self[name].map { "\($0.source)" } ?? "not set")
            }
            if json { return printJSON(Report(file: file, settings: rows)) }
            for row in rows {
                func column(_ text: String, _ width: Int) -> String { text + padded("", max(1, width - text.count)) }
                print(column(row.setting, 16) + column(row.value ?? "-", 32) + row.source)
            }
            print("settings file: \(file ?? "none; \(SettingsFile.standardPath) would be read")")
        }

        private static func masked(_ text: String, _ name: SettingName) -> String {
            guard name == .origin, let user = OriginURL(text)?.userInfo else { return text }
            return text.replacing(user + "@", with: "***@", maxReplacements: 1)
        }

        private static func shown(_ content: ConfigContent, _ name: SettingName) -> String {
            switch content {
            case .string(let text): return text
            case .int(let number): return "\(number)"
            case .bool(let value): return "\(value)"
            case .stringArray(let texts):
                return texts.isEmpty ? "-" : texts.map { masked($0, name) }.joined(separator: ",")
            case .double, .bytes, .intArray, .doubleArray, .boolArray, .byteChunkArray: return "-"
            }
        }
    }
#endif
