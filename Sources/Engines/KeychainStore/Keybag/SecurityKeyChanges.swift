// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel
public import SecretMemory
internal import SQLiteConnections

/// The security keys of a keychain.
public struct SecurityKeyChanges {
    let store: KeychainStore
    private var changes: KeybagChanges { KeybagChanges(store: store) }

    /// Returns the enrolled security keys, in the order of their enrollment.
    public func all() throws(StoreError) -> [EnrolledSecurityKey] { try store.refresh().securityKeys }

    /// Enrolls a security key. New items with `latchkeySecurityKey` also open with it; if
    /// `satisfiesUserPresence` is true, so do all items with `userPresence`.
    ///
    /// Existing items with a constraint that the key satisfies are sealed to it, where the passcode
    /// opens their shares. It opens none that only another security key opens: touch that one as
    /// well, and pass its keys as `evaluation`. An interruption keeps the key and the completed
    /// items; the next unlock seals those that the passcode opens.
    ///
    /// - Parameters:
    ///   - secret: the secret that the device has derived for the credential: 32 bytes.
    ///   - passcode: is verified afresh, as in an unlock.
    ///   - evaluation: keys that another security key has satisfied.
    /// - Throws: ``KeybagError/noPasscode``, ``KeybagError/securityKeyExists``,
    ///   ``KeybagError/tooManySecurityKeys(max:)``.
    public func enroll(
        _ enrollment: SecurityKeyEnrollment, secret: SharedSecret, satisfiesUserPresence: Bool, passcode: Passcode,
        evaluation: ConstraintKeys? = nil, progress: ResealProgress = { _, _ in }
    ) throws(StoreError) {
        try store.requireWritable()
        try store.exclusively { () throws(StoreError) in
            guard try store.refresh().hasPasscode else { throw .keybag(.noPasscode) }
            let key = try changes.verify(passcode)
            try changes.addPresence(key)
            try changes.reseal(key) { _, _ in }
            let device = store.keybag.device
            let changed = try store.mapKeybagErrors { () throws(KeybagError) in
                try device.enrolling(enrollment, secret: secret, satisfiesUserPresence: satisfiesUserPresence, key)
            }
            try changes.save(changed, key)
            try changes.reseal(key, evaluation: evaluation, progress)
        }
    }

    /// The number of items that no other way opens: ``remove(_:passcode:deletesItems:)``
    /// would delete them.
    public func itemsRequiring(_ key: SecurityKeyIdentifier) throws(StoreError) -> Int {
        try store.read { (database, _) throws(StoreError) in
            let device = store.keybag.device
            guard device.securityKeys.contains(where: { $0.identifier == key }) else {
                throw .keybag(.wrongSecurityKey)
            }
            return try Self.countItems(requiring: key, device, in: database)
        }
    }

    /// Removes a security key, and its shares from the items that the passcode opens.
    ///
    /// - Parameters:
    ///   - passcode: required if one is set.
    ///   - deletesItems: also deletes the items that then cannot be opened any more. If false, and
    ///     there are any, nothing changes.
    /// - Returns: the number of deleted items.
    /// - Throws: ``StoreError/itemsRequireSecurityKey(count:)``, ``KeybagError/wrongSecurityKey``.
    @discardableResult
    public func remove(
        _ key: SecurityKeyIdentifier, passcode: Passcode?, deletesItems: Bool = false
    ) throws(StoreError) -> Int {
        try store.requireWritable()
        return try store.exclusively { () throws(StoreError) in
            let passcodeKey = try changes.verifyIfSet(passcode)
            let device = store.keybag.device
            let changed = try store.mapKeybagErrors { () throws(KeybagError) in
                try device.removingSecurityKey(key, passcodeKey)
            }
            var count = 0
            try changes.save(changed, passcodeKey) { (database) throws(StoreError) in
                let required = try Self.countItems(requiring: key, device, in: database)
                guard deletesItems || required == 0 else { throw .itemsRequireSecurityKey(count: required) }
                count = try ConstrainedRows.delete(in: database, includesDamaged: false) {
                    device.isRequired(key, by: $0)
                }
            }
            if let passcodeKey { try changes.reseal(passcodeKey) { _, _ in } }
            store.forgetOldKeys()
            return count
        }
    }

    private static func countItems(
        requiring key: SecurityKeyIdentifier, _ device: DeviceKeybag, in database: Database
    ) throws(StoreError) -> Int {
        try ConstrainedRows.count(in: database, includesDamaged: false) { device.isRequired(key, by: $0) }
    }
}
