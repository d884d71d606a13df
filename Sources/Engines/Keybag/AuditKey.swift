// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// The key of one line of the audit log. It makes the line's code, then the key of the next line, and is gone: whoever finds the key of today
/// cannot make the lines of yesterday.
///
/// Documentation/Formats/audit-log.md.
public struct AuditKey: ~Copyable, Sendable {
    private var key: SecretBytes

    /// The key of the first line of a new log.
    public static func random() -> AuditKey { AuditKey(key: .random(count: 32)) }

    private init(key: consuming SecretBytes) { self.key = key }

    /// The code of a line that follows the line with the code `previous`: `HMAC-SHA256(key, previous ‖ line)`.
    public borrowing func code(of line: [UInt8], after previous: [UInt8]) -> [UInt8] {
        KeybagCryptography.authenticationCode(of: previous + line, key: key)
    }

    /// Becomes the key of the next line: `HMAC-SHA256(key, "latchkey v1 audit next")`.
    public mutating func ratchet() {
        var next = KeybagCryptography.authenticationCode(of: Self.step, key: key)
        key = SecretBytes(next)
        next.withUnsafeMutableBytes { SecretBytes.wipe($0) }
    }

    /// `SHA-256` of a name that is too long for a line, 32 bytes.
    public static func digest(of name: [UInt8]) -> [UInt8] { KeybagCryptography.digest(of: name) }

    private static let step = Array("latchkey v1 audit next".utf8)

    public borrowing func copy() -> AuditKey { AuditKey(key: key.copy()) }

    // MARK: At rest

    /// The key wrapped for its place in the log, under a key that the device key yields. The place is bound to it: a position whose number or
    /// code was changed does not open.
    ///
    /// - Parameter context: the row's number, the line's number and code.
    public borrowing func wrapped(by deviceKey: DeviceKey, keychain: [UInt8], context: [UInt8]) throws(KeybagError)
        -> [UInt8]
    {
        try KeyEncryptionKey(device: deviceKey).wrapAudit(key, keychain: keychain, context: context)
    }

    public init(_ wrapped: [UInt8], by deviceKey: DeviceKey, keychain: [UInt8], context: [UInt8]) throws(KeybagError) {
        key = try KeyEncryptionKey(device: deviceKey).unwrapAudit(wrapped, keychain: keychain, context: context).copy()
    }
}
