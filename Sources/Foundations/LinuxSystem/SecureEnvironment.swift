// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey

/// The environment variables that may influence the trust decisions of the process.
public enum SecureEnvironment {
    /// Returns the value of a variable; nil if it is unset or empty, or if the process has more
    /// privileges than the user who started it (secure_getenv(3)).
    ///
    /// Bytes that are not UTF-8 are replaced by U+FFFD. Use ``path(of:)`` for a path; text that must not
    /// name another file is checked with ``isExact(_:)``.
    public static func value(of name: String) -> String? {
        bytes(of: name).map { String(cString: $0) }
    }

    /// Returns the value as a path, byte for byte.
    public static func path(of name: String) -> FilePath? { bytes(of: name).map { FilePath(cString: $0) } }

    /// The bytes up to a zero, in the environment itself.
    private static func bytes(of name: String) -> UnsafePointer<CChar>? {
        // Without a copy of the name: each call of the keychain asks for several variables.
        guard let value = name.withCString({ latchkey_environment($0) }), value.pointee != 0 else { return nil }
        return value
    }

    /// Whether no byte of a value was replaced.
    public static func isExact(_ value: String) -> Bool {
        // Its first byte is rare in paths, and bytes are compared faster than characters.
        !value.utf8.contains(0xEF) || !value.unicodeScalars.contains("\u{FFFD}")
    }
}
