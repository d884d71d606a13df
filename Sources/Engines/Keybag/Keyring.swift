// SPDX-License-Identifier: Apache-2.0

public import struct Crypto.SymmetricKey
public import KeychainModel
internal import SecretMemory

/// The keys that are available at one point in time, for one transaction.
public final class Keyring: ItemKeyWrapping {
    public let keychain: [UInt8]
    public let generation: UInt64
    public let tokenKey: TokenKey
    public let presence: PresenceRecipients
    private let deviceKeys: DeviceClassKeys
    private let userKeys: [KeySlot: SharedSecret]
    private let currentGenerations: [ProtectionClass: UInt32]
    private let closed: Set<ProtectionClass>

    package init(_ device: DeviceKeybag, _ user: UnlockedKeybag?) {
        keychain = device.keychain
        generation = device.generation
        tokenKey = device.tokenKey
        presence = PresenceRecipients(device.record)
        let current = device.currentGenerations
        let (deviceKeys, userKeys) = (device.keys, user?.keys ?? [:])
        currentGenerations = current
        // A class is open if its newest key is available. Older keys alone exist while rows are resealed, and do not
        // open it.
        closed = Set(
            current.filter { protection, generation in
                let newest = KeySlot(protection: protection.number, kind: .secret, generation: generation)
                return userKeys[newest] == nil && !deviceKeys.contains(newest)
            }.keys)
        (self.deviceKeys, self.userKeys) = (deviceKeys, userKeys)
    }

    /// Whether items of the class can be read and written.
    public func isOpen(_ protection: ProtectionClass) -> Bool {
        currentGenerations[protection] != nil && !closed.contains(protection)
    }

    // MARK: ItemKeyWrapping

    public func currentGeneration(of protection: ProtectionClass) throws(KeybagError) -> UInt32 {
        guard let generation = currentGenerations[protection] else { throw .passcodeRequired(protection) }
        guard !closed.contains(protection) else { throw .closed(protection) }
        return generation
    }

    public func wrap(
        _ key: SymmetricKey, of half: RowHalf, protection: ProtectionClass, generation: UInt32
    ) throws(KeybagError) -> [UInt8] {
        try classKey(half, protection, generation).withUnsafeBytes { (bytes) throws(KeybagError) in
            try KeybagCryptography.wrap(key, under: bytes)
        }
    }

    public func unwrap(
        _ wrapped: ArraySlice<UInt8>, of half: RowHalf, protection: ProtectionClass, generation: UInt32
    ) throws(KeybagError) -> SymmetricKey {
        try classKey(half, protection, generation).withUnsafeBytes { (bytes) throws(KeybagError) in
            try KeybagCryptography.unwrap(wrapped, under: bytes)
        }
    }

    private func classKey(_ half: RowHalf, _ protection: ProtectionClass, _ generation: UInt32) throws(KeybagError)
        -> SharedSecret
    {
        guard !closed.contains(protection) else { throw .closed(protection) }
        let kind: KeySlot.Kind = half == .secret ? .secret : .metadata
        let slot = KeySlot(protection: protection.number, kind: kind, generation: generation)
        if let key = userKeys[slot] { return key }
        guard let key = try deviceKeys.key(of: slot) else {
            throw currentGenerations[protection] == nil ? .passcodeRequired(protection) : .wrongKey
        }
        return key
    }
}
