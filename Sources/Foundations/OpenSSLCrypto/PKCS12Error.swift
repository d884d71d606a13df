// SPDX-License-Identifier: Apache-2.0

/// Why a PKCS #12 file could not be read.
public enum PKCS12Error: Error, Sendable {
    /// The integrity check or a decryption failed: the passphrase is wrong, or bytes were changed.
    case passphrase
    /// The file contains something unsupported; the text is its name.
    case unsupported(String)
    case malformed
}
