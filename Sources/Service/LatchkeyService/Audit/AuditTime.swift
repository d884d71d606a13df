// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Formats and parses times as in the log: `2026-11-21T12:00:00.000Z`.
enum AuditTime {
    /// - Parameter time: seconds since 2001.
    static func text(_ time: Double) -> String { text(since1970: time + Double(Clocks.secondsBetweenEpochs)) }

    /// - Parameter time: seconds since 1970.
    static func text(since1970 time: Double) -> String {
        // The clock may have any value; the format has four digits for the year.
        let milliseconds = Int64(min(max(0, time.isNaN ? 0 : time), lastSecond) * 1000)
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date = "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
        let clock = "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2))"
        return "\(date)T\(clock).\(digits(milliseconds % 1000, 3))Z"
    }

    /// Returns seconds since 1970; nil if the text is not a time of this format.
    static func seconds(_ text: some StringProtocol) -> Double? {
        let fields = text.split { !("0"..."9").contains($0) }.compactMap { Int32($0) }
        guard fields.count == 7, let year = fields.first, (1970...9999).contains(year),
            fields.dropFirst().allSatisfy({ $0 < 1000 })
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (fields[0] - 1900, fields[1] - 1, fields[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (fields[3], fields[4], fields[5])
        return Double(timegm(&parts)) + Double(fields[6]) / 1000
    }

    /// The last second of the year 9999.
    private static let lastSecond = 253_402_300_799.0

    private static func digits(_ number: some BinaryInteger, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
