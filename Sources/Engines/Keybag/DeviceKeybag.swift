// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import SecretMemory

/// A keybag that the device key has authenticated, with the keys that need no passcode. It can only
/// be created from a stored keybag and its device key.
public final class DeviceKeybag: Sendable {
    public let stored: StoredKeybag
    let record: KeybagRecord
    public let deviceKey: DeviceKey
    /// The class keys that are wrapped by the device key alone.
    let keys: DeviceClassKeys
    let tokenKey: TokenKey

    /// Authenticates the stored keybag, then unwraps the index key.
    ///
    /// - Parameter adoptsRoot: whether the key may have another root than the keybag, because
    ///   another process has moved it meanwhile.
    /// - Throws: ``KeybagError/foreignDeviceKey`` if the keybag was made with another device key,
    ///   ``KeybagError/damaged(_:)`` if any byte was changed,
    ///   ``KeybagError/newerVersion(found:known:)``.
    public init(opening stored: StoredKeybag, deviceKey: DeviceKey, adoptsRoot: Bool = false) throws(KeybagError) {
        let authentication = DeviceAuthentication(deviceKey)
        guard authentication.isValid(stored.deviceTag, of: stored.record) else {
            // An unauthenticated record is not trusted; it is decoded only to choose the error.
            if let record = try? KeybagRecord(decoding: stored.record), record.deviceKeyCheck != authentication.check {
                throw .foreignDeviceKey
            }
            throw .damaged("the authentication code of the device key does not match")
        }
        let record = try KeybagRecord(decoding: stored.record)
        var deviceKey = deviceKey
        if adoptsRoot, deviceKey.root != .memory, let root = DeviceKey.Root(rawValue: record.root), root != .memory {
            deviceKey = deviceKey.moved(to: root)
        }
        guard record.root == deviceKey.root.rawValue else {
            throw .damaged(
                "the device key has root \(deviceKey.root.rawValue), expected the keybag's root \(record.root)"
            )
        }
        guard (record.passcode == nil) == stored.userTag.isEmpty else {
            throw .damaged("the keybag must have both a passcode and its authentication code, or neither")
        }
        try record.passcode?.cost.validate()
        let keys = DeviceClassKeys(record, deviceKey)
        guard let indexKey = try keys.key(of: .index) else { throw .damaged("the index key is missing") }
        self.stored = stored
        self.record = record
        self.deviceKey = deviceKey
        self.keys = keys
        tokenKey = TokenKey(indexKey)
    }

    /// Creates the keybag of a new keychain, without a passcode: every class except `akpu` has keys
    /// under the device key.
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

    // MARK: Content

    /// The UUID of the keychain, 16 bytes.
    public var keychain: [UInt8] { record.keychain }
    public var generation: UInt64 { record.generation }
    public var hasPasscode: Bool { record.passcode != nil }
    package var passcodeCost: PasscodeCost? { record.passcode?.cost }
    public var hasRecoveryKey: Bool { record.keys.contains { $0.wrapping == .recovery } }
    public var settings: KeybagSettings { record.settings }

    /// Whether rows are still sealed under keys of an earlier generation, because a change was
    /// interrupted.
    public var isResealing: Bool {
        if isReplacingPairs { return true }
        let current = record.currentGenerations
        return record.keys.contains { entry in
            guard let protection = ProtectionClass(number: entry.slot.protection), let newest = current[protection]
            else { return false }
            return entry.slot.generation < newest
        }
    }

    /// Whether shares of constrained rows may still be sealed to other presence pairs.
    package var isReplacingPairs: Bool { record.hasEarlierPairs || record.hasOutdatedShares }

    /// The generation that rows of each class are sealed under. Classes without keys are left out.
    public var currentGenerations: [ProtectionClass: UInt32] { record.currentGenerations }

    // MARK: Unlocking

    /// Derives the passcode key of this keybag from a passcode, without the hardware's part.
    ///
    /// - Throws: ``KeybagError/noPasscode`` if no passcode is set.
    func key(of passcode: Passcode) throws(KeybagError) -> PasscodeKey {
        guard let parameters = record.passcode else { throw .noPasscode }
        // The hardware answers for the derived key: its connection can be opened meanwhile.
        if record.sealedTangle != nil { deviceKey.hardware?.prepare() }
        return try .derive(passcode, parameters)
    }

    /// Derives the key of a new passcode, with a new part of the hardware if the root has one.
    package func passcodeKey(
        _ passcode: Passcode, _ parameters: PasscodeParameters
    ) throws(KeybagError) -> PasscodeKey {
        try PasscodeKey.derive(passcode, parameters).renewingTangle(of: record.keychain, deviceKey)
    }

    /// Whether the hardware counts wrong passcodes.
    package var limitsPasscodes: Bool { record.sealedTangle != nil }

    /// Adds the hardware's part to a passcode key.
    ///
    /// - Throws: ``KeybagError/wrongPasscode``, counted by the hardware; ``KeybagError/passcodeLimitReached``,
    ///   ``KeybagError/hardware(_:)``.
    func completing(_ key: PasscodeKey) throws(KeybagError) -> PasscodeKey {
        try key.opening(record.sealedTangle, of: record.keychain, deviceKey)
    }

    /// Unwraps the keys that need the passcode.
    ///
    /// - Throws: ``KeybagError/wrongPasscode`` if the passcode is not this keybag's.
    package func unlock(with passcode: PasscodeKey) throws(KeybagError) -> UnlockedKeybag {
        let kek = KeyEncryptionKey(device: deviceKey, passcode: passcode)
        var opened: [KeySlot: SharedSecret] = [:]
        for entry in record.keys where entry.wrapping == .user {
            do {
                opened[entry.slot] = try kek.unwrap(entry, of: record.keychain)
            } catch {
                // The record is authentic, so the passcode is wrong and not the wrapped key.
                throw .wrongPasscode
            }
        }
        guard kek.isValid(stored.userTag, of: stored.record) else {
            throw opened.isEmpty
                ? .wrongPasscode : .damaged("the authentication code of the passcode does not match")
        }
        return UnlockedKeybag(keychain: record.keychain, keys: opened)
    }
}

extension SharedSecret {
    /// Generates a key of 32 bytes.
    static func randomKey() -> SharedSecret { SharedSecret(.random(count: 32)) }
}

extension [UInt8] {
    /// Returns random bytes that are not secret.
    static func random(count: Int) -> [UInt8] {
        SecretBytes.random(count: count).withUnsafeBytes { Array($0) }
    }
}
