// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import SecretMemory

/// Changes of a keybag. Each change returns a new, authenticated record of the next generation; the
/// caller stores it.
extension DeviceKeybag {
    /// The protection classes that need a passcode.
    static let passcodeClasses = ProtectionClass.allCases.filter(\.needsPasscode)

    /// Sets a passcode on a keychain without one. The classes that it protects get new keys,
    /// because the device key alone could open the old ones. The old keys remain until their rows
    /// are resealed.
    ///
    /// The recovery key is removed, because it could open the old keys only.
    package func settingPasscode(_ passcode: PasscodeKey, _ parameters: PasscodeParameters) throws(KeybagError)
        -> StoredKeybag
    {
        guard record.passcode == nil else { throw .passcodeExists }
        let kek = KeyEncryptionKey(device: deviceKey, passcode: passcode)
        var changed = try record.successor()
        changed.passcode = parameters
        changed.replaceTangle(by: passcode.sealedTangle)
        try changed.addGeneration(under: kek)
        return sealed(changed, kek)
    }

    /// Gives a record of an earlier version the present one, so that running programs of an earlier
    /// version refuse the keychain before they read a row that they do not know. Returns nil if it
    /// has the version, or if a passcode is set: its code can only be renewed with the passcode, as
    /// ``addingPresence(_:)`` does.
    package func upgradingRecord() throws(KeybagError) -> StoredKeybag? {
        guard canUpgradeRecord else { return nil }
        return sealed(try record.successor(), nil)
    }

    /// Whether ``upgradingRecord()`` would change the record.
    package var canUpgradeRecord: Bool { record.storedVersion < KeybagRecord.commonVersion && record.passcode == nil }

    /// Creates the presence pairs of a keychain with a passcode from an older version; returns nil if it has them.
    package func addingPresence(_ passcode: PasscodeKey) throws(KeybagError) -> StoredKeybag? {
        guard record.passcode != nil, record.presenceGeneration == nil else { return nil }
        let kek = KeyEncryptionKey(device: deviceKey, passcode: passcode)
        var changed = try record.successor()
        try changed.addPairs(generation: try record.nextGeneration(), under: kek)
        return sealed(changed, kek)
    }

    /// Records that the device key has another root, and gives the keybag the features of that root's hardware: a
    /// counter, and a T.
    ///
    /// - Parameters:
    ///   - moved: the device key from its new root.
    ///   - previous: the passcode's key until now; nil without a passcode.
    ///   - passcode: the same P with the new root's T.
    package func movingRoot(
        to moved: DeviceKey, from previous: PasscodeKey?, _ passcode: PasscodeKey?
    ) throws(KeybagError) -> StoredKeybag {
        var changed = try record.successor()
        changed.root = moved.root.rawValue
        if let counter = changed.counter {
            changed.retire(counter.index)
            changed.counter = nil
        }
        if moved.root == .tpm { changed.counter = try Self.newCounter(moved, keychain: record.keychain) }
        if let previous, let passcode {
            let kek = KeyEncryptionKey(device: deviceKey, passcode: passcode)
            try changed.rewrap(.user, try unlock(with: previous).keys, under: kek)
            try changed.rewrapPairs(try openedPairs(with: previous), under: kek)
            changed.replaceTangle(by: passcode.sealedTangle)
        }
        return sealed(changed, keyEncryptionKey(passcode))
    }

    /// The key of the same passcode with the device key at its new root; nil without a passcode.
    package func movedKey(_ passcode: PasscodeKey?, to moved: DeviceKey) throws(KeybagError) -> PasscodeKey? {
        guard let passcode else { return nil }
        return try passcode.renewingTangle(of: record.keychain, moved)
    }

    private static func newCounter(_ deviceKey: DeviceKey, keychain: [UInt8]) throws(KeybagError) -> RollbackCounter {
        let hardware = try deviceKey.requireHardware()
        do throws(KeychainError) {
            let counter = try hardware.createCounter(
                authorization: RollbackCounter.authorization(deviceKey, keychain: keychain))
            return RollbackCounter(index: counter.index, value: counter.value)
        } catch {
            throw .hardware(error)
        }
    }

