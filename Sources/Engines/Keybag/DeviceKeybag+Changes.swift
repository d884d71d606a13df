// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import SecretMemory

/// What can become of a keybag. Every change is a new record of the next generation, authenticated anew; storing it is the caller's.
extension DeviceKeybag {
    /// The classes that a passcode protects.
    static let passcodeClasses = ProtectionClass.allCases.filter(\.needsPasscode)

    /// A passcode for a keychain that has none. The classes that it protects get new keys, because the old ones lay open to the device key
    /// alone; until their rows are resealed, the old keys stay.
    ///
    /// A recovery key ends: it would open the old keys only.
    package func settingPasscode(_ passcode: PasscodeKey, _ parameters: PasscodeParameters) throws(KeybagError)
        -> StoredKeybag
    {
        guard record.passcode == nil else { throw .passcodeExists }
        let kek = KeyEncryptionKey(device: deviceKey, passcode: passcode)
        var changed = try record.successor()
        changed.passcode = parameters
        changed.keys.removeAll { $0.wrapping == .recovery }
        let generation = try record.nextGeneration()
        for protection in Self.passcodeClasses {
            try changed.addKeys(of: protection, generation: generation, under: kek)
        }
        return sealed(changed, kek)
    }

    /// Another passcode, or the same under other parameters: the keys are wrapped anew.
    ///
    /// - Parameter rotates: the classes get new keys as well, to which rows must be resealed; a recovery key ends.
    package func changingPasscode(
        _ unlocked: UnlockedKeybag, to passcode: PasscodeKey, _ parameters: PasscodeParameters, rotates: Bool
    ) throws(KeybagError) -> StoredKeybag {
        let kek = KeyEncryptionKey(device: deviceKey, passcode: passcode)
        var changed = try record.successor()
        changed.passcode = parameters
        try changed.rewrap(.user, unlocked.keys, under: kek)
        if rotates {
            changed.keys.removeAll { $0.wrapping == .recovery }
            let generation = try record.nextGeneration()
            for protection in Self.passcodeClasses {
                try changed.addKeys(of: protection, generation: generation, under: kek)
            }
        }
        return sealed(changed, kek)
    }

    /// No passcode any longer: the keys are wrapped by the device key, and those of `akpu` are destroyed.
    package func removingPasscode(_ unlocked: UnlockedKeybag) throws(KeybagError) -> StoredKeybag {
        let kek = KeyEncryptionKey(device: deviceKey)
        var changed = try record.successor()
        changed.passcode = nil
        changed.keys.removeAll { $0.slot.protection == ProtectionClass.whenPasscodeSetThisDeviceOnly.number }
        try changed.rewrap(.user, unlocked.keys, under: kek)
        return sealed(changed, nil)
    }

    /// Without the keys to which no row is left.
    package func finishingReseal(_ passcode: PasscodeKey) throws(KeybagError) -> StoredKeybag {
        var changed = try record.successor()
        changed.dropEarlierGenerations()
        return sealed(changed, KeyEncryptionKey(device: deviceKey, passcode: passcode))
    }

    /// With a recovery key, which opens the index key and the classes that may leave the device.
    package func addingRecoveryKey(
        _ recovery: RecoveryKey, _ unlocked: UnlockedKeybag?, _ passcode: PasscodeKey?
    ) throws(KeybagError) -> StoredKeybag {
        let kek = KeyEncryptionKey(recovery: recovery)
        var changed = try record.successor()
        changed.keys.removeAll { $0.wrapping == .recovery }
        for (slot, key) in keys.merging(unlocked?.keys ?? [:], uniquingKeysWith: { $1 }) where Self.isRecoverable(slot)
        {
            changed.keys.append(try kek.wrap(key, for: slot, of: changed.keychain))
        }
        return sealed(changed, keyEncryptionKey(passcode))
    }

    package func removingRecoveryKey(_ passcode: PasscodeKey?) throws(KeybagError) -> StoredKeybag {
        var changed = try record.successor()
        changed.keys.removeAll { $0.wrapping == .recovery }
        return sealed(changed, keyEncryptionKey(passcode))
    }

    package func changingSettings(to settings: KeybagSettings, _ passcode: PasscodeKey?) throws(KeybagError)
        -> StoredKeybag
    {
        var changed = try record.successor()
        changed.settings = settings
        return sealed(changed, keyEncryptionKey(passcode))
    }

    /// After too many wrong passcodes: no passcode, and new keys for the classes that it protected. What they held cannot be opened again.
    package func wiping() throws(KeybagError) -> StoredKeybag {
        let kek = KeyEncryptionKey(device: deviceKey)
        var changed = try record.successor()
        changed.passcode = nil
        let generation = try record.nextGeneration()
        changed.keys.removeAll { key in
            key.wrapping != .device || ProtectionClass(number: key.slot.protection).map(\.needsPasscode) == true
        }
        for protection in Self.passcodeClasses where !protection.requiresPasscode {
            try changed.addKeys(of: protection, generation: generation, under: kek)
        }
        return sealed(changed, nil)
    }

    // MARK: Recovery

    /// Which classes a recovered keychain has lost the keys of.
    package struct RecoveryResult: Sendable {
        package let stored: StoredKeybag
        package let generation: UInt64
        package let lost: Set<ProtectionClass>
        package let keychain: [UInt8]
        package let deviceKey: DeviceKey
        /// Whether the device key came in place of a lost one.
        package let isNewDevice: Bool
    }

