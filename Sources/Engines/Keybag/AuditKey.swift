// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// The key of one line of the audit log.
///
/// It authenticates the line and is then replaced by the key of the next line (a ratchet), so that
/// the current key cannot authenticate earlier lines.
///
/// Format: Documentation/Formats/audit-log.md.
public struct AuditKey: ~Copyable, Sendable {
    private var key: SecretBytes

    /// Generates the key of the first line of a new log.
    public static func random() -> AuditKey { AuditKey(key: .random(count: 32)) }

    private init(key: consuming SecretBytes) { self.key = key }

    /// Returns the authentication code of a line: `HMAC-SHA256(key, previous ‖ line)`, where
    /// `previous` is the code of the line before it.
    public borrowing func code(of line: [UInt8], after previous: [UInt8]) -> [UInt8] {
        KeybagCryptography.authenticationCode(of: previous + line, key: key)
    }

    /// Replaces this key by that of the next line: `HMAC-SHA256(key, "latchkey v1 audit next")`.
    public mutating func ratchet() {
        var next = KeybagCryptography.authenticationCode(of: Self.step, key: key)
        key = SecretBytes(next)
        next.withUnsafeMutableBytes { SecretBytes.wipe($0) }
    }

    /// Returns SHA-256 of a name that is too long for a line of the log, or for a directory: 32 bytes.
    public static func digest(of name: [UInt8]) -> [UInt8] { KeybagCryptography.digest(of: name) }

    private static let step = Array("latchkey v1 audit next".utf8)

    public borrowing func copy() -> AuditKey { AuditKey(key: key.copy()) }

    // MARK: At rest

    /// Wraps the key under a key derived from the device key. The derivation binds it to its
    /// position in the log: if the position's number or code was changed, the key does not unwrap.
    ///
    /// - Parameter context: the row's number, the line's number and the line's code.
    public borrowing func wrapped(by deviceKey: DeviceKey, keychain: [UInt8], context: [UInt8]) throws(KeybagError)
        -> [UInt8]
    {
        try KeyEncryptionKey(device: deviceKey).wrapAudit(key, keychain: keychain, context: context)
    }

    public init(_ wrapped: [UInt8], by deviceKey: DeviceKey, keychain: [UInt8], context: [UInt8]) throws(KeybagError) {
        key = try KeyEncryptionKey(device: deviceKey).unwrapAudit(wrapped, keychain: keychain, context: context).copy()
    }
}
