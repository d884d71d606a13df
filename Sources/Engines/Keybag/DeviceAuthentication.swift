// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// Authenticates a keybag record with the device key D: whether the record belongs to this device,
/// and whether it is unchanged.
///
/// ```
/// keybag tag   = HMAC(HKDF(ikm = D, info = "latchkey v1 keybag"), record)
/// check        = first 8 bytes of HKDF(ikm = D, info = "latchkey v1 device key check")
/// ```
struct DeviceAuthentication: ~Copyable {
    private let deviceKey: DeviceKey
    private let key: SecretBytes

    init(_ deviceKey: DeviceKey) {
        self.deviceKey = deviceKey
        key = KeybagCryptography.derive(from: deviceKey.secret, label: "latchkey v1 keybag")
    }

    /// Derived when it is asked for: a keybag that opens is authenticated without it.
    var check: [UInt8] {
        KeybagCryptography.derive(from: deviceKey.secret, label: "latchkey v1 device key check").withUnsafeBytes {
            Array($0.prefix(8))
        }
    }

    func tag(of record: [UInt8]) -> [UInt8] {
        KeybagCryptography.authenticationCode(of: record, key: key)
    }

    func isValid(_ tag: [UInt8], of record: [UInt8]) -> Bool {
        KeybagCryptography.isValid(tag, of: record, key: key)
    }
}
