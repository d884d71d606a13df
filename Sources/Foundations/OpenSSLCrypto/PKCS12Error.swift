// SPDX-License-Identifier: Apache-2.0

/// Why a PKCS #12 file was not read.
public enum PKCS12Error: Error, Sendable {
    /// The integrity check or a decryption failed: another passphrase, or changed bytes.
    case passphrase
    /// Something that is not served, by its name.
    case unsupported(String)
    case malformed
}
