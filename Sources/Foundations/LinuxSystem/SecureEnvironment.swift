// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey

/// The environment as far as whoever started the process may decide what it trusts.
public enum SecureEnvironment {
    /// The value of a variable; nil where it is not set or empty, and wherever the process has more rights than who started it
    /// (secure_getenv(3)).
    public static func value(of name: String) -> String? {
        guard let value = latchkey_environment(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
