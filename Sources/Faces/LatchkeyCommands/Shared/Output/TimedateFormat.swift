// SPDX-License-Identifier: Apache-2.0

/// A date as in macOS's keychain files: `YYYYMMDDhhmmssZ` in UTC.
enum TimedateFormat {
    /// - Parameter seconds: the seconds since 2001-01-01 00:00:00 UTC.
    /// - Returns: nil if the date is not in the years 1 to 9999.
    static func text(_ seconds: Double) -> String? {
        guard let whole = Int64(exactly: seconds.rounded(.down)), validSeconds.contains(whole) else { return nil }
        let (day, time) = (floor(whole, secondsPerDay), modulo(whole, secondsPerDay))
        let date = civil(day + daysToEpoch)
        return digits(date.year, 4) + digits(date.month, 2) + digits(date.day, 2)
            + digits(time / 3600, 2) + digits(time / 60 % 60, 2) + digits(time % 60, 2) + "Z"
    }

    /// Returns the Gregorian date of a day counted from 0000-03-01. In a year that begins in March,
    /// the leap day is the last day, and the lengths of the months follow a pattern of 153 days in
    /// five months.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let era = floor(days, daysPerEra)
        let dayOfEra = modulo(days, daysPerEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        (number - modulo(number, divisor)) / divisor
    }

    private static func modulo(_ number: Int64, _ divisor: Int64) -> Int64 {
        let rest = number % divisor
        return rest < 0 ? rest + divisor : rest
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(count - text.count, 0)) + text
    }

    private static let secondsPerDay: Int64 = 86400
    private static let daysPerEra: Int64 = 146_097
    /// From 0000-03-01 to 2001-01-01.
    private static let daysToEpoch: Int64 = 730_791
    /// 0001-01-01 to 9999-12-31.
    private static let validSeconds: ClosedRange<Int64> = -63_113_904_000...252_423_993_599
}
