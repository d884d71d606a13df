// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads the system's database of users.
public enum UserAccount {
    /// Returns the login name of a user; nil if the database has no such user, or an entry of more
    /// than 16 KiB.
    public static func name(of user: UInt32) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 << 10) { buffer in
            guard let start = buffer.baseAddress,
                getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
            else { return nil }
            return String(cString: name)
        }
    }
}
