// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// The keybag as it is stored: a header and wrapped keys. Format:
/// Documentation/Formats/keychain-database.md, "Keybag".
struct KeybagRecord: Equatable, Sendable {
    /// The newest version. Version 1 has no settings and is read with the default ones; version 2 has no presence
    /// pairs. Version 4 is written only for data that version 3 cannot hold, so that running programs of an earlier
    /// version keep working otherwise.
    static let version: UInt16 = 4
    /// The version that every record is raised to.
    static let commonVersion: UInt16 = 3

    /// The version that ``encoded`` writes.
    var writtenVersion: UInt16 {
        let isNew =
            settings.allowsSoftwareEnclave || settings.isTiedToLogin || Self.newRoots.contains(root)
            || sealedTangle != nil || counter != nil || !retired.isEmpty
        return isNew ? Self.version : Self.commonVersion
    }

    /// The roots that version 3 does not have.
    private static let newRoots = [DeviceKey.Root.tpm.rawValue, DeviceKey.Root.credential.rawValue]
    static let maxRetired = 8

    /// The UUID of the keychain: 16 bytes.
    var keychain: [UInt8]
    /// Increases with every change. Running processes reload the keybag when it differs from
    /// theirs.
    var generation: UInt64
    /// Where the device key is kept: ``DeviceKey/Root``.
    var root: UInt8
    /// 8 bytes derived from the device key. They show whether the keybag was made with it.
    var deviceKeyCheck: [UInt8]
    /// The salt and the cost of scrypt; nil without a passcode.
    var passcode: PasscodeParameters?
    /// T, sealed by hardware; nil stands for 32 zero bytes.
    var sealedTangle: PINSecret?
    /// nil for a keychain without hardware that counts.
    var counter: RollbackCounter?
    /// Data that the hardware keeps for an earlier record, to be removed.
    var retired: [HardwareIndex] = []
    var settings = KeybagSettings()
    var keys: [WrappedKey] = []
    /// Empty before the first passcode, and in a record of version 2.
    var pairs: [PresencePair] = []
    /// Whether shares of rows may be sealed to other pairs than the present ones, because a
    /// security key was enrolled or removed.
    var hasOutdatedShares = false
    /// The version that was read. An older one than ``commonVersion`` is raised at the next change.
    private(set) var storedVersion = commonVersion

    struct WrappedKey: Equatable, Sendable {
        var slot: KeySlot
        /// The key that wraps it: 1 KEK_device, 2 KEK_user, 3 KEK_recovery.
        var wrapping: KeyWrapping
        /// AES-KW (RFC 3394): 40 bytes.
        var bytes: [UInt8]
    }

}

/// The kind of key that wraps a key of the keybag, with its raw value in the record.
enum KeyWrapping: UInt8, Sendable {
    /// KEK_device.
    case device = 1
    /// KEK_user.
    case user = 2
    /// KEK_recovery.
    case recovery = 3
    /// The key of a security key, for presence pairs only.
    case securityKey = 4
}

/// Identifies a class key by its class, row half and generation.
struct KeySlot: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        /// Wraps the keys of secret halves.
        case secret = 1
        /// Wraps the keys of metadata halves.
        case metadata = 2
        /// Computes search tokens; it belongs to no class.
        case index = 3
    }

    /// The number of the protection class; 0 for the index key.
    var protection: UInt8
    var kind: Kind
    var generation: UInt32

    static let index = KeySlot(protection: 0, kind: .index, generation: 1)
}

// MARK: Generations

extension KeybagRecord {
    /// The newest generation of each class that has keys.
    var currentGenerations: [ProtectionClass: UInt32] {
        var newest: [ProtectionClass: UInt32] = [:]
        for key in keys {
            guard let protection = ProtectionClass(number: key.slot.protection) else { continue }
            newest[protection] = max(newest[protection] ?? 0, key.slot.generation)
        }
        return newest
    }

    /// Returns the next generation: greater than that of every key, so that the generation of a
    /// removed key is not used again.
    func nextGeneration() throws(KeybagError) -> UInt32 {
        let newest = max(keys.map(\.slot.generation).max() ?? 0, pairs.map(\.identity.generation).max() ?? 0)
        guard newest < .max else { throw .damaged("the key generations are exhausted") }
        return newest + 1
    }

