// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory

/// The class keys of an authenticated keybag that the device key alone opens. Thread-safe.
///
/// A keybag has two keys for each class, and most programs need those of one class: a key is unwrapped when it is
/// first needed, and kept. The key-encryption key is derived for each, so that it is not kept.
final class DeviceClassKeys: Sendable {
    private let wrapped: [KeybagRecord.WrappedKey]
    private let keychain: [UInt8]
    private let deviceKey: DeviceKey
    private let opened = SystemMutex<[KeySlot: SharedSecret]>([:])

    /// - Parameter record: one that the device key has authenticated.
    init(_ record: KeybagRecord, _ deviceKey: DeviceKey) {
        wrapped = record.keys.filter { $0.wrapping == .device }
        keychain = record.keychain
        self.deviceKey = deviceKey
    }

    /// Whether there is a key of this slot.
    func contains(_ slot: KeySlot) -> Bool { wrapped.contains { $0.slot == slot } }

    /// Returns the key of a slot; nil if there is none.
    ///
    /// - Throws: ``KeybagError/damaged(_:)`` if it does not unwrap, although the record is authentic.
    func key(of slot: KeySlot) throws(KeybagError) -> SharedSecret? {
        try opened.withLock { (opened) throws(KeybagError) in
            if let key = opened[slot] { return key }
            guard let entry = wrapped.first(where: { $0.slot == slot }) else { return nil }
            let key = try unwrap(entry)
            opened[slot] = key
            return key
        }
    }

    /// Returns the keys of all slots.
    ///
    /// - Throws: as ``key(of:)``.
    func all() throws(KeybagError) -> [KeySlot: SharedSecret] {
        var keys: [KeySlot: SharedSecret] = [:]
        for entry in wrapped { keys[entry.slot] = try key(of: entry.slot) }
        return keys
    }

    private func unwrap(_ entry: KeybagRecord.WrappedKey) throws(KeybagError) -> SharedSecret {
        do throws(KeybagError) {
            return try KeyEncryptionKey(device: deviceKey).unwrap(entry, of: keychain)
        } catch {
            // Not `wrongKey`, because that means a damaged row.
            throw .damaged("a key of class \(entry.slot.protection) does not unwrap under the device key")
        }
    }
}
