// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LinuxSystem

/// The validation time of a command.
enum ValidationTime {
    /// Returns the seconds since 1970 of `YYYY-MM-DD` or `YYYY-MM-DD-hh:mm:ss` in UTC, or
    /// of the current time if no date is given.
    static func validationTime(_ text: String?) throws(CommandFailure) -> Double {
        guard let text else { return WallClock.now }
        guard let time = CertificateTime(text) else {
            throw .parameter("'\(text)' is not a date", hint: "YYYY-MM-DD, or YYYY-MM-DD-hh:mm:ss, in UTC")
        }
        return Double(time.secondsSince1970)
    }
}

extension CertificateTime {
    fileprivate init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let clock =
            parts.count == 4 ? parts[3].split(separator: ":", omittingEmptySubsequences: false) : ["0", "0", "0"]
        guard parts.count == 3 || parts.count == 4, clock.count == 3 else { return nil }
        let numbers = (parts.prefix(3) + clock).map {
            $0.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int($0) ?? -1 : -1
        }
        self.init(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
            second: numbers[5])
    }
}
