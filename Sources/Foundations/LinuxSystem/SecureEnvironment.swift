// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey

/// The environment variables that may influence what the process trusts.
public enum SecureEnvironment {
    /// Returns the value of a variable; nil if it is unset or empty, or if the process has more
    /// privileges than the user who started it (secure_getenv(3)).
    public static func value(of name: String) -> String? {
        guard let value = latchkey_environment(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
