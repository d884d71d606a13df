// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The date of the last backup, in a file beside the device key. `latchkey doctor` reads it.
enum LastBackupFile {
    /// Returns the date as `2026-11-21`; nil if no backup was made.
    static func date(in home: KeychainHome) -> String? {
        guard let bytes = (try? PrivateFile.read("\(home.stateDirectory)/\(name)", atMost: length)) ?? nil else {
            return nil
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let isDate =
            text.utf8.count == length && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
        return isDate ? text : nil
    }

    /// Records a backup. Errors are ignored: the backup itself is complete.
    static func set(in home: KeychainHome, secondsSince1970: Int) {
        var seconds = time_t(secondsSince1970)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil, let directory = try? PrivateDirectory(existing: home.stateDirectory)
        else { return }
        func digits(_ number: Int32, _ count: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date = "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
        try? PrivateFile.replace(name, in: directory, content: Array(date.utf8))
    }

    private static let name = "last-backup"
    private static let length = 10
}
