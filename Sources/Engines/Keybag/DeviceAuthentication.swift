// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// What is derived from the device key D: KEK_device, the key that authenticates the keybag, and the check that recognises D.
///
/// ```
/// KEK_device   = HKDF(ikm = D, info = "latchkey v1 device KEK")
/// key of slot  = HKDF(ikm = KEK_device, info = "latchkey v1 class" ‖ keychain UUID ‖ class ‖ kind ‖ generation)
/// keybag tag   = HMAC(HKDF(ikm = D, info = "latchkey v1 keybag"), record)
/// check        = first 8 bytes of HKDF(ikm = D, info = "latchkey v1 device key check")
/// ```
struct DeviceWrapping: ~Copyable {
    let check: [UInt8]
    private let kek: SecretBytes
    private let authentication: SecretBytes

    init(_ deviceKey: DeviceKey) {
        kek = KeybagCryptography.derive(from: deviceKey.secret, label: "latchkey v1 device KEK")
        authentication = KeybagCryptography.derive(from: deviceKey.secret, label: "latchkey v1 keybag")
        check = KeybagCryptography.derive(from: deviceKey.secret, label: "latchkey v1 device key check").withUnsafeBytes {
            Array($0.prefix(8))
        }
    }

    /// The key that wraps one slot. AES-KW takes no associated data: the derivation binds the wrapped key to its place.
    func key(for slot: KeySlot, of keychain: [UInt8]) -> SecretBytes {
        KeybagCryptography.derive(
            from: kek, label: "latchkey v1 class",
            context: keychain + [slot.protection, slot.kind.rawValue] + slot.generation.bigEndianBytes)
    }

    func tag(of record: [UInt8]) -> [UInt8] {
        KeybagCryptography.authenticationCode(of: record, key: authentication)
    }

    func isValid(_ tag: [UInt8], of record: [UInt8]) -> Bool {
        KeybagCryptography.isValid(tag, of: record, key: authentication)
    }
}
