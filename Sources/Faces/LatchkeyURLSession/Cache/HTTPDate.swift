// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A date in a field of HTTP, in the form that servers must send (RFC 9110, section 5.6.7):
/// `Sun, 06 Nov 1994 08:49:37 GMT`. `DateFormatter` takes longer for it than a handshake's
/// evaluation of certificates.
struct HTTPDate: Hashable, Sendable {
    let date: Date

    /// Nil if the text has another form, or is not a date of the calendar.
    init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.length + 1))
        guard bytes.count == Self.length, Self.names(Self.days, have: bytes[0..<3]) != nil,
            let month = Self.names(Self.months, have: bytes[8..<11]),
            let day = Self.number(bytes[5..<7]), let year = Self.number(bytes[12..<16]),
            let hour = Self.number(bytes[17..<19]), let minute = Self.number(bytes[20..<22]),
            let second = Self.number(bytes[23..<25]), hour < 24, minute < 60, second <= 60,
            1...Self.count(ofDaysIn: month, year) ~= day, year > 0,
            Self.separators.allSatisfy({ bytes[$0.key] == $0.value })
        else { return nil }
        let days = Self.days(before: year) + (0..<month).reduce(0) { $0 + Self.count(ofDaysIn: $1, year) } + day - 1
        date = Date(timeIntervalSince1970: Double(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    /// Of the days from 1 January 1970 to that of the year.
    private static func days(before year: Int) -> Int {
        let last = year - 1
        return 365 * (year - 1970) + (last / 4 - last / 100 + last / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400)
    }

    /// - Parameter month: 0 for January.
    private static func count(ofDaysIn month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 1 ? (isLeap ? 29 : 28) : [3, 5, 8, 10].contains(month) ? 30 : 31
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.reduce(0) { value, digit in
            guard let value, 0x30...0x39 ~= digit else { return nil }
            return value * 10 + Int(digit - 0x30)
        }
    }

    /// The index of a name of three letters.
    private static func names(_ names: [UInt8], have name: ArraySlice<UInt8>) -> Int? {
        stride(from: 0, to: names.count, by: 3).first { names[$0..<$0 + 3] == name }.map { $0 / 3 }
    }

    private static let length = 29
    private static let days = Array("MonTueWedThuFriSatSun".utf8)
    private static let months = Array("JanFebMarAprMayJunJulAugSepOctNovDec".utf8)
    /// The bytes between the parts, by their position.
    private static let separators: [Int: UInt8] = {
        var separators: [Int: UInt8] = [:]
        for (index, byte) in "ddd, dd mmm yyyy dd:dd:dd GMT".utf8.enumerated()
        where !Array("dmy".utf8).contains(byte) { separators[index] = byte }
        return separators
    }()
}
