// SPDX-License-Identifier: Apache-2.0

import Crypto
@testable import Keybag
import KeychainModel
import LinuxSystem
import SecretMemory
import Testing

/// Satisfied constraints yield a key. Without it, nothing grants access.
@Suite("Constraints")
struct ConstraintTests {
    private static let item = Array(repeating: UInt8(7), count: 16)
    private static let set = EnrolledSet(digest: Array(repeating: 1, count: 32))
    private static let otherSet = EnrolledSet(digest: Array(repeating: 2, count: 32))

    /// The proof that a person brings to one evaluation.
    enum Proof: Sendable { case passcode, biometry, changedBiometry, password, wrongPassword }

    enum Outcome: Sendable, Equatable { case opens, notSatisfied, lost, wrongKey }

    struct Row: Sendable, CustomTestStringConvertible {
        let flags: AccessControlFlags
        let proofs: [Proof]
        let outcome: Outcome
        var testDescription: String { "\(flags.rawValue) \(proofs) \(outcome)" }
    }

    static let rows = [
        Row(flags: .devicePasscode, proofs: [], outcome: .notSatisfied),
        Row(flags: .devicePasscode, proofs: [.passcode], outcome: .opens),
        Row(flags: .devicePasscode, proofs: [.biometry], outcome: .notSatisfied),
        Row(flags: .userPresence, proofs: [.passcode], outcome: .opens),
        Row(flags: .userPresence, proofs: [.biometry], outcome: .opens),
        Row(flags: .userPresence, proofs: [.password], outcome: .notSatisfied),
        Row(flags: .biometryAny, proofs: [.biometry], outcome: .opens),
        Row(flags: .biometryAny, proofs: [.changedBiometry], outcome: .opens),
        Row(flags: .biometryAny, proofs: [.passcode], outcome: .notSatisfied),
        Row(flags: .biometryCurrentSet, proofs: [.biometry], outcome: .opens),
        Row(flags: .biometryCurrentSet, proofs: [.changedBiometry], outcome: .lost),
        Row(flags: .biometryCurrentSet, proofs: [.passcode], outcome: .notSatisfied),
        Row(flags: [.devicePasscode, .biometryAny], proofs: [.passcode], outcome: .notSatisfied),
        Row(flags: [.devicePasscode, .biometryAny], proofs: [.biometry], outcome: .notSatisfied),
        Row(flags: [.devicePasscode, .biometryAny], proofs: [.passcode, .biometry], outcome: .opens),
        Row(flags: [.devicePasscode, .biometryAny, .and], proofs: [.passcode, .biometry], outcome: .opens),
        Row(flags: [.devicePasscode, .biometryAny, .or], proofs: [], outcome: .notSatisfied),
        Row(flags: [.devicePasscode, .biometryAny, .or], proofs: [.passcode], outcome: .opens),
        Row(flags: [.devicePasscode, .biometryAny, .or], proofs: [.biometry], outcome: .opens),
        Row(
            flags: [.devicePasscode, .biometryCurrentSet, .or], proofs: [.changedBiometry], outcome: .notSatisfied),
        Row(
            flags: [.devicePasscode, .biometryCurrentSet, .or], proofs: [.changedBiometry, .passcode],
            outcome: .opens),
        Row(
            flags: [.devicePasscode, .biometryCurrentSet, .and], proofs: [.changedBiometry, .passcode],
            outcome: .lost),
        Row(flags: .applicationPassword, proofs: [], outcome: .notSatisfied),
        Row(flags: .applicationPassword, proofs: [.password], outcome: .opens),
        Row(flags: .applicationPassword, proofs: [.wrongPassword], outcome: .wrongKey),
        Row(flags: .applicationPassword, proofs: [.passcode, .biometry], outcome: .notSatisfied),
        Row(flags: [.userPresence, .applicationPassword], proofs: [.passcode], outcome: .notSatisfied),
        Row(flags: [.userPresence, .applicationPassword], proofs: [.password], outcome: .notSatisfied),
        Row(flags: [.userPresence, .applicationPassword], proofs: [.passcode, .password], outcome: .opens),
        Row(flags: [.userPresence, .applicationPassword], proofs: [.passcode, .wrongPassword], outcome: .wrongKey),
    ]

