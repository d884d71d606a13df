// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc

/// The value of `--since`: a duration before now, or a date.
enum LogTime: ExpressibleByArgument, Equatable {
    /// Seconds before now.
    case ago(Double)
    /// Seconds since 1970.
    case date(Double)

    init?(argument: String) {
        guard let time = LogTime.ago(argument) ?? LogTime.date(argument) else { return nil }
        self = time
    }

    /// Returns a time as text: `2026-11-21 12:00:00 UTC`.
    ///
    /// - Parameter time: seconds since 1970.
    static func text(_ time: Double) -> String {
        // Limits the year to four digits.
        var seconds = time_t(min(max(0, time.isNaN ? 0 : time), 253_402_300_799))
        var fields = tm()
        gmtime_r(&seconds, &fields)
        func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(fields.tm_year + 1900)-\(digits(fields.tm_mon + 1))-\(digits(fields.tm_mday))"
        return "\(date) \(digits(fields.tm_hour)):\(digits(fields.tm_min)):\(digits(fields.tm_sec)) UTC"
    }

    func seconds(now: Double) -> Double {
        switch self {
        case .ago(let seconds): now - seconds
        case .date(let seconds): seconds
        }
    }

    private static func ago(_ text: String) -> LogTime? {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        guard let last = text.last, let unit = units[last], let count = UInt32(text.dropLast()) else { return nil }
        return .ago(Double(count) * unit)
    }

    /// Parses `2026-11-21`, optionally followed by `T12:00` or `T12:00:00`.
    private static func date(_ text: String) -> LogTime? {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false)
        guard let days = numbers(parts[0], "-"), days.count == 3, parts.count <= 2, (1...12).contains(days[1]),
            (1...31).contains(days[2])
        else { return nil }
        guard let clock = parts.count == 2 ? numbers(parts[1], ":") : [0, 0], (2...3).contains(clock.count),
            clock[0] < 24,
            clock.dropFirst().allSatisfy({ $0 < 60 })
        else { return nil }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (days[0] - 1900, days[1] - 1, days[2])
        (fields.tm_hour, fields.tm_min, fields.tm_sec) = (clock[0], clock[1], clock.count == 3 ? clock[2] : 0)
        return .date(Double(timegm(&fields)))
    }

    private static func numbers(_ text: Substring, _ separator: Character) -> [Int32]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.allSatisfy(\.isNumber) && $0.count <= 4 ? Int32($0) : nil }
        return numbers.count == parts.count ? numbers : nil
    }
}
