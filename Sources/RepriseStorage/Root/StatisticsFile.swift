import RepriseHTTP
import ReprisePlatform

/// The file `statistics` of a root: sums over all its entries and all its time, by name. A hint: one that is torn or
/// damaged counts as none, and nothing depends on it.
///
///     reprise statistics 1
///     served 123456
///     ...
///     check <XXH64 of the lines before, hexadecimal>
///
/// In a sealed root the same, sealed. Names that are not known are left alone by who reads and dropped by who writes.
enum StatisticsFile {
    private static let head = "reprise statistics 1"
    /// More than any version has to say.
    static let limit = 4096

    static func encoded(_ sums: [String: Int64]) -> [UInt8] {
        var text = head + "\n"
        for (name, value) in sums.sorted(by: { $0.key < $1.key }) { text += "\(name) \(value)\n" }
        return Array((text + "check " + String(XXH64.hash(Array(text.utf8)), radix: 16) + "\n").utf8)
    }

    /// The sums; `nil` where the file is not whole.
    static func decoded(_ bytes: [UInt8]) -> [String: Int64]? {
        let lines = String(decoding: bytes, as: UTF8.self).parts(between: "\n")
        guard lines.count >= 3, lines[0] == head else { return nil }
        var sums: [String: Int64] = [:]
        for line in lines[1..<lines.count - 2] {
            guard let (name, number) = line.cut(at: " "), let value = Int64(number), value >= 0 else { return nil }
            sums[String(name)] = value
        }
        // Byte for byte as it would be written: the check, and that nothing is before, between or behind.
        return encoded(sums) == bytes ? sums : nil
    }
}

extension Store {
    private var statisticsPath: String { root + "/statistics" }

    /// Sums over all entries, by name; `nil` where there are none, or they are damaged. I/O.
    package func readStatistics() throws(StoreError) -> [String: Int64]? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try volume.readAll(statisticsPath, limit: StatisticsFile.limit)
        } catch {
            if error.kind == .missing { return nil }
            throw StoreError(error, doing: "reading the store's statistics")
        }
        guard let seal else { return StatisticsFile.decoded(bytes) }
        return seal.open(statistics: bytes).flatMap { StatisticsFile.decoded($0) }
    }

    /// Puts other sums in their place, in one step. Nothing happens where somebody removed the root. I/O, for who writes the root.
    package func writeStatistics(_ sums: [String: Int64]) throws(StoreError) {
        let (plain, epoch) = (StatisticsFile.encoded(sums), epoch)
        do throws(FileError) {
            let bytes = seal?.seal(statistics: plain) ?? plain
            try epoch.replace(statisticsPath, with: bytes, by: statisticsPath + ".new")
        } catch {
            if error.kind != .missing { throw StoreError(error, doing: "writing the store's statistics") }
        }
    }
}
