// SPDX-License-Identifier: Apache-2.0

public import struct Crypto.SymmetricKey
internal import SecretMemory

/// The keys of one backup.
///
/// ```
/// backup key        = HKDF(ikm = scrypt(NFKC(passphrase)), info = "latchkey v1 backup" ‖ SHA-256(header))
/// device-bound key  = HKDF(ikm = D, info = "latchkey v1 backup device" ‖ SHA-256(header))
/// ```
public struct BackupKeys: ~Copyable {
    private let backup: SecretBytes
    private let device: SecretBytes

    /// Derives the keys. scrypt takes time and memory by design.
    ///
    /// - Parameter headerDigest: SHA-256 of the backup's header, so that the keys of a backup with
    ///   a changed header open nothing.
    public init(
        passphrase: Passcode, salt: [UInt8], cost: PasscodeCost, headerDigest: [UInt8], deviceKey: DeviceKey
    ) throws(KeybagError) {
        let key = try PasscodeKey.derive(passphrase, PasscodeParameters(salt: salt, cost: cost))
        backup = KeybagCryptography.derive(from: key.secret, label: "latchkey v1 backup", context: headerDigest)
        device = KeybagCryptography.derive(
            from: deviceKey.secret, label: "latchkey v1 backup device", context: headerDigest)
    }

    /// The key that encrypts the whole backup.
    public var backupKey: SymmetricKey { backup.withUnsafeBytes { SymmetricKey(data: $0) } }

    /// The key that encrypts, inside the backup, the items that may be restored on this device
    /// only.
    public var deviceBoundKey: SymmetricKey { device.withUnsafeBytes { SymmetricKey(data: $0) } }

    /// Returns a random salt for a new backup.
    public static func salt() -> [UInt8] { .random(count: PasscodeParameters.saltLength) }
}
