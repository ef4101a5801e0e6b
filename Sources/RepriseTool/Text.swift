import Foundation
import ReprisePlatform
import RepriseRanges

/// A number of bytes as a person reads it, in powers of 1024.
struct Size: CustomStringConvertible {
    let bytes: Int64

    init(_ bytes: Int64) { self.bytes = bytes }

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

/// `text` with spaces before it up to `width` characters.
func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

/// Prints a value as one line of JSON, with its members in order.
func printJSON(_ value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do { print(String(decoding: try encoder.encode(value), as: UTF8.self)) } catch {
        preconditionFailure("plain values encode: \(error)")
    }
}
