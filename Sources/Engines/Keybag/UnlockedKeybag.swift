// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// The opened keys that need a passcode. Only ``DeviceKeybag/unlock(with:)`` creates it; its memory
/// is wiped when the last reference ends.
public final class UnlockedKeybag: Sendable {
    let keychain: [UInt8]
    let keys: [KeySlot: SharedSecret]

    init(keychain: [UInt8], keys: [KeySlot: SharedSecret]) {
        self.keychain = keychain
        self.keys = keys
    }

    /// The keys that remain after the lock: those of the classes that are open from the first
    /// unlock on.
    var afterLock: UnlockedKeybag {
        filtered { ProtectionClass(number: $0.protection)?.accessibility == .afterFirstUnlock }
    }

    /// Returns the keys that a changed keybag still contains; nil if it has newer ones, so that the
    /// passcode must be entered again.
    func retained(in record: KeybagRecord) -> UnlockedKeybag? {
        guard record.keychain == keychain, record.passcode != nil else { return nil }
        let slots = Set(record.keys.filter { $0.wrapping == .user }.map(\.slot))
        let newest = record.currentGenerations
        let hasNewest = ProtectionClass.allCases.filter { $0.accessibility == .afterFirstUnlock }.allSatisfy {
            protection in
            newest[protection].map {
                keys[KeySlot(protection: protection.number, kind: .secret, generation: $0)] != nil
            } ?? true
        }
        return hasNewest ? filtered(slots.contains) : nil
    }

    private func filtered(_ isKept: (KeySlot) -> Bool) -> UnlockedKeybag {
        UnlockedKeybag(keychain: keychain, keys: keys.filter { isKept($0.key) })
    }
}
