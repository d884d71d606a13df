// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey

/// The environment variables that may influence what the process trusts.
public enum SecureEnvironment {
    /// Returns the value of a variable; nil if it is unset or empty, or if the process has more
    /// privileges than the user who started it (secure_getenv(3)).
    ///
    /// Bytes that are not UTF-8 are replaced by U+FFFD. Use ``path(of:)`` for a path; text that must not
    /// name another file is checked with ``isExact(_:)``.
    public static func value(of name: String) -> String? {
        path(of: name).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Returns the value as a path, byte for byte.
    public static func path(of name: String) -> FilePath? {
        guard let value = latchkey_environment(name), value.pointee != 0 else { return nil }
        return FilePath(value)
    }

    /// Whether no byte of a value was replaced.
    public static func isExact(_ value: String) -> Bool { !value.unicodeScalars.contains("\u{FFFD}") }
}