    /// A keybag with a new passcode, out of a recovery key. The device key may be another one than before; then what it alone opened is lost.
    ///
    /// - Throws: ``KeybagError/wrongRecoveryKey`` where there is no recovery key, or it is another one.
    package static func recovering(
        _ stored: StoredKeybag, with recovery: RecoveryKey, deviceKey: DeviceKey, passcode: PasscodeKey,
        _ parameters: PasscodeParameters
    ) throws(KeybagError) -> RecoveryResult {
        let previous = try KeybagRecord(decoding: stored.record)
        let opened = try opening(previous, with: recovery)
        // Where the device key is still there, so is what it opens. A damaged keybag is not taken for one of another device.
        var device: DeviceKeybag?
        do {
            device = try DeviceKeybag(opening: stored, deviceKey: deviceKey)
        } catch {
            guard case .foreignDeviceKey = error else { throw error }
        }
        let userKEK = KeyEncryptionKey(device: deviceKey, passcode: passcode)
        let deviceKEK = KeyEncryptionKey(device: deviceKey)
        let authentication = DeviceAuthentication(deviceKey)
        let generation = try previous.nextGeneration()
        var record = try previous.successor()
        record.root = deviceKey.root.rawValue
        record.deviceKeyCheck = authentication.check
        record.passcode = parameters
        record.sealedTangle = []
        record.keys.removeAll { $0.wrapping != .recovery }
        for (slot, key) in (device?.keys ?? [:]).merging(opened, uniquingKeysWith: { $1 }) {
            let needsPasscode = ProtectionClass(number: slot.protection).map(\.needsPasscode) == true
            record.keys.append(
                needsPasscode
                    ? try userKEK.wrap(key, for: slot, of: record.keychain)
                    : try deviceKEK.wrap(key, for: slot, of: record.keychain))
        }
        // A class whose newest keys are gone is lost: its rows lie under them.
        let newest = previous.currentGenerations
        let lost = Set(
            ProtectionClass.allCases.filter { record.currentGenerations[$0] != newest[$0] || newest[$0] == nil })
        record.keys.removeAll { key in ProtectionClass(number: key.slot.protection).map(lost.contains) == true }
        // Where there was no passcode, the keys lay open to the device key alone, as when one is set.
        if previous.passcode == nil { record.keys.removeAll { $0.wrapping == .recovery } }
        for protection in ProtectionClass.allCases {
            guard lost.contains(protection) || previous.passcode == nil && protection.needsPasscode else { continue }
            if protection.needsPasscode {
                try record.addKeys(of: protection, generation: generation, under: userKEK)
            } else {
                try record.addKeys(of: protection, generation: generation, under: deviceKEK)
            }
        }
        return RecoveryResult(
            stored: StoredKeybag(
                record: record.encoded, deviceTag: authentication.tag(of: record.encoded),
                userTag: userKEK.tag(of: record.encoded)),
            generation: record.generation, lost: lost, keychain: record.keychain, deviceKey: deviceKey,
            isNewDevice: device == nil)
    }

    /// Refuses a recovery key of another keychain.
    package static func checkRecoveryKey(_ recovery: RecoveryKey, of stored: StoredKeybag) throws(KeybagError) {
        _ = try opening(try KeybagRecord(decoding: stored.record), with: recovery)
    }

    private static func opening(_ record: KeybagRecord, with recovery: RecoveryKey) throws(KeybagError) -> [KeySlot:
        SharedSecret]
    {
        let kek = KeyEncryptionKey(recovery: recovery)
        var opened: [KeySlot: SharedSecret] = [:]
        for entry in record.keys where entry.wrapping == .recovery {
            do {
                opened[entry.slot] = try kek.unwrap(entry, of: record.keychain)
            } catch {
                throw .wrongRecoveryKey
            }
        }
        guard opened[.index] != nil else { throw .wrongRecoveryKey }
        return opened
    }

    private static func isRecoverable(_ slot: KeySlot) -> Bool {
        slot == .index || ProtectionClass(number: slot.protection).map { !$0.isThisDeviceOnly } == true
    }

    // MARK: Sealing

    private func keyEncryptionKey(_ passcode: PasscodeKey?) -> KeyEncryptionKey? {
        guard let passcode else { return nil }
        return KeyEncryptionKey(device: deviceKey, passcode: passcode)
    }

    private func sealed(_ record: KeybagRecord, _ user: consuming KeyEncryptionKey?) -> StoredKeybag {
        let bytes = record.encoded
        let userTag: [UInt8]
        if let user { userTag = user.tag(of: bytes) } else { userTag = [] }
        return StoredKeybag(record: bytes, deviceTag: DeviceAuthentication(deviceKey).tag(of: bytes), userTag: userTag)
    }
}

extension KeybagRecord {
    /// Replaces every key of one wrapping by the same key under another.
    fileprivate mutating func rewrap(
        _ previous: Wrapping, _ opened: [KeySlot: SharedSecret], under kek: borrowing KeyEncryptionKey
    ) throws(KeybagError) {
        for index in keys.indices where keys[index].wrapping == previous {
            guard let key = opened[keys[index].slot] else {
                throw .damaged("a key that the passcode should have opened is not there")
            }
            keys[index] = try kek.wrap(key, for: keys[index].slot, of: keychain)
        }
    }
}
