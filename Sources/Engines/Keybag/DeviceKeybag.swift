// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import SecretMemory

/// A keybag that the device key has opened: authentic, with the keys that need no passcode. It can only come out of a stored keybag and its
/// device key.
public final class DeviceKeybag: Sendable {
    public let stored: StoredKeybag
    let record: KeybagRecord
    public let deviceKey: DeviceKey
    /// The keys that are wrapped by the device key alone.
    let keys: [KeySlot: SharedSecret]
    let indexKey: SharedSecret

    /// Authenticates the stored keybag, then opens every key that the device key opens.
    ///
    /// - Throws: ``KeybagError/foreignDeviceKey`` where the device key is another one, ``KeybagError/damaged(_:)`` where a byte is not
    ///   what was written, ``KeybagError/newerVersion(found:known:)``.
    public init(opening stored: StoredKeybag, deviceKey: DeviceKey) throws(KeybagError) {
        let authentication = DeviceAuthentication(deviceKey)
        guard authentication.isValid(stored.deviceTag, of: stored.record) else {
            // Nothing of an unauthenticated record is believed; it is only looked at to say what is wrong.
            if let record = try? KeybagRecord(decoding: stored.record), record.deviceKeyCheck != authentication.check {
                throw .foreignDeviceKey
            }
            throw .damaged("the keybag does not carry the device key's authentication code")
        }
        let record = try KeybagRecord(decoding: stored.record)
        guard record.root == deviceKey.root.rawValue else {
            throw .damaged(
                "the device key comes from root \(deviceKey.root.rawValue), the keybag was made with root \(record.root)"
            )
        }
        guard (record.passcode == nil) == stored.userTag.isEmpty else {
            throw .damaged("a passcode and its authentication code are not there together")
        }
        try record.passcode?.cost.validate()
        let kek = KeyEncryptionKey(device: deviceKey)
        var keys: [KeySlot: SharedSecret] = [:]
        for entry in record.keys where entry.wrapping == .device {
            keys[entry.slot] = try kek.unwrap(entry, of: record.keychain)
        }
        guard let indexKey = keys[.index] else { throw .damaged("the index key is missing") }
        self.stored = stored
        self.record = record
        self.deviceKey = deviceKey
        self.keys = keys
        self.indexKey = indexKey
    }

    /// The keybag of a new keychain, without a passcode: every class but `akpu` under the device key.
    public static func create(deviceKey: DeviceKey) throws(KeybagError) -> StoredKeybag {
        let authentication = DeviceAuthentication(deviceKey)
        let kek = KeyEncryptionKey(device: deviceKey)
        var record = KeybagRecord(
            keychain: .random(count: 16), generation: 1, root: deviceKey.root.rawValue,
            deviceKeyCheck: authentication.check)
        record.keys.append(try kek.wrap(.randomKey(), for: .index, of: record.keychain))
        for protection in ProtectionClass.allCases where !protection.requiresPasscode {
            try record.addKeys(of: protection, generation: 1, under: kek)
        }
        return StoredKeybag(record: record.encoded, deviceTag: authentication.tag(of: record.encoded), userTag: [])
    }

    // MARK: What it says

    /// The UUID of the keychain, 16 bytes.
    public var keychain: [UInt8] { record.keychain }
    public var generation: UInt64 { record.generation }
    public var hasPasscode: Bool { record.passcode != nil }
    package var passcodeCost: PasscodeCost? { record.passcode?.cost }
    public var hasRecoveryKey: Bool { record.keys.contains { $0.wrapping == .recovery } }
    public var settings: KeybagSettings { record.settings }

    /// Whether rows are left that are sealed under keys of an earlier generation, because a change was interrupted.
    public var isResealing: Bool {
        let current = record.currentGenerations
        return record.keys.contains { entry in
            guard let protection = ProtectionClass(number: entry.slot.protection), let newest = current[protection]
            else { return false }
            return entry.slot.generation < newest
        }
    }

    /// The generation under which rows of each class are sealed; a class without keys is missing.
    public var currentGenerations: [ProtectionClass: UInt32] { record.currentGenerations }

    // MARK: Unlocking

    /// P of this keybag.
    ///
    /// - Throws: ``KeybagError/noPasscode``.
    package func key(of passcode: Passcode) throws(KeybagError) -> PasscodeKey {
        guard let parameters = record.passcode else { throw .noPasscode }
        return try .derive(passcode, parameters)
    }

    /// Opens the keys that need the passcode.
    ///
    /// - Throws: ``KeybagError/wrongPasscode`` where it is another one.
    package func unlock(with passcode: PasscodeKey) throws(KeybagError) -> UnlockedKeybag {
        let kek = KeyEncryptionKey(device: deviceKey, passcode: passcode)
        var opened: [KeySlot: SharedSecret] = [:]
        for entry in record.keys where entry.wrapping == .user {
            do {
                opened[entry.slot] = try kek.unwrap(entry, of: record.keychain)
            } catch {
                // The record is authentic, so that it is the passcode that does not fit, and not the key.
                throw .wrongPasscode
            }
        }
        guard kek.isValid(stored.userTag, of: stored.record) else {
            throw opened.isEmpty
                ? .wrongPasscode : .damaged("the keybag does not carry the passcode's authentication code")
        }
        return UnlockedKeybag(keychain: record.keychain, keys: opened)
    }
}

extension SharedSecret {
    /// A new key of 32 bytes.
    static func randomKey() -> SharedSecret { SharedSecret(.random(count: 32)) }
}

extension [UInt8] {
    /// Random bytes that are no secret.
    static func random(count: Int) -> [UInt8] {
        SecretBytes.random(count: count).withUnsafeBytes { Array($0) }
    }
}