    /// Changes the passcode or its parameters: rewraps the keys.
    ///
    /// - Parameter rotates: also creates new class keys and presence pairs. Rows must be resealed to
    ///   them, and the recovery key is removed.
    package func changingPasscode(
        from previous: PasscodeKey, to passcode: PasscodeKey, _ parameters: PasscodeParameters, rotates: Bool
    ) throws(KeybagError) -> StoredKeybag {
        let kek = KeyEncryptionKey(device: deviceKey, passcode: passcode)
        var changed = try record.successor()
        changed.passcode = parameters
        changed.replaceTangle(by: passcode.sealedTangle)
        try changed.rewrap(.user, try unlock(with: previous).keys, under: kek)
        try changed.rewrapPairs(try openedPairs(with: previous), under: kek)
        if rotates { try changed.addGeneration(under: kek) }
        return sealed(changed, kek)
    }

    /// Removes the passcode: the keys are wrapped by the device key, and those of `akpu` are
    /// destroyed. So are the presence pairs of the passcode and of biometry: under the device key,
    /// any program could set a passcode of its own and be the person.
    package func removingPasscode(_ previous: PasscodeKey) throws(KeybagError) -> StoredKeybag {
        let kek = KeyEncryptionKey(device: deviceKey)
        var changed = try record.successor()
        changed.passcode = nil
        changed.settings.isTiedToLogin = false
        changed.replaceTangle(by: nil)
        changed.keys.removeAll { $0.slot.protection == ProtectionClass.whenPasscodeSetThisDeviceOnly.number }
        try changed.rewrap(.user, try unlock(with: previous).keys, under: kek)
        changed.dropPasscodePairs()
        changed.hasOutdatedShares = false
        return sealed(changed, nil)
    }

    /// Removes the keys that no row is sealed under any more.
    package func finishingReseal(_ passcode: PasscodeKey) throws(KeybagError) -> StoredKeybag {
        var changed = try record.successor()
        changed.dropEarlierGenerations()
        changed.hasOutdatedShares = false
        return sealed(changed, KeyEncryptionKey(device: deviceKey, passcode: passcode))
    }

    /// Adds a recovery key. It opens the index key, the keys of the classes that may leave the device, and the private
    /// presence keys: it replaces a passcode that was forgotten.
    package func addingRecoveryKey(_ recovery: RecoveryKey, _ passcode: PasscodeKey?) throws(KeybagError)
        -> StoredKeybag
    {
        let kek = KeyEncryptionKey(recovery: recovery)
        let unlocked = try passcode.map { (passcode) throws(KeybagError) in try unlock(with: passcode) }
        var changed = try record.successor()
        changed.removeRecoveryKey()
        let held = try keys.all().merging(unlocked?.keys ?? [:], uniquingKeysWith: { $1 })
        for (slot, key) in held where Self.isRecoverable(slot) {
            changed.keys.append(try kek.wrap(key, for: slot, of: changed.keychain))
        }
        for key in try passcode.map(openedPairs) ?? [] {
            for index in changed.pairs.indices where changed.pairs[index].identity == key.identity {
                try changed.pairs[index].wrap(key, under: kek, of: changed.keychain)
            }
        }
        return sealed(changed, keyEncryptionKey(passcode))
    }

    package func removingRecoveryKey(_ passcode: PasscodeKey?) throws(KeybagError) -> StoredKeybag {
        var changed = try record.successor()
        changed.removeRecoveryKey()
        return sealed(changed, keyEncryptionKey(passcode))
    }

    package func changingSettings(to settings: KeybagSettings, _ passcode: PasscodeKey?) throws(KeybagError)
        -> StoredKeybag
    {
        var changed = try record.successor()
        changed.settings = settings
        return sealed(changed, keyEncryptionKey(passcode))
    }