    /// Adds two new keys of a class, one for each row half.
    mutating func addKeys(
        of protection: ProtectionClass, generation: UInt32, under kek: borrowing KeyEncryptionKey
    ) throws(KeybagError) {
        for kind in [KeySlot.Kind.secret, .metadata] {
            let slot = KeySlot(protection: protection.number, kind: kind, generation: generation)
            keys.append(try kek.wrap(.randomKey(), for: slot, of: keychain))
        }
    }

    /// Returns the record's successor: the same content with the next generation.
    func successor() throws(KeybagError) -> KeybagRecord {
        guard generation < UInt64(Int64.max), counter?.value != .max else {
            throw .damaged("the keybag's generations are exhausted")
        }
        var next = self
        next.generation += 1
        next.counter?.value += 1
        next.storedVersion = max(storedVersion, Self.commonVersion)
        return next
    }

    /// Removes the keys and the presence pairs that no row is sealed under any more.
    mutating func dropEarlierGenerations() {
        let newest = currentGenerations
        keys.removeAll { key in
            guard let protection = ProtectionClass(number: key.slot.protection), let current = newest[protection] else {
                return false
            }
            return key.slot.generation < current
        }
        dropEarlierPairs()
    }
}

// MARK: Encoding

extension KeybagRecord {
    /// The bytes that are stored and authenticated.
    var encoded: [UInt8] {
        var writer = KeybagWriter()
        writer.put(writtenVersion)
        writer.put(bytes: keychain)
        writer.put(generation)
        writer.put(root)
        writer.put(bytes: deviceKeyCheck)
        writer.put(UInt8(passcode == nil ? 0 : 1))
        if let passcode {
            writer.put(bytes: passcode.salt)
            writer.put(passcode.cost.exponent)
            writer.put(passcode.cost.blockSize)
            writer.put(passcode.cost.parallelism)
        }
        writer.put(bytes: sealedTangle?.encoded ?? [])
        writer.put(settings.graceSeconds)
        writer.put(settings.lockInterval)
        writer.put(settings.flags)
        writer.put(UInt16(keys.count))
        for key in keys {
            writer.put(key.slot.protection)
            writer.put(key.slot.kind.rawValue)
            writer.put(key.slot.generation)
            writer.put(key.wrapping.rawValue)
            writer.put(bytes: key.bytes)
        }
        writer.put(hasOutdatedShares)
        writer.put(UInt8(pairs.count))
        for pair in pairs { pair.write(to: &writer) }
        if writtenVersion >= 4 { writeHardware(to: &writer) }
        return writer.bytes
    }

