// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// A file of gnome-keyring (`~/.local/share/keyrings/NAME.keyring`), in its encrypted or its plain format:
/// Documentation/Formats/gnome-keyring.md. Any bytes are either read or refused with an error.
///
///     let file = try KeyringFile(bytes)
///     let keyring = try file.open(with: file.needsPassword ? password : nil)
public struct KeyringFile: Sendable {
    private let bytes: SharedSecret

    /// Whether the file is encrypted.
    public let needsPassword: Bool

    /// - Throws: ``GnomeKeyringError/unrecognized``, or ``GnomeKeyringError/tooLarge(count:max:)``.
    public init(_ bytes: SharedSecret) throws(GnomeKeyringError) {
        guard bytes.count <= KeyringLimits.maxFileSize else {
            throw .tooLarge(count: bytes.count, max: KeyringLimits.maxFileSize)
        }
        let isEncrypted = bytes.withUnsafeBytes { $0.starts(with: EncryptedKeyring.magic) }
        guard isEncrypted || bytes.withUnsafeBytes({ PlainKeyring.isRecognized($0) }) else { throw .unrecognized }
        self.bytes = bytes
        needsPassword = isEncrypted
    }

    /// Decodes the file.
    ///
    /// - Parameter password: of an encrypted file; otherwise it is not used.
    public func open(with password: SharedSecret?) throws(GnomeKeyringError) -> GnomeKeyring {
        guard needsPassword else {
            return try bytes.withUnsafeBytes { (bytes) throws(GnomeKeyringError) -> GnomeKeyring in
                try PlainKeyring(bytes).keyring()
            }
        }
        guard let password else { throw .passwordNeeded }
        return try bytes.withUnsafeBytes { (bytes) throws(GnomeKeyringError) -> GnomeKeyring in
            try EncryptedKeyring(bytes).keyring(password)
        }
    }
}
