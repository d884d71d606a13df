// SPDX-License-Identifier: Apache-2.0

import Crypto
import Dispatch
import Glibc
@testable import Keybag
import KeychainModel
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

@Suite("Keybag")
struct KeybagTests {
    @Test("A new keybag opens with its device key: every class but akpu, and the index key")
    func opens() throws {
        let key = DeviceKey.ephemeral()
        let keybag = try Keyring(DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: key), deviceKey: key), nil)
        for protection in ProtectionClass.allCases where !protection.requiresPasscode {
            #expect(try keybag.currentGeneration(of: protection) == 1)
        }
        #expect(throws: KeybagError.self) { try keybag.currentGeneration(of: .whenPasscodeSetThisDeviceOnly) }
        #expect(ProtectionClass.allCases.allSatisfy { keybag.isOpen($0) != $0.requiresPasscode })
    }

    @Test("A search token is the first half of swift-crypto's HMAC under the index key, for any length")
    func tokens() throws {
        let key = DeviceKey.ephemeral()
        let device = try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: key), deviceKey: key)
        let keyring = Keyring(device, nil)
        let indexKey = try #require(try device.keys.key(of: .index)).withUnsafeBytes { SymmetricKey(data: $0) }
        for count in 0...200 {
            let message = [UInt8].random(count: count)
            let code = HMAC<SHA256>.authenticationCode(for: message, using: indexKey)
            for _ in 0..<2 {
                #expect(keyring.tokenKey.token(message).withUnsafeBytes { Array($0) } == Array(code.prefix(16)))
                #expect(keyring.tokenKey.cachedToken(message) == keyring.tokenKey.token(message))
            }
        }
    }

    @Test("Derived keys and codes are those of swift-crypto, for keys and contexts of any length")
    func derivation() {
        for count in 0...200 {
            let secret = SecretBytes.random(count: count)
            let context = [UInt8].random(count: 200 - count)
            let key = secret.withUnsafeBytes { SymmetricKey(data: $0) }
            let derived = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key, info: Array("label".utf8) + context, outputByteCount: 32)
            #expect(
                KeybagCryptography.derive(from: secret, label: "label", context: context).withUnsafeBytes {
                    Array($0)
                } == derived.withUnsafeBytes { Array($0) })
            #expect(
                KeybagCryptography.authenticationCode(of: context, key: secret)
                    == Array(HMAC<SHA256>.authenticationCode(for: context, using: key)))
        }
    }

    @Test("A wrapped key unwraps only for its own class and half")
    func binding() throws {
        let key = DeviceKey.ephemeral()
        let keybag = try Keyring(DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: key), deviceKey: key), nil)
        let itemKey = SymmetricKey(size: .bits256)
        let wrapped = try keybag.wrap(itemKey, of: .secret, protection: .whenUnlocked, generation: 1)[...]
        #expect(wrapped.count == 40)
        #expect(try keybag.unwrap(wrapped, of: .secret, protection: .whenUnlocked, generation: 1) == itemKey)
        for (half, protection, generation) in [
            (RowHalf.metadata, ProtectionClass.whenUnlocked, UInt32(1)), (.secret, .afterFirstUnlock, 1),
            (.secret, .whenUnlocked, 2),
        ] {
            #expect(throws: KeybagError.self) {
                try keybag.unwrap(wrapped, of: half, protection: protection, generation: generation)
            }
        }
    }

    @Test("Any flipped bit of the record or its tag is detected before the record is used")
    func tamper() throws {
        let key = DeviceKey.ephemeral()
        let stored = try DeviceKeybag.create(deviceKey: key)
        for index in stored.record.indices {
            for bit in [UInt8(1), 0x80] {
                var changed = stored
                changed.record[index] ^= bit
                #expect(throws: KeybagError.self) { try DeviceKeybag(opening: changed, deviceKey: key) }
            }
        }
        for index in stored.deviceTag.indices {
            var changed = stored
            changed.deviceTag[index] ^= 1
            #expect(throws: KeybagError.self) { try DeviceKeybag(opening: changed, deviceKey: key) }
        }
        _ = try DeviceKeybag(opening: stored, deviceKey: key)
    }

    @Test("A class key that does not unwrap is an error when it is needed, and the index key at the opening")
    func doesNotUnwrap() throws {
        let key = DeviceKey.ephemeral()
        let stored = try DeviceKeybag.create(deviceKey: key)
        func open(changing slot: KeySlot) throws -> DeviceKeybag {
            var record = try KeybagRecord(decoding: stored.record)
            let index = try #require(record.keys.firstIndex { $0.slot == slot })
            record.keys[index].bytes[39] ^= 1
            let bytes = record.encoded
            let tag = DeviceAuthentication(key).tag(of: bytes)
            return try DeviceKeybag(
                opening: StoredKeybag(record: bytes, deviceTag: tag, userTag: []), deviceKey: key)
        }
        #expect(throws: KeybagError.self) { try open(changing: .index) }
        let device = try open(
            changing: KeySlot(protection: ProtectionClass.always.number, kind: .secret, generation: 1))
        let keyring = Keyring(device, nil)
        func use(_ half: RowHalf, _ protection: ProtectionClass) throws {
            let itemKey = SymmetricKey(size: .bits256)
            let wrapped = try keyring.wrap(itemKey, of: half, protection: protection, generation: 1)
            #expect(try keyring.unwrap(wrapped[...], of: half, protection: protection, generation: 1) == itemKey)
        }
        try use(.secret, .whenUnlocked)
        try use(.metadata, .always)
        for _ in 0..<2 {
            let error = #expect(throws: KeybagError.self) { try use(.secret, .always) }
            guard case .damaged? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(throws: KeybagError.self) { try device.addingRecoveryKey(.random(), nil) }
    }

    @Test("A class key is unwrapped once, also if several threads need it at the same time")
    func concurrentUse() throws {
        let key = DeviceKey.ephemeral()
        let record = try KeybagRecord(decoding: try DeviceKeybag.create(deviceKey: key).record)
        for _ in 0..<20 {
            let keys = DeviceClassKeys(record, key)
            let found = SystemMutex<[[KeySlot: SecretMemory.SharedSecret]]>([])
            let started = SystemMutex(0)
            let ended = DispatchSemaphore(value: 0)
            for _ in 0..<2 {
                let isRunning = BackgroundThread.run {
                    started.withLock { $0 += 1 }
                    while started.withLock({ $0 }) < 2 { sched_yield() }
                    let opened = try? keys.all()
                    found.withLock { $0.append(opened ?? [:]) }
                    ended.signal()
                }
                #expect(isRunning)
            }
            for _ in 0..<2 { ended.awaitSignal() }
            let all = found.withLock { $0 }
            let first = try #require(all.first)
            #expect(first.count == record.keys.count)
            for other in all { #expect(first.allSatisfy { $0.value === other[$0.key] }) }
        }
    }

    @Test("A foreign device key and a damaged keybag are different errors")
    func foreignKey() throws {
        let stored = try DeviceKeybag.create(deviceKey: .ephemeral())
        do {
            _ = try DeviceKeybag(opening: stored, deviceKey: .ephemeral())
            Issue.record("it opened")
        } catch KeybagError.foreignDeviceKey {
        }
    }

    @Test("An encoded record decodes to the same record, and no prefix or extension of it decodes")
    func coding() throws {
        var record = KeybagRecord(
            keychain: Array(1...16), generation: 7, root: 1, deviceKeyCheck: Array(1...8),
            passcode: PasscodeParameters(salt: Array(1...32), cost: .floor),
            settings: KeybagSettings(graceSeconds: 3, lockInterval: 900, locksOnSleep: true, wipesAfterTen: true))
        for (protection, wrapping) in [(UInt8(6), KeyWrapping.user), (8, .device), (8, .recovery)] {
            record.keys.append(
                .init(
                    slot: .init(protection: protection, kind: .secret, generation: 3), wrapping: wrapping,
                    bytes: .init(repeating: 9, count: 40)))
        }
        let bytes = record.encoded
        #expect(try KeybagRecord(decoding: bytes) == record)
        for count in bytes.indices {
            #expect(throws: KeybagError.self) { try KeybagRecord(decoding: Array(bytes.prefix(count))) }
        }
        #expect(throws: KeybagError.self) { try KeybagRecord(decoding: bytes + [0]) }
        record.keys.append(record.keys[0])
        #expect(throws: KeybagError.self) { try KeybagRecord(decoding: record.encoded) }
    }

    @Test("A record with fields of hardware decodes to the same record, and no prefix or extension of it decodes")
    func hardwareCoding() throws {
        let indices = try (1...9).map { number in
            try #require(HardwareIndex(Array(repeating: number, count: HardwareIndex.length)))
        }
        var record = KeybagRecord(
            keychain: Array(1...16), generation: 7, root: DeviceKey.Root.tpm.rawValue, deviceKeyCheck: Array(1...8),
            passcode: PasscodeParameters(salt: Array(1...32), cost: .floor),
            sealedTangle: PINSecret(index: indices[0], object: [1, 2, 3]),
            counter: RollbackCounter(index: indices[1], value: 0x0102_0304_0506_0708))
        for index in indices { record.retire(index) }
        let bytes = record.encoded
        let decoded = try KeybagRecord(decoding: bytes)
        #expect(decoded.sealedTangle == record.sealedTangle && decoded.counter == record.counter)
        // The oldest of more than the maximum is left out.
        #expect(decoded.retired == Array(indices.dropFirst()))
        #expect(decoded.encoded == bytes && bytes.starts(with: [0, 4]))
        for count in bytes.indices {
            #expect(throws: KeybagError.self) { try KeybagRecord(decoding: Array(bytes.prefix(count))) }
        }
        #expect(throws: KeybagError.self) { try KeybagRecord(decoding: bytes + [0]) }
        record.passcode = nil
        #expect(throws: KeybagError.self) { try KeybagRecord(decoding: record.encoded) }
    }

    @Test("The hardware may be one change behind the record, and otherwise they are equal")
    func counterRelation() throws {
        let index = try #require(HardwareIndex(Array(repeating: 1, count: HardwareIndex.length)))
        let counter = RollbackCounter(index: index, value: 5)
        #expect(counter.relation(toHardware: 5) == .equal)
        #expect(counter.relation(toHardware: 4) == .oneBehind)
        for found: UInt64 in [0, 3, 6, .max] {
            #expect(counter.relation(toHardware: found) == .differs(hardware: found))
        }
    }

    @Test("A record that is tied to the login has version 4, and version 3 does not have the setting")
    func tied() throws {
        var record = KeybagRecord(
            keychain: Array(1...16), generation: 7, root: 1, deviceKeyCheck: Array(1...8),
            passcode: PasscodeParameters(salt: Array(1...32), cost: .floor),
            settings: KeybagSettings(lockInterval: 900, isTiedToLogin: true))
        let bytes = record.encoded
        let decoded = try KeybagRecord(decoding: bytes)
        #expect(bytes.starts(with: [0, 4]) && decoded.encoded == bytes && decoded.settings == record.settings)
        #expect(throws: KeybagError.self) { try KeybagRecord(decoding: [0, 3] + bytes.dropFirst(2)) }
        record.settings.isTiedToLogin = false
        #expect(record.encoded.starts(with: [0, 3]))
    }

    @Test("A keybag of a newer version is rejected with an error that names the version")
    func newerVersion() throws {
        do {
            _ = try KeybagRecord(decoding: [0, 9] + [UInt8](repeating: 0, count: 100))
            Issue.record("it decoded")
        } catch KeybagError.newerVersion(let found, let known) {
            #expect(found == 9 && known == 4)
        }
    }

    @Test("KDB-15, KDB-16: a device key of another root, and a passcode without its code, are rejected by name")
    func unknownProtection() throws {
        let key = DeviceKey.ephemeral()
        let authentication = DeviceAuthentication(key)
        var record = try KeybagRecord(decoding: try DeviceKeybag.create(deviceKey: key).record)
        func open(_ userTag: [UInt8] = []) throws -> DeviceKeybag {
            let bytes = record.encoded
            return try DeviceKeybag(
                opening: .init(record: bytes, deviceTag: authentication.tag(of: bytes), userTag: userTag),
                deviceKey: key)
        }
        _ = try open()
        #expect(throws: KeybagError.self) { try open([1]) }
        record.root = DeviceKey.Root.file.rawValue
        #expect(throws: KeybagError.self) { try open() }
        record.root = key.root.rawValue
        record.passcode = PasscodeParameters(salt: Array(1...16), cost: .floor)
        #expect(throws: KeybagError.self) { try open() }
    }

    @Test("KDB-12: an unknown root, class, kind or wrapping is rejected")
    func unknownCodes() throws {
        let bytes = try DeviceKeybag.create(deviceKey: .ephemeral()).record
        // version(2) UUID(2 + 16) generation(8) root(1) check(2 + 8) passcode flag(1) tangle(2)
        // settings(7) count(2), then class, kind, generation(4), wrapping.
        for (offset, value) in [(28, UInt8(9)), (39, 2), (48, 4), (51, 5), (52, 4), (57, 4)] {
            var changed = bytes
            changed[offset] = value
            #expect(throws: KeybagError.self, "\(offset)") { try KeybagRecord(decoding: changed) }
        }
        #expect(try KeybagRecord(decoding: bytes).encoded == bytes)
    }

    @Test("Two keybags have no key in common")
    func fresh() throws {
        let key = DeviceKey.ephemeral()
        let (one, other) = (try DeviceKeybag.create(deviceKey: key), try DeviceKeybag.create(deviceKey: key))
        let (a, b) = (try KeybagRecord(decoding: one.record), try KeybagRecord(decoding: other.record))
        #expect(a.keychain != b.keychain)
        #expect(Set(a.keys.map(\.bytes)).isDisjoint(with: b.keys.map(\.bytes)))
        #expect(a.keys.count == 13)
    }

    @Test("The device key is created once and then read")
    func deviceKeyFile() throws {
        let temporary = try TemporaryDirectory()
        let directory = try PrivateDirectory(creating: "\(temporary.path)/state")
        #expect(try DeviceKey.load(from: directory) == nil)
        let made = try DeviceKey.loadOrCreate(in: directory)
        let read = try DeviceKey.loadOrCreate(in: directory)
        let isSame = made.secret.isEqual(to: read.secret)
        #expect(isSame)
        #expect(try temporary.files().keys.sorted() == ["state/device.key"])
        let length = made.secret.count
        #expect(length == 32)
    }
}