    /// Decodes the bytes that ``encoded`` has written.
    ///
    /// - Throws: ``KeybagError/newerVersion(found:known:)``, or ``KeybagError/damaged(_:)`` with
    ///   the field that is wrong.
    init(decoding bytes: [UInt8]) throws(KeybagError) {
        var reader = KeybagReader(bytes)
        let version: UInt16 = try reader.number("version")
        guard version <= Self.version else { throw .newerVersion(found: version, known: Self.version) }
        guard version > 0 else { throw .damaged("unsupported keybag version \(version)") }
        storedVersion = version
        keychain = try reader.bytes("keychain UUID", counts: 16...16)
        generation = try reader.number("generation")
        root = try reader.number("root")
        guard DeviceKey.Root(rawValue: root) != nil, version >= 4 || !Self.newRoots.contains(root) else {
            throw .damaged("unknown root \(root) of the device key")
        }
        deviceKeyCheck = try reader.bytes("device key check", counts: 8...8)
        let hasPasscode: UInt8 = try reader.number("passcode flag")
        switch hasPasscode {
        case 0: passcode = nil
        case 1:
            passcode = PasscodeParameters(
                salt: try reader.bytes("salt", counts: PasscodeParameters.saltLengths),
                cost: PasscodeCost(
                    exponent: try reader.number("cost"), blockSize: try reader.number("block size"),
                    parallelism: try reader.number("parallelism")))
        default: throw .damaged("the passcode flag must be 0 or 1, found \(hasPasscode)")
        }
        sealedTangle = try Self.tangle(&reader, version)
        if version >= 2 {
            settings.graceSeconds = try reader.number("grace")
            settings.lockInterval = try reader.number("lock interval")
            let flags: UInt8 = try reader.number("settings")
            guard flags & ~(version >= 4 ? 15 : 3) == 0 else { throw .damaged("unknown settings \(flags)") }
            settings.flags = flags
        }
        let count: UInt16 = try reader.number("number of keys")
        keys = []
        for _ in 0..<count {
            keys.append(try WrappedKey(&reader))
        }
        if version >= 3 {
            let flag: UInt8 = try reader.number("flag of the shares")
            guard flag <= 1 else { throw .damaged("the flag of the shares must be 0 or 1, found \(flag)") }
            hasOutdatedShares = flag == 1
            pairs = try Self.pairs(&reader)
        }
        if version >= 4 { try readHardware(from: &reader) }
        guard passcode != nil || sealedTangle == nil else { throw .damaged("it has a tangle, but no passcode") }
        guard version < 4 || writtenVersion == version else {
            throw .damaged("it has version \(version) without content that requires it")
        }
        guard passcode != nil || presenceGeneration == nil else {
            throw .damaged("it has presence keys of a passcode, but no passcode")
        }
        guard reader.isAtEnd else { throw .damaged("unexpected bytes after the last key") }
        struct KeyFamily: Hashable {
            let slot: KeySlot
            let wrapping: KeyWrapping
        }
        guard Set(keys.map { KeyFamily(slot: $0.slot, wrapping: $0.wrapping) }).count == keys.count else {
            throw .damaged("duplicate key")
        }
    }
}

extension KeybagSettings {
    /// The settings that are bits of one byte.
    fileprivate var flags: UInt8 {
        get {
            var flags: UInt8 = 0
            if locksOnSleep { flags |= 1 }
            if wipesAfterTen { flags |= 2 }
            if allowsSoftwareEnclave { flags |= 4 }
            if isTiedToLogin { flags |= 8 }
            return flags
        }
        set {
            locksOnSleep = newValue & 1 != 0
            wipesAfterTen = newValue & 2 != 0
            allowsSoftwareEnclave = newValue & 4 != 0
            isTiedToLogin = newValue & 8 != 0
        }
    }
}

extension KeybagRecord {
    private static func pairs(_ reader: inout KeybagReader) throws(KeybagError) -> [PresencePair] {
        let count: UInt8 = try reader.number("number of presence pairs")
        guard count <= PresencePair.maxCount else {
            throw .damaged("it has \(count) presence pairs, expected at most \(PresencePair.maxCount)")
        }
        var pairs: [PresencePair] = []
        for _ in 0..<count { pairs.append(try PresencePair(&reader)) }
        guard Set(pairs.map(\.identity)).count == pairs.count else { throw .damaged("duplicate presence pair") }
        let keys = pairs.compactMap(\.enrollment?.identifier)
        guard keys.count <= SecurityKeyInfo.maxCount, Set(keys).count == keys.count else {
            throw .damaged(
                "it has \(keys.count) security keys, expected at most \(SecurityKeyInfo.maxCount) different ones")
        }
        return pairs
    }
}

extension KeybagRecord.WrappedKey {
    fileprivate init(_ reader: inout KeybagReader) throws(KeybagError) {
        let protection: UInt8 = try reader.number("class")
        let kindCode: UInt8 = try reader.number("kind")
        guard let kind = KeySlot.Kind(rawValue: kindCode) else { throw .damaged("unknown key kind \(kindCode)") }
        guard kind == .index ? protection == 0 : ProtectionClass(number: protection) != nil else {
            throw .damaged("unknown class \(protection)")
        }
        slot = KeySlot(protection: protection, kind: kind, generation: try reader.number("key generation"))
        let wrappingCode: UInt8 = try reader.number("wrapping")
        guard let wrapping = KeyWrapping(rawValue: wrappingCode), wrapping != .securityKey else {
            throw .damaged("unknown wrapping \(wrappingCode)")
        }
        self.wrapping = wrapping
        bytes = try reader.bytes("wrapped key", counts: 40...40)
    }
}
