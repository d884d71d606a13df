// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Formats and parses times as in the log: `2026-11-21T12:00:00.000Z`.
enum AuditTime {
    /// - Parameter time: seconds since 1970.
    static func text(since1970 time: Double) -> String {
        var text = AuditText()
        text.append(timeSince1970: time)
        return String(decoding: text.bytes, as: UTF8.self)
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
}

extension AuditText {
    /// - Parameter time: seconds since 2001.
    mutating func append(time: Double) { append(timeSince1970: time + Double(Clocks.secondsBetweenEpochs)) }

    /// - Parameter time: seconds since 1970. The clock may have any value; the format has four
    ///   digits for the year.
    mutating func append(timeSince1970 time: Double) {
        let milliseconds = Int64(min(max(0, time.isNaN ? 0 : time), Self.lastSecond) * 1000)
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        append(parts.tm_year + 1900, digits: 4)
        for (separator, number) in [
            ("-", parts.tm_mon + 1), ("-", parts.tm_mday), ("T", parts.tm_hour), (":", parts.tm_min),
            (":", parts.tm_sec),
        ] as [(StaticString, Int32)] {
            append(separator)
            append(number, digits: 2)
        }
        append(".")
        append(milliseconds % 1000, digits: 3)
        append("Z")
    }

    /// The last second of the year 9999.
    private static let lastSecond = 253_402_300_799.0
}
