// SPDX-License-Identifier: Apache-2.0

/// The value of a property list's `date` element: `2001-01-31T23:59:59Z`, in UTC and whole seconds.
enum PropertyListDate {
    /// Returns the seconds since 1970-01-01T00:00:00Z; nil if the text is not a date of the years 1
    /// to 9999.
    static func seconds(_ text: String) -> Double? {
        let (date, time) = text.halves(at: "T")
        guard let time, let clock = time.hasSuffix("Z") ? time.dropLast() : nil,
            let (year, month, day) = numbers(date, separator: "-", widths: [4, 2, 2]),
            let (hour, minute, second) = numbers(clock, separator: ":", widths: [2, 2, 2]),
            1...9999 ~= year, 1...12 ~= month, 1...length(of: month, year) ~= day, hour < 24, minute < 60, second < 60
        else { return nil }
        return Double(((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
    }

    private static func numbers(_ text: Substring, separator: Character, widths: [Int]) -> (Int, Int, Int)? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == widths, parts.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else {
            return nil
        }
        let values = parts.compactMap { Int($0) }
        guard values.count == 3 else { return nil }
        return (values[0], values[1], values[2])
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func length(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar. Years start in March, so that a
    /// leap day is the last day of its year.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let (year, month) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - daysTo1970
    }

    /// The days from March 1 of year 0 to 1970-01-01.
    private static let daysTo1970 = 719_468
}

extension String {
    /// Splits the text at the first separator; the second part is nil if there is no separator.
    fileprivate func halves(at separator: Character) -> (Substring, Substring?) {
        let parts = split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
        return (parts.first ?? "", parts.dropFirst().first)
    }
}
