// SPDX-License-Identifier: Apache-2.0

public import struct Crypto.SymmetricKey
public import KeychainModel
internal import SecretMemory

/// A keybag whose keys are open. It can only come out of opening a stored keybag with its device key, or of making a new one.
public final class UnlockedKeybag: ItemKeyWrapping {
    /// The keybag as it is stored.
    public struct Stored: Sendable {
        /// The encoded record.
        public var record: [UInt8]
        /// HMAC-SHA256 of the record under a key derived from the device key.
        public var deviceTag: [UInt8]
        /// The same under a key derived from the passcode; empty while there is none.
        public var userTag: [UInt8]

        public init(record: [UInt8], deviceTag: [UInt8], userTag: [UInt8]) {
            self.record = record
            self.deviceTag = deviceTag
            self.userTag = userTag
        }
    }

    public let keychain: [UInt8]
    public let generation: UInt64
    public let hasPasscode: Bool
    private let keys: [KeySlot: SharedSecret]
    private let indexKey: SharedSecret
    private let currentGenerations: [ProtectionClass: UInt32]

    /// Makes the keybag of a new keychain, without a passcode: every class but `akpu` under the device key.
    public static func create(deviceKey: DeviceKey) throws(KeybagError) -> Stored {
        let wrapping = DeviceWrapping(deviceKey)
        var record = KeybagRecord(
            keychain: SecretBytes.randomIdentifier(), generation: 1, root: deviceKey.root.rawValue, deviceKeyCheck: wrapping.check,
            passcode: nil, sealedTangle: [], keys: [])
        let slots =
            [KeySlot.index]
            + ProtectionClass.allCases.filter { !$0.requiresPasscode }.flatMap { protection in
                [KeySlot.Kind.secret, .metadata].map { KeySlot(protection: protection.number, kind: $0, generation: 1) }
            }
        for slot in slots {
            let wrapped = try wrapping.key(for: slot, of: record.keychain).withUnsafeBytes { (bytes) throws(KeybagError) in
                try KeybagCryptography.wrap(SymmetricKey(size: .bits256), under: bytes)
            }
            record.keys.append(.init(slot: slot, wrapping: .device, bytes: wrapped))
        }
        return Stored(record: record.encoded, deviceTag: wrapping.tag(of: record.encoded), userTag: [])
    }

    /// Authenticates the stored keybag, then opens every key that the device key opens.
    ///
    /// - Throws: ``KeybagError/foreignDeviceKey`` where the device key is another one, ``KeybagError/damaged(_:)`` where a byte is not
    ///   what was written, ``KeybagError/newerVersion(found:known:)``.
    public init(opening stored: Stored, deviceKey: DeviceKey) throws(KeybagError) {
        let wrapping = DeviceWrapping(deviceKey)
        guard wrapping.isValid(stored.deviceTag, of: stored.record) else {
            // Nothing of an unauthenticated record is believed; it is only looked at to say what is wrong.
            if let record = try? KeybagRecord(decoding: stored.record), record.deviceKeyCheck != wrapping.check { throw .foreignDeviceKey }
            throw .damaged("the keybag does not carry the device key's authentication code")
        }
        let record = try KeybagRecord(decoding: stored.record)
        guard record.root == deviceKey.root.rawValue else {
            throw .damaged("the device key comes from root \(deviceKey.root.rawValue), the keybag was made with root \(record.root)")
        }
        guard record.passcode == nil, stored.userTag.isEmpty else {
            throw .passcodeSet
        }
        var keys: [KeySlot: SharedSecret] = [:]
        var current: [ProtectionClass: UInt32] = [:]
        for entry in record.keys where entry.wrapping == .device {
            let key = try wrapping.key(for: entry.slot, of: record.keychain).withUnsafeBytes { (bytes) throws(KeybagError) in
                try KeybagCryptography.unwrap(entry.bytes, under: bytes)
            }
            keys[entry.slot] = key.withUnsafeBytes { SharedSecret(SecretBytes(copying: $0)) }
            if let protection = ProtectionClass(number: entry.slot.protection) {
                current[protection] = max(current[protection] ?? 0, entry.slot.generation)
            }
        }
        guard let indexKey = keys[.index] else { throw .damaged("the index key is missing") }
        keychain = record.keychain
        generation = record.generation
        hasPasscode = record.passcode != nil
        self.keys = keys
        self.indexKey = indexKey
        currentGenerations = current
    }

    // MARK: ItemKeyWrapping

    public func currentGeneration(of protection: ProtectionClass) throws(KeybagError) -> UInt32 {
        guard let generation = currentGenerations[protection] else { throw .passcodeRequired(protection) }
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

    public func withIndexKey<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        indexKey.withUnsafeBytes(body)
    }

    private func classKey(_ half: RowHalf, _ protection: ProtectionClass, _ generation: UInt32) throws(KeybagError) -> SharedSecret {
        let kind: KeySlot.Kind = half == .secret ? .secret : .metadata
        guard let key = keys[KeySlot(protection: protection.number, kind: kind, generation: generation)] else {
            throw currentGenerations[protection] == nil ? .passcodeRequired(protection) : .wrongKey
        }
        return key
    }
}

extension SecretBytes {
    /// 16 random bytes that are no secret.
    fileprivate static func randomIdentifier() -> [UInt8] {
        random(count: 16).withUnsafeBytes { Array($0) }
    }
}
