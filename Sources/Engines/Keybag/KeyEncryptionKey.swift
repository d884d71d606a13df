// SPDX-License-Identifier: Apache-2.0

internal import struct Crypto.SymmetricKey
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// A key that wraps class keys and private presence keys. There are four, derived from different secrets; that of a
/// security key wraps only its presence key.
///
/// ```
/// KEK_device   = HKDF(ikm = D, info = "latchkey v1 device KEK")
/// KEK_user     = HKDF(ikm = D ‖ T ‖ P, info = "latchkey v1 user KEK")
/// KEK_recovery = HKDF(ikm = R, info = "latchkey v1 recovery KEK")
/// KEK_key      = HKDF(ikm = D ‖ S, info = "latchkey v3 security key KEK")
/// slot key     = HKDF(ikm = KEK, info = "latchkey v1 class" ‖ keychain UUID ‖ class ‖ kind ‖ generation)
/// presence key = HKDF(ikm = KEK, info = "latchkey v3 presence" ‖ keychain UUID ‖ identity of the pair)
/// user tag     = HMAC(HKDF(ikm = KEK_user, info = "latchkey v1 keybag user"), record)
/// ```
struct KeyEncryptionKey: ~Copyable {
    let wrapping: KeyWrapping
    private let key: SecretBytes

    /// KEK_device.
    init(device: DeviceKey) {
        wrapping = .device
        key = KeybagCryptography.derive(from: device.secret, label: "latchkey v1 device KEK")
    }

    /// KEK_user.
    init(device: DeviceKey, passcode: PasscodeKey) {
        wrapping = .user
        let parts = SecretBytes(count: 96) { buffer in
            device.secret.withUnsafeBytes { buffer[0..<32].copyBytes(from: $0) }
            passcode.tangle.withUnsafeBytes { buffer[32..<64].copyBytes(from: $0) }
            passcode.secret.withUnsafeBytes { buffer[64..<96].copyBytes(from: $0) }
        }
        key = KeybagCryptography.derive(from: parts, label: "latchkey v1 user KEK")
    }

    /// KEK_recovery.
    init(recovery: RecoveryKey) {
        wrapping = .recovery
        key = recovery.withSecret { KeybagCryptography.derive(from: $0, label: "latchkey v1 recovery KEK") }
    }

    /// KEK_key. Without the device key, the secret opens nothing: the touch of a key that was
    /// stolen with a copy of the database is of no use.
    ///
    /// - Parameter secret: the secret S of a security key, 32 bytes.
    init(device: DeviceKey, securityKey secret: SharedSecret) {
        wrapping = .securityKey
        let parts = SecretBytes(count: DeviceKey.length + secret.count) { buffer in
            device.secret.withUnsafeBytes { buffer[..<DeviceKey.length].copyBytes(from: $0) }
            secret.withUnsafeBytes { buffer[DeviceKey.length...].copyBytes(from: $0) }
        }
        key = KeybagCryptography.derive(from: parts, label: "latchkey v3 security key KEK")
    }

    static let securityKeySecretCount = 32

    /// Wraps a class key. The derivation binds it to its slot.
    func wrap(_ classKey: SharedSecret, for slot: KeySlot, of keychain: [UInt8]) throws(KeybagError)
        -> KeybagRecord.WrappedKey
    {
        let wrapped = try slotKey(slot, keychain).withUnsafeBytes { (bytes) throws(KeybagError) in
            try KeybagCryptography.wrap(classKey.withUnsafeBytes { SymmetricKey(data: $0) }, under: bytes)
        }
        return KeybagRecord.WrappedKey(slot: slot, wrapping: wrapping, bytes: wrapped)
    }

    /// Unwraps the class key of an entry.
    ///
    /// - Throws: ``KeybagError/wrongKey`` if it was wrapped under another key or for another slot.
    func unwrap(_ entry: KeybagRecord.WrappedKey, of keychain: [UInt8]) throws(KeybagError) -> SharedSecret {
        try slotKey(entry.slot, keychain).withUnsafeBytes { (bytes) throws(KeybagError) in
            try KeybagCryptography.unwrapSecret(entry.bytes, under: bytes)
        }
    }

    /// Wraps a key of the audit log. The derivation binds it to its position in the log.
    func wrapAudit(_ auditKey: borrowing SecretBytes, keychain: [UInt8], context: [UInt8]) throws(KeybagError)
        -> [UInt8]
    {
        let symmetric = auditKey.withUnsafeBytes { SymmetricKey(data: $0) }
        return try auditWrapping(keychain, context).withUnsafeBytes { (bytes) throws(KeybagError) in
            try KeybagCryptography.wrap(symmetric, under: bytes)
        }
    }

    func unwrapAudit(_ wrapped: [UInt8], keychain: [UInt8], context: [UInt8]) throws(KeybagError) -> SharedSecret {
        try auditWrapping(keychain, context).withUnsafeBytes { (bytes) throws(KeybagError) in
            try KeybagCryptography.unwrapSecret(wrapped, under: bytes)
        }
    }

    private func auditWrapping(_ keychain: [UInt8], _ context: [UInt8]) -> SecretBytes {
        KeybagCryptography.derive(from: key, label: "latchkey v1 audit", context: keychain + context)
    }

    /// Wraps a private presence key. The derivation binds it to its pair.
    func wrapPresence(_ privateKey: PresencePrivateKey, of keychain: [UInt8]) throws(KeybagError) -> [UInt8] {
        let symmetric = privateKey.secret.withUnsafeBytes { SymmetricKey(data: $0) }
        return try presenceWrapping(privateKey.identity, keychain).withUnsafeBytes { (bytes) throws(KeybagError) in
            try KeybagCryptography.wrap(symmetric, under: bytes)
        }
    }

    func unwrapPresence(_ wrapped: [UInt8], _ identity: PresenceIdentity, of keychain: [UInt8]) throws(KeybagError)
        -> PresencePrivateKey
    {
        let secret = try presenceWrapping(identity, keychain).withUnsafeBytes { (bytes) throws(KeybagError) in
            try KeybagCryptography.unwrapSecret(wrapped, under: bytes)
        }
        return try PresencePrivateKey(identity, secret.copy())
    }

    private func presenceWrapping(_ identity: PresenceIdentity, _ keychain: [UInt8]) -> SecretBytes {
        KeybagCryptography.derive(from: key, label: "latchkey v3 presence", context: keychain + identity.encoded)
    }

    /// Returns the authentication code of a record: proof that its writer had this key.
    func tag(of record: [UInt8]) -> [UInt8] {
        KeybagCryptography.authenticationCode(of: record, key: authenticationKey)
    }

    func isValid(_ tag: [UInt8], of record: [UInt8]) -> Bool {
        KeybagCryptography.isValid(tag, of: record, key: authenticationKey)
    }

    private var authenticationKey: SecretBytes {
        KeybagCryptography.derive(from: key, label: "latchkey v1 keybag user")
    }

    /// Derives the wrapping key of a slot. AES-KW takes no associated data, so the derivation binds
    /// the wrapped key to its slot.
    private func slotKey(_ slot: KeySlot, _ keychain: [UInt8]) -> SecretBytes {
        KeybagCryptography.derive(
            from: key, label: "latchkey v1 class",
            context: keychain + [slot.protection, slot.kind.rawValue] + slot.generation.bigEndianBytes)
    }
}
