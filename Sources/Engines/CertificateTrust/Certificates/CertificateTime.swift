// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A time in a certificate: whole seconds since 1970, in UTC.
public struct CertificateTime: Hashable, Sendable, Comparable {
    public let secondsSince1970: Int64

    /// - Parameter secondsSince1970: clamped to ±10¹², about 31,700 years.
    public init(secondsSince1970: Int64) {
        self.secondsSince1970 = min(max(secondsSince1970, -1_000_000_000_000), 1_000_000_000_000)
    }

    /// The DER tags of `UTCTime` and `GeneralizedTime`.
    static let tags: [UInt8] = [0x17, 0x18]

    /// Reads a `UTCTime` or a `GeneralizedTime` in the form that RFC 5280, section 4.1.2.5,
    /// requires: with seconds, in UTC, without fractions.
    init(_ node: ASN1Node) throws {
        switch node.identifier {
        case .utcTime:
            let time = try UTCTime(derEncoded: node, withIdentifier: .utcTime)
            guard time.seconds < 60 else { throw CertificateError("a time has a leap second") }
            self.init(time.year, time.month, time.day, time.hours, time.minutes, time.seconds)
        case .generalizedTime:
            let time = try GeneralizedTime(derEncoded: node, withIdentifier: .generalizedTime)
            guard time.rawFractionalSeconds.isEmpty else { throw CertificateError("a time has fractional seconds") }
            guard time.seconds < 60, time.year > 0 else {
                throw CertificateError("a time has a leap second or the year 0")
            }
            self.init(time.year, time.month, time.day, time.hours, time.minutes, time.seconds)
        default: throw CertificateError("a time must be UTCTime or GeneralizedTime")
        }
    }

    /// Reads the DER element of a `UTCTime` or a `GeneralizedTime`, without trailing bytes.
    package init(der: ArraySlice<UInt8>) throws(CertificateError) {
        do {
            try self.init(DER.parse(der))
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError("not a time: \(error)")
        }
    }

    /// The DER element: `UTCTime` until 2049, then `GeneralizedTime` (RFC 5280, section 4.1.2.5).
    package var der: [UInt8] {
        let digits = description.utf8.filter { 0x30...0x39 ~= $0 }
        let isShort = "1950" <= description.prefix(4) && description.prefix(4) < "2050"
        return DERElement.of(isShort ? 0x17 : 0x18, Array(digits.dropFirst(isShort ? 2 : 0)) + [0x5A])
    }

    /// A date and time in UTC; nil if it does not exist in the calendar.
    public init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        guard 1...9999 ~= year, 1...12 ~= month, 1...31 ~= day, 0...23 ~= hour, 0...59 ~= minute, 0...59 ~= second
        else { return nil }
        self.init(year, month, day, hour, minute, second)
        // The 31st of a shorter month would become a day of the next month.
        guard description.hasPrefix("\(year.padded(4))-\(month.padded(2))-\(day.padded(2))") else { return nil }
    }

    /// A date of the proleptic Gregorian calendar.
    init(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0) {
        // The year is counted from March, so that the leap day is its last day.
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        secondsSince1970 = Int64(((days * 24 + hour) * 60 + minute) * 60 + second)
    }

    public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
}

// MARK: CustomStringConvertible

extension CertificateTime: CustomStringConvertible {
    /// RFC 3339: `2026-11-21T09:00:00Z`.
    public var description: String {
        let days = Int(secondsSince1970.quotientFloored(86_400)) + 719_468
        let second = Int(secondsSince1970 - secondsSince1970.quotientFloored(86_400) * 86_400)
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))"
        return "\(date)T\((second / 3600).padded(2)):\((second / 60 % 60).padded(2)):\((second % 60).padded(2))Z"
    }
}

extension Int64 {
    fileprivate func quotientFloored(_ divisor: Int64) -> Int64 { self / divisor - (self % divisor < 0 ? 1 : 0) }
}

extension Int {
    fileprivate func padded(_ width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
