/// Dates as HTTP writes them (RFC 9110 §5.6.7), in whole seconds since 1970, without Foundation.
public enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // 1 January 1970 was a Thursday

    /// Seconds since 1970 for any of the three forms a recipient must read; `nil` for anything else.
    public static func parse(_ text: String) -> Int64? {
        let words = text.utf8.split(whereSeparator: { " ,-".utf8.contains($0) }).map { String(Substring($0)) }
        // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT; RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
        if words.count == 6, words[5] == "GMT" || words[5] == "UTC" {
            guard let day = words[1].decimal, let month = month(words[2]), var year = words[3].decimal else {
                return nil
            }
            if words[3].utf8.count == 2 { year += year < 70 ? 2000 : 1900 }
            return seconds(year, month, day, words[4])
        }
        // asctime: Sun Nov  6 08:49:37 1994
        if words.count == 5 {
            guard let month = month(words[1]), let day = words[2].decimal, let year = words[4].decimal else {
                return nil
            }
            return seconds(year, month, day, words[3])
        }
        return nil
    }

    /// The same for what is exactly one of the three forms, to the last blank: where a date that cannot be read has a meaning of
    /// its own, as in `Expires` (RFC 9111 §5.3).
    public static func parseStrictly(_ text: String) -> Int64? {
        guard let seconds = parse(text) else { return nil }
        let words = text.parts(between: " ").map { String($0) }
        func isDay(_ word: String, _ end: String = "") -> Bool { days.contains { ($0 + end).octets == word.octets } }
        func isMonth(_ name: String) -> Bool { months.contains { $0.octets == name.octets } }
        func isNumber(_ word: String, _ count: Int) -> Bool { word.utf8.count == count && word.decimal != nil }
        func isTime(_ word: String) -> Bool {
            let parts = word.parts(between: ":").map { String($0) }
            return parts.count == 3 && parts.allSatisfy { isNumber($0, 2) }
        }
        let isExact =
            switch words.count {
            case 6 where !words[2].isEmpty:
                isDay(words[0], ",") && isNumber(words[1], 2) && isMonth(words[2]) && isNumber(words[3], 4)
                    && isTime(words[4]) && words[5].octets == "GMT".octets
            case 6:
                // asctime pads the day of the month.
                isDay(words[0]) && isMonth(words[1]) && words[2].isEmpty && isNumber(words[3], 1) && isTime(words[4])
                    && isNumber(words[5], 4)
            case 5:
                isDay(words[0]) && isMonth(words[1]) && isNumber(words[2], 2) && isTime(words[3])
                    && isNumber(words[4], 4)
            case 4: isDateOfRFC850(words, isMonth, isNumber) && isTime(words[2]) && words[3].octets == "GMT".octets
            default: false
            }
        return isExact ? seconds : nil
    }

    private static let longDays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    private static func isDateOfRFC850(
        _ words: [String], _ isMonth: (String) -> Bool, _ isNumber: (String, Int) -> Bool
    ) -> Bool {
        let date = words[1].parts(between: "-").map { String($0) }
        return longDays.contains { ($0 + ",").octets == words[0].octets } && date.count == 3
            && isNumber(date[0], 2) && isMonth(date[1]) && isNumber(date[2], 2)
    }

    /// IMF-fixdate, the one form a sender may write. Times before 1970 are written as 1970's start.
    public static func format(_ seconds: Int64) -> String {
        let seconds = max(0, min(seconds, latest))
        let date = civil(days: seconds / 86_400)
        let time = seconds % 86_400
        var text: [UInt8] = []
        text.reserveCapacity(29)
        func digits(_ number: Int64, _ count: Int) {
            var power: Int64 = count == 4 ? 1000 : 10
            while power > 0 {
                text.append(UInt8(0x30 + number / power % 10))
                power /= 10
            }
        }
        text += days[Int((seconds / 86_400) % 7)].utf8
        text += ", ".utf8
        digits(date.day, 2)
        text.append(0x20)
        text += months[Int(date.month) - 1].utf8
        text.append(0x20)
        digits(date.year, 4)
        text.append(0x20)
        digits(time / 3600, 2)
        text.append(UInt8(ascii: ":"))
        digits(time / 60 % 60, 2)
        text.append(UInt8(ascii: ":"))
        digits(time % 60, 2)
        text += " GMT".utf8
        return String(decoding: text, as: UTF8.self)
    }

    /// The last second that has a form.
    private static let latest: Int64 = 253_402_300_799

    private static func month(_ name: String) -> Int64? {
        months.firstIndex { $0.equalsIgnoringCase(name) }.map { Int64($0) + 1 }
    }

    private static func seconds(_ year: Int64, _ month: Int64, _ day: Int64, _ time: String) -> Int64? {
        let parts = time.parts(between: ":").map(\.decimal)
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
            hour < 24, minute < 60, second <= 60, (0...9999).contains(year), day >= 1,
            day <= daysSince1970(month == 12 ? year + 1 : year, month % 12 + 1, 1) - daysSince1970(year, month, 1)
        else { return nil }
        // A leap second is the first one of the next minute.
        return min(daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second, latest)
    }

    // Days of the proleptic Gregorian calendar, counted from 1 March so that the leap day comes last.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
