// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Determines the service users of this machine. No login is possible as a service user.
struct SystemUsers: Sendable {
    /// The user file; tests set another one.
    var path = "/etc/passwd"

    /// Returns whether no login is possible as this user, so that the name of a unit that runs as
    /// this user can be trusted.
    ///
    /// A user that is not in the file may come from a directory service, and may log in.
    func isService(_ user: UInt32) -> Bool {
        // Root can trace every process, and any user's unit could be started as root.
        guard user != 0 else { return false }
        // If the file cannot be read completely, no user counts as a service user.
        guard let bytes = try? BoundedFile.read(path, limit: Self.maxLength) else { return false }
        let entries = Self.entries(in: bytes).filter { $0.number == user }.map(\.fields)
        guard entries.allSatisfy({ Self.closedShells.contains(String($0[6])) }) else { return false }
        if Self.dynamicUsers.contains(user) { return true }
        return user < Self.firstLoginUser && !entries.isEmpty
    }

    /// Returns the numbers of the users that have an account, from the bytes of a user file.
    /// Invalid lines are ignored.
    static func numbers(in bytes: [UInt8]) -> Set<UInt32> { Set(entries(in: bytes).map(\.number)) }

    private static func entries(in bytes: [UInt8]) -> [(number: UInt32, fields: [Substring])] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 7, let number = fields.dropFirst(2).first.flatMap({ UInt32($0) }) else { return nil }
            return (number, fields)
        }
    }

    /// Returns whether ``isService(_:)`` can be true for this number with any content of the user file, now or later.
    static func isServiceRange(_ user: UInt32) -> Bool {
        (1..<firstLoginUser).contains(user) || dynamicUsers.contains(user)
    }

    /// Returns the number of a user, given by name or number.
    static func number(of name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16384)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_uid
    }

    /// 16 MiB.
    static let maxLength = 16 << 20
    /// systemd.exec(5), DynamicUser: numbers that no login user ever gets.
    private static let dynamicUsers: ClosedRange<UInt32> = 61184...65519
    /// login.defs(5), UID_MIN.
    private static let firstLoginUser: UInt32 = 1000
    private static let closedShells: Set<String> = [
        "/usr/sbin/nologin", "/sbin/nologin", "/usr/bin/nologin", "/bin/false", "/usr/bin/false",
    ]
}