    @Test("Constraints yield their key only for the proofs that satisfy them", arguments: rows)
    func outcomes(_ row: Row) throws {
        let fixture = try Fixture()
        let sealed = try fixture.seal(row.flags)
        let wrapped = try sealed.key.wrap(SymmetricKey(data: Array(0..<32)))
        let keys = try fixture.keys(row.proofs)
        #expect(try fixture.outcome(keys, sealed.record, wrapped) == row.outcome)
        // A record that was stored and read again is the same.
        let decoded = try ConstraintRecord(decoding: sealed.record.encoded)
        #expect(decoded == sealed.record)
        #expect(try fixture.outcome(keys, decoded, wrapped) == row.outcome)
        // Nothing is left after the lock.
        fixture.lockable.lock(immediately: true)
        #expect(keys.isEmpty)
        #expect(try fixture.outcome(keys, sealed.record, wrapped) == .notSatisfied)
    }

    @Test("A changed byte of a record is refused, or yields no key; a prefix does not decode")
    func everyByte() throws {
        let fixture = try Fixture()
        let flags: AccessControlFlags = [.devicePasscode, .biometryCurrentSet, .and, .applicationPassword]
        let sealed = try fixture.seal(flags)
        let wrapped = try sealed.key.wrap(SymmetricKey(data: Array(0..<32)))
        let keys = try fixture.keys([.passcode, .biometry, .password])
        #expect(try fixture.outcome(keys, sealed.record, wrapped) == .opens)
        let bytes = sealed.record.encoded
        #expect(Array(bytes.prefix(sealed.record.fixedPart.count)) == sealed.record.fixedPart)
        for index in bytes.indices {
            #expect(throws: KeybagError.self) { _ = try ConstraintRecord(decoding: Array(bytes.prefix(index))) }
            var changed = bytes
            changed[index] ^= 1
            guard let record = try? ConstraintRecord(decoding: changed) else { continue }
            // A changed salt would only cost a derivation; it yields another key.
            let outcome = try? fixture.outcome(keys, record, wrapped)
            #expect(outcome != .opens, "byte \(index)")
        }
        #expect(throws: KeybagError.self) { _ = try ConstraintRecord(decoding: bytes + [0]) }
        #expect(throws: KeybagError.self) {
            _ = try ConstraintRecord(decoding: bytes + Array(repeating: 0, count: ConstraintRecord.maxLength))
        }
    }

    @Test("Shares of another item, another revision or another term open nothing")
    func exchanged() throws {
        let fixture = try Fixture()
        let sealed = try fixture.seal([.devicePasscode, .biometryAny, .and])
        let keys = try fixture.keys([.passcode, .biometry])
        #expect(throws: ConstraintKeys.Failure.self) {
            _ = try keys.key(of: sealed.record, item: Array(repeating: 8, count: 16))
        }
        // A share of another write of the same row.
        var spliced = sealed.record
        spliced.shares[0] = try fixture.seal([.devicePasscode, .biometryAny, .and], revision: 4).record.shares[0]
        #expect(throws: ConstraintKeys.Failure.self) { _ = try keys.key(of: spliced, item: Self.item) }
        // The shares of two terms, exchanged.
        var swapped = sealed.record
        swapped.shares.swapAt(0, 1)
        #expect(throws: ConstraintKeys.Failure.self) { _ = try keys.key(of: swapped, item: Self.item) }
        #expect(throws: KeybagError.self) { _ = try ConstraintRecord(decoding: swapped.encoded) }
    }

    @Test("The check of the enrolled set depends on the opened share, not on the set alone")
    func enrolledSetCheck() throws {
        let fixture = try Fixture()
        // Two writes of one row: the row, the revision and the set are the same.
        let records = try (1...2).map { _ in try fixture.seal(.biometryCurrentSet).record }
        #expect(records[0].enrolledSetCheck != records[1].enrolledSetCheck)
        let keys = try fixture.keys([.biometry])
        for record in records { _ = try keys.key(of: record, item: Self.item) }
        // The share that opens is masked: it is not the value of the check.
        let context = ConstraintContext(keychain: fixture.keybag.keychain, item: Self.item, revision: 3)
        let opened = try records[0].shares[0].value(
            of: .biometryCurrentSet, .biometryCurrentSet, try fixture.keybag.openedPairs(with: fixture.key), context)
        let masked = try #require(opened)
        let check = Array(records[0].enrolledSetCheck.dropFirst())
        #expect(context.enrolledSetCheck(masked.copy()) != check)
        let set = try #require(Self.set)
        #expect(
            context.enrolledSetCheck(context.masked(masked.copy(), with: set)) == check)
    }

    @Test("The key of an opened item is used again for the same record, and ends with the keys that opened it")
    func openedAgain() throws {
        let fixture = try Fixture()
        let record = try fixture.seal([.devicePasscode, .and, .applicationPassword]).record
        let later = try fixture.seal([.devicePasscode, .and, .applicationPassword], revision: 4).record
        func opened(_ keys: ConstraintKeys, _ record: ConstraintRecord) throws -> ConstraintKey {
            do {
                return try keys.key(of: record, item: Self.item)
            } catch ConstraintKeys.Failure.needsDerivation(let derivation) {
                try derivation.run()
                return try keys.key(of: record, item: Self.item)
            }
        }
        func secret(_ key: ConstraintKey?) -> [UInt8]? { key?.secret.withUnsafeBytes { Array($0) } }
        let ends: [(ConstraintKeys) -> Void] = [
            { $0.invalidate() }, { $0.retain([]) }, { $0.setApplicationPassword(nil) },
            { $0.setApplicationPassword(try? Fixture.password("ape")) },
        ]
        for end in ends {
            let keys = try fixture.keys([.passcode, .password])
            let first = try opened(keys, record)
            #expect(try opened(keys, record) === first)
            // Another record of the same item, and then the first one again.
            let second = try opened(keys, later)
            #expect(try opened(keys, later) === second)
            let (bytes, others) = (secret(first), secret(second))
            #expect(bytes != others)
            let third = try opened(keys, record)
            let thirdBytes = secret(third)
            #expect(third !== first)
            #expect(thirdBytes == bytes)
            end(keys)
            let again = secret(try? opened(keys, record))
            #expect(again != bytes)
        }
    }

    @Test("Opened keys take a limited amount of secret memory")
    func openedLimit() throws {
        let fixture = try Fixture()
        let sealed = try fixture.seal(.devicePasscode)
        let constraint = EncodedConstraint(sealed.record)
        var opened = OpenedConstraints()
        for number in 0..<3 * OpenedConstraints.maxCount {
            let item = withUnsafeBytes(of: number.bigEndian) { Array($0) }
            opened.insert(constraint, sealed.key, of: item)
            let found = opened[item, constraint.encoded]
            #expect(found?.key === sealed.key)
            let other = opened[item, constraint.encoded + [0]]
            #expect(other?.key == nil)
        }
        #expect((1...OpenedConstraints.maxCount).contains(opened.count))
    }

    @Test("An enrolled set of another source neither opens an item nor shows that it is lost")
    func otherSource() throws {
        let fixture = try Fixture()
        let record = try fixture.seal(.biometryCurrentSet).record
        let set = try #require(Self.set)
        let keys = try fixture.keys([.biometry])
        keys.insert(
            try fixture.keybag.openedPairs(with: fixture.key),
            enrolledSet: EnrolledSet(digest: set.digest, source: .fingerNames))
        let failure = #expect(throws: ConstraintKeys.Failure.self) { _ = try keys.key(of: record, item: Self.item) }
        if case .notSatisfied? = failure {} else { Issue.record("\(failure as Any)") }
    }

    @Test("Without a passcode nothing is sealed that it would open; an application password needs none")
    func noPasscode() throws {
        let deviceKey = DeviceKey.ephemeral()
        let plain = try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: deviceKey), deviceKey: deviceKey)
        let recipients = Keyring(plain, nil).presence
        let binding = ConstraintBinding(enrolledSet: Self.set, applicationPassword: try Fixture.password("app"))
        for flags in [AccessControlFlags.devicePasscode, .userPresence, .biometryAny, .biometryCurrentSet] {
            let constraints = try #require(try AccessConstraints.parse(flags))
            #expect {
                _ = try recipients.seal(constraints, item: Self.item, revision: 1, binding)
            } throws: { error in
                if case KeybagError.constraintNeedsPasscode = error { true } else { false }
            }
        }
        let constraints = try #require(try AccessConstraints.parse(.applicationPassword))
        _ = try recipients.seal(constraints, item: Self.item, revision: 1, binding)
        // An unenrolled security key, and a missing set or password, are refused by name.
        let fixture = try Fixture()
        for (flags, binding) in [
            (AccessControlFlags.latchkeySecurityKey, ConstraintBinding()), (.biometryCurrentSet, ConstraintBinding()),
            (.applicationPassword, ConstraintBinding()),
        ] {
            #expect(throws: KeybagError.self) { _ = try fixture.seal(flags, binding) }
        }
    }

    @Test(
        "Setting a passcode creates the pairs, changing keeps them, rotating replaces them; an older record gets them")
    func pairs() throws {
        let fixture = try Fixture()
        let pairs = fixture.keybag.record.pairs
        #expect(pairs.map(\.identity.kind) == [.passcode, .biometry])
        #expect(Set(pairs.map(\.identity.generation)) == [2])
        let parameters = PasscodeParameters.fresh(PasscodeCost(exponent: 10))
        let newKey = try PasscodeKey.derive(try Passcode(SharedSecret(copying: "new one".utf8)), parameters)
        let changed = try fixture.open(
            try fixture.keybag.changingPasscode(from: fixture.key, to: newKey, parameters, rotates: false))
        #expect(changed.record.pairs.map(\.publicKey) == pairs.map(\.publicKey))
        #expect(try changed.openedPairs(with: newKey).count == 2)
        #expect(throws: KeybagError.self) { _ = try changed.openedPairs(with: fixture.key) }
        let rotated = try fixture.open(
            try fixture.keybag.changingPasscode(from: fixture.key, to: newKey, parameters, rotates: true))
        #expect(rotated.record.pairs.count == 4 && rotated.record.currentPairs.count == 2 && rotated.isResealing)
        let done = try fixture.open(try rotated.finishingReseal(newKey))
        #expect(done.record.pairs.count == 2 && !done.isResealing)
        #expect(Set(done.record.pairs.map(\.publicKey)).isDisjoint(with: pairs.map(\.publicKey)))
        // Removed: no key opens them any more, and the next passcode gets new ones.
        let removed = try fixture.open(try done.removingPasscode(newKey))
        #expect(removed.record.pairs.isEmpty)
        let again = try fixture.open(try removed.settingPasscode(fixture.key, fixture.parameters))
        #expect(again.record.pairs.count == 2 && !again.isReplacingPairs)
        #expect(Set(again.record.pairs.map(\.publicKey)).isDisjoint(with: done.record.pairs.map(\.publicKey)))
        #expect(try fixture.open(try again.wiping()).record.pairs.isEmpty)
        // A passcode of version 2 of the record.
        var older = done.record
        older.pairs = []
        let kek = KeyEncryptionKey(device: fixture.deviceKey, passcode: newKey)
        let stored = StoredKeybag(
            record: older.encoded, deviceTag: DeviceAuthentication(fixture.deviceKey).tag(of: older.encoded),
            userTag: kek.tag(of: older.encoded))
        let upgraded = try fixture.open(try #require(try fixture.open(stored).addingPresence(newKey)))
        #expect(upgraded.record.pairs.count == 2 && !upgraded.isResealing)
        #expect(try upgraded.addingPresence(newKey) == nil)
    }

    @Test("No presence key of a person is under the device key: such a record, or one without a passcode, is refused")
    func withoutPasscode() throws {
        let fixture = try Fixture()
        let constraint = try fixture.seal([.devicePasscode, .biometryAny, .or]).record
        #expect(fixture.keybag.canSatisfy(constraint) && !fixture.keybag.canSatisfyWithoutPasscode(constraint))
        #expect(fixture.keybag.canSatisfyWithoutPasscode(try fixture.seal(.applicationPassword).record))
        var record = fixture.keybag.record
        record.passcode = nil
        #expect(throws: KeybagError.self) { _ = try KeybagRecord(decoding: record.encoded) }
        record = fixture.keybag.record
        record.pairs[0].wrapped[0].wrapping = .device
        #expect(throws: KeybagError.self) { _ = try KeybagRecord(decoding: record.encoded) }
        record.pairs[0].wrapped[0].wrapping = .securityKey
        #expect(throws: KeybagError.self) { _ = try KeybagRecord(decoding: record.encoded) }
    }

    @Test("A recovery key keeps the pairs, also with a new device key; public keys are computed again")
    func recovery() throws {
        let fixture = try Fixture()
        let recovery = RecoveryKey.random()
        var stored = try fixture.keybag.addingRecoveryKey(recovery, fixture.key)
        // The record is not authenticated when its device key is lost.
        var forged = try KeybagRecord(decoding: stored.record)
        forged.pairs[0].publicKey = Array(repeating: 9, count: 32)
        stored.record = forged.encoded
        let newDevice = DeviceKey.ephemeral()
        let result = try DeviceKeybag.recovering(
            stored, with: recovery, deviceKey: newDevice, passcode: fixture.key, fixture.parameters)
        let recovered = try DeviceKeybag(opening: result.stored, deviceKey: newDevice)
        #expect(recovered.record.pairs.map(\.publicKey) == fixture.keybag.record.pairs.map(\.publicKey))
        #expect(try recovered.openedPairs(with: fixture.key).count == 2)
        #expect(result.canSatisfy(try fixture.seal(.userPresence).record))
        // A recovery key of an older version does not have them: they are replaced.
        forged.pairs = fixture.keybag.record.pairs
        forged.removeWrapping(.recovery)
        stored.record = forged.encoded
        let replaced = try DeviceKeybag.recovering(
            stored, with: recovery, deviceKey: newDevice, passcode: fixture.key, fixture.parameters)
        #expect(!replaced.canSatisfy(try fixture.seal(.userPresence).record))
        #expect(replaced.canSatisfy(try fixture.seal(.applicationPassword).record))
    }

    @Test("Only the owner that asks for it keeps the key of biometry, and only until the lock")
    func biometry() throws {
        let fixture = try Fixture(keepsBiometry: false)
        #expect(!fixture.lockable.holdsBiometryKey)
        let set = try #require(Self.set)
        #expect(throws: KeybagError.self) {
            try fixture.lockable.satisfy(
                fixture.lockable.constraintKeys(), with: BiometricMatch(recognizedAgainst: set))
        }
        let keeping = try Fixture()
        #expect(keeping.lockable.holdsBiometryKey)
        keeping.lockable.lock(immediately: false)
        #expect(keeping.lockable.graceLeft != nil && !keeping.lockable.holdsBiometryKey)
    }

    @Test("A lock, a new keybag without a passcode and a close wipe the released keys of evaluations")
    func released() throws {
        let fixture = try Fixture()
        let removed = try fixture.open(try fixture.keybag.removingPasscode(fixture.key))
        let ends: [(LockableKeybag) -> Void] = [
            { $0.lock(immediately: false) }, { $0.install(removed, nil) }, { $0.replace(removed) }, { $0.forget() },
        ]
        for end in ends {
            // Before its first unlock a keychain verifies passcodes, too.
            for isUnlocked in [true, false] {
                let lockable = LockableKeybag(fixture.keybag, clock: .system)
                if isUnlocked { lockable.unlock(try fixture.keybag.unlock(with: fixture.key)) }
                let keys = lockable.constraintKeys()
                try lockable.satisfy(keys, with: fixture.key)
                keys.setApplicationPassword(try Fixture.password("app"))
                #expect(!keys.isEmpty)
                end(lockable)
                #expect(keys.isEmpty)
            }
        }
    }

    @Test("The worked values of the format document are derived")
    func workedValues() throws {
        let keychain: [UInt8] = Array(stride(from: 0, through: 0xFF, by: 0x11)).map(UInt8.init)
        let context = ConstraintContext(keychain: keychain, item: Array(0xA0...0xAF), revision: 1)
        let set = try #require(EnrolledSet(digest: Array(0x20...0x3F)))
        let check = context.enrolledSetCheck(SecretBytes(Array(0x60...0x7F)))
        #expect(Hexadecimal.text(check) == "93afab294709c4674e7f1fa7d0402ba1")
        let zero = SecretBytes(count: 32) { _ in }
        #expect(
            context.masked(zero, with: set).withUnsafeBytes { Hexadecimal.text(Array($0)) }
                == "fec36f571b5826c3cdeba50b7068580574f819689984695c1dfee0b288c11c7a")
        let flags: AccessControlFlags = [.devicePasscode, .biometryCurrentSet, .and]
        let record = ConstraintRecord(
            constraints: try #require(try AccessConstraints.parse(flags)), revision: 1,
            enrolledSetCheck: [1] + check, password: nil, shares: [])
        #expect(
            Hexadecimal.text(record.fixedPart)
                == "01000000000000801800000000000000010200110193afab294709c4674e7f1fa7d0402ba100020104")
        #expect(
            context.wrappingKey(SecretBytes(Array(0x40...0x5F)), nil, fixedPart: record.fixedPart)
                .withUnsafeBytes { Hexadecimal.text(Array($0)) }
                == "e66940d249b2bbfa49ad776455ced409cdea316203d267b7243f673fc20bcbbb")
        let pair = PresenceIdentity(kind: .passcode, generation: 2)
        #expect(
            Hexadecimal.text(context.shareInfo(flags, .devicePasscode, pair))
                == "6c617463686b65792076332073686172650011223344556677"
                + "8899aabbccddeeffa0a1a2a3a4a5a6a7a8a9aaabacadaeaf000000000000000100000000000080180101000000020000")
    }

    private struct Fixture {
        let deviceKey = DeviceKey.ephemeral()
        let key: PasscodeKey
        let parameters = PasscodeParameters.fresh(PasscodeCost(exponent: 10))
        let keybag: DeviceKeybag
        let lockable: LockableKeybag

        init(keepsBiometry: Bool = true) throws {
            let plain = try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: deviceKey), deviceKey: deviceKey)
            key = try PasscodeKey.derive(try Passcode(SharedSecret(copying: "secret".utf8)), parameters)
            let set = try DeviceKeybag(opening: try plain.settingPasscode(key, parameters), deviceKey: deviceKey)
            keybag = try DeviceKeybag(opening: try set.finishingReseal(key), deviceKey: deviceKey)
            lockable = LockableKeybag(keybag, clock: .system)
            if keepsBiometry { lockable.keepBiometryKey() }
            lockable.unlock(try keybag.unlock(with: key))
            try lockable.openBiometry(with: key)
        }

        func open(_ stored: StoredKeybag) throws -> DeviceKeybag {
            try DeviceKeybag(opening: stored, deviceKey: deviceKey)
        }

        static func password(_ text: String) throws -> ApplicationPassword {
            let password = try ApplicationPassword(
                SharedSecret(copying: text.utf8), cost: PasscodeCost(exponent: 4))
            try password.pendingSealing?.run()
            return password
        }

        func seal(_ flags: AccessControlFlags, _ binding: ConstraintBinding? = nil, revision: UInt64 = 3) throws
            -> SealedConstraint
        {
            let constraints = try #require(try AccessConstraints.parse(flags))
            let binding =
                try binding
                ?? ConstraintBinding(enrolledSet: ConstraintTests.set, applicationPassword: Self.password("app"))
            return try lockable.keyring.presence.seal(
                constraints, item: ConstraintTests.item, revision: revision, binding)
        }

        func keys(_ proofs: [Proof]) throws -> ConstraintKeys {
            let keys = lockable.constraintKeys()
            for proof in proofs {
                switch proof {
                case .passcode: try lockable.satisfy(keys, with: key)
                case .biometry, .changedBiometry:
                    let set = try #require(proof == .biometry ? ConstraintTests.set : ConstraintTests.otherSet)
                    try lockable.satisfy(keys, with: BiometricMatch(recognizedAgainst: set))
                case .password: keys.setApplicationPassword(try Self.password("app"))
                case .wrongPassword: keys.setApplicationPassword(try Self.password("ape"))
                }
            }
            return keys
        }

        func outcome(_ keys: ConstraintKeys, _ record: ConstraintRecord, _ wrapped: [UInt8]) throws -> Outcome {
            do {
                let key = try key(keys, record).unwrap(wrapped)
                return key == SymmetricKey(data: Array(0..<32)) ? .opens : .wrongKey
            } catch ConstraintKeys.Failure.notSatisfied {
                return .notSatisfied
            } catch ConstraintKeys.Failure.lost {
                return .lost
            } catch KeybagError.wrongKey {
                return .wrongKey
            }
        }

        /// The key of a record, after the derivation that it needs.
        private func key(_ keys: ConstraintKeys, _ record: ConstraintRecord) throws -> ConstraintKey {
            do {
                return try keys.key(of: record, item: ConstraintTests.item)
            } catch ConstraintKeys.Failure.needsDerivation(let derivation) {
                try derivation.run()
                return try keys.key(of: record, item: ConstraintTests.item)
            }
        }
    }
}

extension ConstraintKeys {
    fileprivate func key(of record: ConstraintRecord, item: [UInt8]) throws(Failure) -> ConstraintKey {
        try key(of: EncodedConstraint(record), item: item)
    }
}