    /// Removes the passcode after too many wrong ones, and replaces the keys of the classes that it
    /// protected. Their items cannot be opened again.
    package func wiping() throws(KeybagError) -> StoredKeybag {
        let kek = KeyEncryptionKey(device: deviceKey)
        var changed = try record.successor()
        changed.passcode = nil
        changed.settings.isTiedToLogin = false
        changed.replaceTangle(by: nil)
        (changed.pairs, changed.hasOutdatedShares) = ([], false)
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

    /// The result of a recovery, with the classes that have lost their keys.
    package struct RecoveryResult: Sendable {
        package let stored: StoredKeybag
        package let generation: UInt64
        package let lost: Set<ProtectionClass>
        package let keychain: [UInt8]
        package let deviceKey: DeviceKey
        /// The values of the counter before and after; nil without one.
        package let previousCounter: UInt64?
        package let counter: UInt64?
        /// Whether the device key replaces a lost one.
        package let isNewDevice: Bool
        let presence: PresenceRecipients
    }

    /// Creates a keybag with a new passcode from a recovery key. If the device key is not the one
    /// that made the keybag, the keys that only the old device key opened are lost.
    ///
    /// - Parameter dryRun: changes nothing in the hardware; the result must not be stored.
    /// - Throws: ``KeybagError/wrongRecoveryKey`` if the keybag has no recovery key or a different
    ///   one.
    package static func recovering(
        _ stored: StoredKeybag, with recovery: RecoveryKey, deviceKey: DeviceKey, passcode: PasscodeKey,
        _ parameters: PasscodeParameters, dryRun: Bool = false
    ) throws(KeybagError) -> RecoveryResult {
        let previous = try KeybagRecord(decoding: stored.record)
        let opened = try opening(previous, with: recovery)
        // With the original device key, the keys that it opens are kept. Only a foreign device key
        // is tolerated; a damaged keybag is an error.
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
        // Hardware data that an unauthenticated record names may belong to another keychain.
        if device == nil { (record.sealedTangle, record.counter, record.retired) = (nil, nil, []) }
        record.replaceTangle(by: passcode.sealedTangle)
        if !dryRun { try record.recoverCounter(deviceKey) }
        record.keys.removeAll { $0.wrapping != .recovery }
        for (slot, key) in (try device?.keys.all() ?? [:]).merging(opened, uniquingKeysWith: { $1 }) {
            let needsPasscode = ProtectionClass(number: slot.protection).map(\.needsPasscode) == true
            record.keys.append(
                needsPasscode
                    ? try userKEK.wrap(key, for: slot, of: record.keychain)
                    : try deviceKEK.wrap(key, for: slot, of: record.keychain))
        }
        // A class without its newest keys is lost, because its rows are sealed under them.
        let newest = previous.currentGenerations
        let lost = Set(
            ProtectionClass.allCases.filter { record.currentGenerations[$0] != newest[$0] || newest[$0] == nil })
        record.keys.removeAll { key in ProtectionClass(number: key.slot.protection).map(lost.contains) == true }
        // Without a previous passcode, the device key alone could open the keys, so they are
        // replaced as in `settingPasscode`.
        let isUnprotected = previous.passcode == nil
        try record.recoverPairs(
            under: userKEK, with: recovery, isAuthentic: device != nil, generation: generation)
        if isUnprotected { record.removeRecoveryKey() }
        for protection in ProtectionClass.allCases {
            guard lost.contains(protection) || isUnprotected && protection.needsPasscode else { continue }
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
            previousCounter: previous.counter?.value, counter: record.counter?.value,
            isNewDevice: device == nil,
            presence: PresenceRecipients(record))
    }

    /// The key of a new passcode, with a new part of the hardware if the device key's root has one.
    package static func recoveryKey(
        _ passcode: PasscodeKey, for stored: StoredKeybag, _ deviceKey: DeviceKey
    ) throws(KeybagError) -> PasscodeKey {
        try passcode.renewingTangle(of: try KeybagRecord(decoding: stored.record).keychain, deviceKey)
    }

    /// Throws if the recovery key belongs to another keychain.
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

    /// The protection classes that would lose their keys at a recovery with the device key: neither the recovery key
    /// nor the device key opens them.
    package var classesLostAtRecovery: Set<ProtectionClass> {
        var kept = record
        kept.keys.removeAll { $0.wrapping == .user }
        let newest = record.currentGenerations
        return Set(newest.keys.filter { kept.currentGenerations[$0] != newest[$0] })
    }

    /// Whether the constraint of a row can still be satisfied after a recovery with the device key.
    package func canSatisfyAfterRecovery(_ constraint: ConstraintRecord) -> Bool {
        var kept = record
        kept.pairs.removeAll { pair in
            !pair.identity.kind.isSecurityKey && !pair.wrapped.contains { $0.wrapping == .recovery }
        }
        return PresenceRecipients(kept).canSatisfy(constraint)
    }

    // MARK: Presence

    /// Returns the private presence keys that the passcode opens.
    func openedPairs(with passcode: PasscodeKey) throws(KeybagError) -> [PresencePrivateKey] {
        try record.privateKeys(under: KeyEncryptionKey(device: deviceKey, passcode: passcode))
    }

    /// Whether the constraint of a row can be satisfied with the pairs of this keybag.
    package func canSatisfy(_ constraint: ConstraintRecord) -> Bool {
        PresenceRecipients(record).canSatisfy(constraint)
    }

    /// Whether the constraint of a row can still be satisfied when the passcode is removed.
    package func canSatisfyWithoutPasscode(_ constraint: ConstraintRecord) -> Bool {
        var changed = record
        changed.dropPasscodePairs()
        return PresenceRecipients(changed).canSatisfy(constraint)
    }

    // MARK: Sealing

    func keyEncryptionKey(_ passcode: PasscodeKey?) -> KeyEncryptionKey? {
        guard let passcode else { return nil }
        return KeyEncryptionKey(device: deviceKey, passcode: passcode)
    }

    func sealed(_ record: KeybagRecord, _ user: consuming KeyEncryptionKey?) -> StoredKeybag {
        let bytes = record.encoded
        let userTag: [UInt8]
        if let user { userTag = user.tag(of: bytes) } else { userTag = [] }
        return StoredKeybag(record: bytes, deviceTag: DeviceAuthentication(deviceKey).tag(of: bytes), userTag: userTag)
    }
}

extension KeybagRecord {
    /// Adds the next generation of the keys that a passcode protects, and of the presence pairs. A
    /// recovery key could not open them, so it is removed.
    fileprivate mutating func addGeneration(under kek: borrowing KeyEncryptionKey) throws(KeybagError) {
        removeRecoveryKey()
        let generation = try nextGeneration()
        for protection in DeviceKeybag.passcodeClasses {
            try addKeys(of: protection, generation: generation, under: kek)
        }
        try addPairs(generation: generation, under: kek)
    }

