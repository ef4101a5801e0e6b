import Foundation
import ReprisePlatform
import RepriseRanges

/// A number of bytes as a person reads it, in powers of 1024.
struct Size: CustomStringConvertible {
    let bytes: Int64

    init(_ bytes: Int64) { self.bytes = bytes }

    /// Reads a size as a person writes it: a whole number and B, KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB;
    /// `nil` for anything else, and for what does not fit.
    init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).trimmingPrefix(" ").lowercased()
        let units: [String: Int64] = [
            "": 1, "b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000,
            "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
        ]
        guard let number = Int64(digits), let factor = units[unit] else { return nil }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: factor)
        guard !overflows else { return nil }
        self.bytes = bytes
    }

    var description: String {
        var value = Double(bytes)
        var unit = 0
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        if unit == 0 { return "\(bytes) B" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}

extension Duration {
    /// Reads a time as a person writes it: a whole number and d, h, m or s; `nil` for anything else.
    init?(text: String) {
        let units: [Character: Int64] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
        guard let unit = text.last, let factor = units[unit], let number = Int64(text.dropLast()), number >= 0,
            number < 1 << 40
        else { return nil }
        self = .seconds(number * factor)
    }
}

/// What is stored, drawn: `#` all of a cell's bytes, `+` some, `.` none.
func bar(_ stored: ByteRangeSet, length: Int64, width: Int) -> String {
    guard length > 0 else { return "" }
    let cells = (0..<width).map { cell -> Character in
        let start = length / Int64(width) * Int64(cell) + length % Int64(width) * Int64(cell) / Int64(width)
        let next = length / Int64(width) * Int64(cell + 1) + length % Int64(width) * Int64(cell + 1) / Int64(width)
        let range = ByteRange(start, max(start + 1, next))
        let held = stored.intersection(range).count
        return held == range.count ? "#" : held > 0 ? "+" : "."
    }
    return "[" + String(cells) + "]"
}

/// A share in whole per cent, rounded down.
func percent(_ part: Int64, _ whole: Int64) -> String {
    "\(Int((Double(part) / Double(whole) * 100).rounded(.down))) %"
}

/// `text` with spaces before it up to `width` characters.
func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

/// A value as one line of JSON, with its members in order.
func jsonLine(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do { return String(decoding: try encoder.encode(value), as: UTF8.self) } catch {
        preconditionFailure("plain values encode: \(error)")
    }
}

/// The least number of characters to insert, remove or replace that makes one text the other (Levenshtein).
func editDistance(_ first: String, _ second: String) -> Int {
    var row = Array(0...second.count)
    for (index, character) in first.enumerated() {
        var next = [index + 1]
        for (column, other) in second.enumerated() {
            next.append(min(next[column] + 1, row[column + 1] + 1, row[column] + (character == other ? 0 : 1)))
        }
        row = next
    }
    return row[second.count]
}

extension String {
    /// The same for terminals and logs: characters that steer a terminal, break a line or turn its direction are written as JSON
    /// escapes. URLs and fields of an origin may hold all of these but the controls of ASCII, which pass.
    var escapingTerminalControls: String {
        escaping { scalar in
            switch scalar.value {
            case 0x80...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
            default: false
            }
        }
    }

    /// The same with the controls of ASCII, which names of files and of settings may hold: one line.
    var asOneLine: String { escapingTerminalControls.escaping { $0.value < 0x20 || $0.value == 0x7F } }

    private func escaping(_ isEscaped: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: isEscaped) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            guard isEscaped(scalar) else { return text.unicodeScalars.append(scalar) }
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

/// What the tool prints goes through here: it tells of URLs and fields that others chose.
func print(_ text: String) { Swift.print(text.escapingTerminalControls) }

/// What the tool says on standard error goes through here: a sentence a line, whatever it names.
func printError(_ line: String) { ReprisePlatform.printError(line.asOneLine) }

/// Prints a value as one line of JSON.
func printJSON(_ value: some Encodable) { print(jsonLine(value)) }
