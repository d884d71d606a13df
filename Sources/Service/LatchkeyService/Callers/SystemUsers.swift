// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Which users of this machine are services, as whom nobody logs in.
struct SystemUsers: Sendable {
    /// The file of users; another one in tests.
    var path = "/etc/passwd"

    /// Whether nobody can log in as this user, so that a unit which runs as it is what its name says.
    ///
    /// A user that the file does not know may come from a directory, and may log in.
    func isService(_ user: UInt32) -> Bool {
        // Root traces everything, and everybody's unit could be started as root.
        guard user != 0 else { return false }
        // Without the whole file no user is known to be a service's.
        guard let bytes = try? BoundedFile.read(path, limit: Self.maxLength) else { return false }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let entries = lines.map { $0.split(separator: ":", omittingEmptySubsequences: false) }.filter {
            $0.count == 7 && UInt32($0[2]) == user
        }
        guard entries.allSatisfy({ Self.closedShells.contains(String($0[6])) }) else { return false }
        if Self.dynamicUsers.contains(user) { return true }
        return user < Self.firstLoginUser && !entries.isEmpty
    }

    /// Whether ``isService(_:)`` can hold for this number, whatever the file of users says now or later.
    static func mayBeService(_ user: UInt32) -> Bool { (1..<firstLoginUser).contains(user) || dynamicUsers.contains(user) }

    /// The number of a user by name or number.
    static func number(of name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16384)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_uid
    }

    /// 16 MiB.
    private static let maxLength = 16 << 20
    /// systemd.exec(5), DynamicUser: numbers that are never given to anybody who logs in.
    private static let dynamicUsers: ClosedRange<UInt32> = 61184...65519
    /// login.defs(5), UID_MIN.
    private static let firstLoginUser: UInt32 = 1000
    private static let closedShells: Set<String> = [
        "/usr/sbin/nologin", "/sbin/nologin", "/usr/bin/nologin", "/bin/false", "/usr/bin/false",
    ]
}