    fileprivate mutating func removeRecoveryKey() {
        keys.removeAll { $0.wrapping == .recovery }
        removeWrapping(.recovery)
    }

    /// Keeps the pairs with private keys that the recovery key opens, and replaces the others.
    ///
    /// - Parameter isAuthentic: whether the original device key has authenticated the record.
    ///   Without that key, the secret of a security key opens nothing either.
    fileprivate mutating func recoverPairs(
        under kek: borrowing KeyEncryptionKey, with recovery: RecoveryKey, isAuthentic: Bool, generation: UInt32
    ) throws(KeybagError) {
        let opened = try privateKeys(under: KeyEncryptionKey(recovery: recovery))
        let before = pairs
        pairs = []
        for var pair in before {
            if let key = opened.first(where: { $0.identity == pair.identity }) {
                // The record may not be authenticated here: a public key that another program has
                // exchanged would receive the shares of later rows.
                pair.publicKey = key.publicKey
                pair.wrapped.removeAll { $0.wrapping == .user }
                try pair.wrap(key, under: kek, of: keychain)
                pairs.append(pair)
            } else if pair.identity.kind.isSecurityKey, isAuthentic {
                pairs.append(pair)
            }
        }
        if presenceGeneration == nil { try addPairs(generation: generation, under: kek) }
    }

    /// Replaces every wrapped key of one wrapping by the same key under another key.
    fileprivate mutating func rewrap(
        _ previous: KeyWrapping, _ opened: [KeySlot: SharedSecret], under kek: borrowing KeyEncryptionKey
    ) throws(KeybagError) {
        for index in keys.indices where keys[index].wrapping == previous {
            guard let key = opened[keys[index].slot] else {
                throw .damaged("a key that the passcode must open is missing")
            }
            keys[index] = try kek.wrap(key, for: keys[index].slot, of: keychain)
        }
    }
}
