// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
import KeychainTesting
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// Passcodes: their form, the protection classes that they open, and the limit on attempts.
@Suite("Passcode")
struct PasscodeTests {
    private let deviceKey = DeviceKey.ephemeral()
    private let cost = PasscodeCost(exponent: 10)

    // MARK: The passcode itself

    @Test("Equivalent forms of the same characters are the same passcode (NFKC)")
    func normalization() throws {
        #expect(try passcode("caf\u{E9}66").bytes == passcode("cafe\u{301}66").bytes)
        #expect(try passcode("ﬁnally").bytes == passcode("finally").bytes)
        #expect(try passcode("secret").bytes != passcode("Secret").bytes)
        #expect(try passcode("e\u{301}e\u{301}e\u{301}").length == 3)
    }

    @Test(
        "Weak passcodes are recognized: one repeated character, sequences, and common ones in either case",
        arguments: [
            ("aaaaaa", .oneCharacter), ("      ", .oneCharacter), ("éééééé", .oneCharacter), ("🔑🔑🔑🔑🔑🔑", .oneCharacter),
            ("123456", .common),
            ("abcdefghij", .common), ("AbCdEf", .common), ("987654", .common), ("Password", .common),
            ("qwertyUIOP", .common),
            ("ｐａｓｓｗｏｒｄ", .common), ("aaaaab", nil), ("éééééè", nil), ("123457", nil), ("password of mine", nil),
            ("passwor", nil),
        ] as [(String, Passcode.Weakness?)])
    func weakness(text: String, weakness: Passcode.Weakness?) throws {
        #expect(try passcode(text).weakness == weakness)
    }

    @Test("Empty, too long and undecodable passcodes are rejected, and short ones when they are new")
    func refused() throws {
        #expect(throws: KeybagError.self) { try Passcode(SharedSecret(copying: [])) }
        #expect(throws: KeybagError.self) {
            try Passcode(SharedSecret(copying: [UInt8](repeating: 0x61, count: 1 << 20)))
        }
        #expect(throws: KeybagError.self) { try Passcode(SharedSecret(copying: [0xFF, 0xFE, 0x61, 0x61, 0x61, 0x61])) }
        #expect(throws: KeybagError.self) { try passcode("12345").requireNew() }
        try passcode("123456").requireNew()
        #expect(try passcode("123456").isShort && !passcode("123456789012345").isShort)
    }

    @Test(
        "A cost of more than twice the written one is rejected before memory is allocated",
        arguments: [
            (40, 8, 1), (17, 4096, 1), (17, 8, 99), (0, 8, 1), (20, 16, 1), (19, 8, 1), (18, 16, 1), (18, 8, 2),
            (17, 16, 2), (17, 8, 3),
        ])
    func hugeCost(_ exponent: UInt8, _ blockSize: UInt32, _ parallelism: UInt32) throws {
        let parameters = PasscodeParameters(
            salt: .random(count: 32),
            cost: PasscodeCost(exponent: exponent, blockSize: blockSize, parallelism: parallelism))
        #expect(throws: KeybagError.self) { try PasscodeKey.derive(try passcode("secret"), parameters) }
        // The same in an authentic record.
        let device = try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: deviceKey), deviceKey: deviceKey)
        #expect(throws: KeybagError.self) {
            try DeviceKeybag(opening: try device.settingPasscode(.none, parameters), deviceKey: deviceKey)
        }
    }

    @Test("Twice the written cost is accepted", arguments: [(18, 8, 1), (17, 16, 1), (17, 8, 2)])
    func doubleCost(_ exponent: UInt8, _ blockSize: UInt32, _ parallelism: UInt32) throws {
        #expect(throws: Never.self) {
            try PasscodeCost(exponent: exponent, blockSize: blockSize, parallelism: parallelism).validate()
        }
    }

    // MARK: Opened keys

    @Test("A passcode opens the classes that need one, and a wrong passcode opens nothing")
    func opens() throws {
        let (keybag, key) = try protected()
        let closed = Keyring(keybag, nil)
        let open = Keyring(keybag, try keybag.unlock(with: key))
        for protection in ProtectionClass.allCases {
            #expect(closed.isOpen(protection) == !protection.needsPasscode)
            #expect(open.isOpen(protection))
        }
        #expect(throws: KeybagError.self) { try keybag.unlock(with: try keybag.key(of: try passcode("another"))) }
    }

    @Test(
        "Setting a passcode creates new class keys; the old ones open no new row, and are removed after the reseal"
    )
    func newGeneration() throws {
        let before = try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: deviceKey), deviceKey: deviceKey)
        let (after, key) = try protected(before)
        #expect(after.isResealing && after.generation == 2)
        for protection in ProtectionClass.allCases {
            #expect(after.currentGenerations[protection] == (protection.needsPasscode ? 2 : 1))
        }
        let done = try DeviceKeybag(opening: try after.finishingReseal(key), deviceKey: deviceKey)
        #expect(!done.isResealing)
        #expect(
            Set(done.record.keys.map(\.bytes)).isDisjoint(
                with: before.record.keys.filter {
                    $0.slot.generation == 1 && ProtectionClass(number: $0.slot.protection)?.needsPasscode == true
                }.map(\.bytes)))
        // The device key alone opens none of them after that.
        #expect(try done.keys.all().keys.allSatisfy { ProtectionClass(number: $0.protection)?.needsPasscode != true })
    }

    @Test(
        "A passcode change rewraps the keys, rotation creates new ones, and removal destroys those of akpu"
    )
    func changes() throws {
        let (first, key) = try protected()
        let keybag = try DeviceKeybag(opening: try first.finishingReseal(key), deviceKey: deviceKey)
        let unlocked = try keybag.unlock(with: key)
        let parameters = PasscodeParameters.fresh(cost)
        let newKey = try PasscodeKey.derive(try passcode("another secret"), parameters)
        let changed = try DeviceKeybag(
            opening: try keybag.changingPasscode(from: key, to: newKey, parameters, rotates: false),
            deviceKey: deviceKey
        )
        #expect(throws: KeybagError.self) { try changed.unlock(with: key) }
        #expect(try changed.unlock(with: newKey).keys == unlocked.keys)
        let rotated = try DeviceKeybag(
            opening: try keybag.changingPasscode(from: key, to: newKey, parameters, rotates: true), deviceKey: deviceKey
        )
        #expect(rotated.isResealing)
        #expect(try rotated.unlock(with: newKey).keys.count == unlocked.keys.count * 2)
        let removed = try DeviceKeybag(opening: try keybag.removingPasscode(key), deviceKey: deviceKey)
        #expect(!removed.hasPasscode && removed.stored.userTag.isEmpty)
        #expect(removed.currentGenerations[.whenPasscodeSetThisDeviceOnly] == nil)
        #expect(Keyring(removed, nil).isOpen(.whenUnlocked))
    }

    @Test("Any changed byte of a keybag with a passcode is reported as damage, not as a wrong passcode")
    func damage() throws {
        let (keybag, key) = try protected()
        for index in keybag.stored.record.indices {
            var changed = keybag.stored
            changed.record[index] ^= 1
            #expect(throws: KeybagError.self) { try DeviceKeybag(opening: changed, deviceKey: deviceKey) }
        }
        for index in keybag.stored.userTag.indices {
            var changed = keybag.stored
            changed.userTag[index] ^= 1
            do {
                _ = try DeviceKeybag(opening: changed, deviceKey: deviceKey).unlock(with: key)
                Issue.record("it opened")
            } catch KeybagError.damaged {
            }
        }
    }

    // MARK: Recovery

    @Test("A recovery key is parsed from its text, tolerates similar characters, and detects a wrong one")
    func recoveryText() throws {
        let key = RecoveryKey.random()
        let text = key.text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(text.count == 39 && text.split(separator: "-").allSatisfy { $0.count == 4 })
        let sloppy = text.lowercased().replacing("-", with: " ").replacing("0", with: "o").replacing("1", with: "l")
        #expect(try RecoveryKey(text: SharedSecret(copying: sloppy.utf8)).text == key.text)
        for position in text.indices where text[position] != "-" {
            var wrong = text
            wrong.replaceSubrange(position...position, with: text[position] == "7" ? "8" : "7")
            #expect(throws: KeybagError.self) { try RecoveryKey(text: SharedSecret(copying: wrong.utf8)) }
        }
        for bad in ["", String(text.dropLast()), text + "0", text.replacing("-", with: "*")] {
            #expect(throws: KeybagError.self, "\(bad)") { try RecoveryKey(text: SharedSecret(copying: bad.utf8)) }
        }
    }

    @Test("A recovery key opens the classes that may leave the device, also with a new device key")
    func recovery() throws {
        let (keybag, key) = try protected()
        let recovery = RecoveryKey.random()
        let stored = try keybag.addingRecoveryKey(recovery, key)
        let before = try DeviceKeybag(opening: stored, deviceKey: deviceKey)
        let parameters = PasscodeParameters.fresh(cost)
        let newKey = try PasscodeKey.derive(try passcode("after the loss"), parameters)
        let newDevice = DeviceKey.ephemeral()
        let recovered = try DeviceKeybag.recovering(
            stored, with: recovery, deviceKey: newDevice, passcode: newKey, parameters)
        #expect(recovered.lost == Set(ProtectionClass.allCases.filter(\.isThisDeviceOnly)))
        let after = try DeviceKeybag(opening: recovered.stored, deviceKey: newDevice)
        let old = try before.unlock(with: key).keys.merging(before.keys.all()) { $1 }
        let new = try after.unlock(with: newKey).keys.merging(after.keys.all()) { $1 }
        for (slot, secret) in old where ProtectionClass(number: slot.protection)?.isThisDeviceOnly != true {
            #expect(new[slot] == secret)
        }
        // With the original device key, the keys that it opens are kept.
        let kept = try DeviceKeybag.recovering(
            stored, with: recovery, deviceKey: deviceKey, passcode: newKey, parameters)
        #expect(!kept.lost.contains(.alwaysThisDeviceOnly))
        #expect(throws: KeybagError.self) {
            try DeviceKeybag.recovering(stored, with: .random(), deviceKey: newDevice, passcode: newKey, parameters)
        }
    }

    // MARK: Attempts

    @Test("Four wrong passcodes cause no delay; then the delays of the table apply, on the clock of the boot")
    func delays() throws {
        let clock = ManualClock()
        let attempts = PasscodeAttempts(inMemory: clock.clock)
        let keybag = try protected().keybag
        func error(of text: String) -> KeybagError? {
            #expect(throws: KeybagError.self) { try attempts.verify(try passcode(text), of: keybag) }
        }
        func enter(_ numbers: ClosedRange<Int>) throws {
            try enterWrongPasscodes(numbers, counted: { try attempts.count(for: keybag) }) { text in
                guard case .wrongPasscode = error(of: text) else { return #expect(Bool(false), "\(text)") }
            }
        }
        try enter(1...5)
        for (number, delay) in zip(6..., [60, 300, 900, 900, 3600, 3600]) {
            guard case .passcodeDelay(delay) = error(of: "early") else { return #expect(Bool(false), "\(delay)") }
            clock.advance(Double(delay) - 1)
            guard case .passcodeDelay(1) = error(of: "early") else { return #expect(Bool(false), "\(delay)") }
            clock.advance(1)
            try enter(number...number)
        }
        // After a boot, the delay starts again in full.
        clock.reboot()
        guard case .passcodeDelay(3600) = error(of: "early") else { return #expect(Bool(false)) }
        // During the delay, not even the right passcode is verified; after it, the right one clears
        // the count.
        #expect(throws: KeybagError.self) { try attempts.verify(try passcode("secret"), of: keybag) }
        clock.advance(3600)
        _ = try attempts.verify(try passcode("secret"), of: keybag)
        #expect(try attempts.count(for: keybag) == 0)
    }

    @Test("A repeated wrong passcode is counted once")
    func sameAgain() throws {
        let attempts = PasscodeAttempts(inMemory: .system)
        let keybag = try protected().keybag
        for _ in 0..<20 {
            #expect(throws: KeybagError.self) { try attempts.verify(try passcode("always wrong"), of: keybag) }
        }
        #expect(try attempts.count(for: keybag) == 1)
        #expect(throws: KeybagError.self) { try attempts.verify(try passcode("another"), of: keybag) }
        #expect(try attempts.count(for: keybag) == 2)
    }

    @Test("An attempt is counted durably before the passcode is verified")
    func countedFirst() throws {
        let spy = SpyStorage()
        let keybag = try protected().keybag
        let attempts = PasscodeAttempts(spy, clock: .system)
        spy.failsAfterSave.withLock { $0 = true }
        // The process ends between the count and the verification: even the right passcode has been
        // counted.
        #expect(throws: KeybagError.self) { try attempts.verify(try passcode("secret"), of: keybag) }
        spy.failsAfterSave.withLock { $0 = false }
        #expect(try attempts.count(for: keybag) == 1)
    }

    @Test(
        "If attempts cannot be saved, no passcode is verified, right or wrong",
        arguments: ["secret", "wrong one"])
    func readOnlyCount(_ typed: String) throws {
        let spy = SpyStorage()
        let keybag = try protected().keybag
        let attempts = PasscodeAttempts(spy, clock: .system)
        #expect(throws: KeybagError.self) { try attempts.verify(try passcode("wrong one"), of: keybag) }
        spy.isReadOnly.withLock { $0 = true }
        // The same wrong passcode would not be counted again, but is not verified either.
        #expect { try attempts.verify(try passcode(typed), of: keybag) } throws: { error in
            if case KeybagError.attemptsReadOnly = error { true } else { false }
        }
        #expect(try attempts.count(for: keybag) == 1)
        spy.isReadOnly.withLock { $0 = false }
        _ = try attempts.verify(try passcode("secret"), of: keybag)
    }

    @Test("A changed attempt record is rejected, and not treated as missing")
    func changedCount() throws {
        let directory = try TemporaryDirectory()
        let attempts = PasscodeAttempts(in: try PrivateDirectory(existing: directory.path), clock: .system)
        let keybag = try protected().keybag
        #expect(throws: KeybagError.self) { try attempts.verify(try passcode("wrong"), of: keybag) }
        let storage = FileAttemptStorage(try PrivateDirectory(existing: directory.path))
        let record = try #require(try storage.load())
        #expect(record.count == 96)
        for index in record.indices {
            var changed = record
            changed[index] ^= 1
            try storage.save(changed)
            do {
                _ = try attempts.count(for: keybag)
                Issue.record("byte \(index) was accepted")
            } catch KeybagError.attemptsDamaged {
            }
        }
        try storage.save(record)
        #expect(try attempts.count(for: keybag) == 1)
    }

    @Test("Damage found after the passcode is not an attempt; a clock that went back does not trap")
    func notCounted() throws {
        let clock = ManualClock()
        let attempts = PasscodeAttempts(inMemory: clock.clock)
        let (keybag, _) = try protected()
        var stored = keybag.stored
        stored.userTag[0] ^= 1
        let damaged = try DeviceKeybag(opening: stored, deviceKey: deviceKey)
        do {
            _ = try attempts.verify(try passcode("secret"), of: damaged)
            Issue.record("it was verified")
        } catch KeybagError.damaged {
        }
        #expect(try attempts.count(for: keybag) == 0)
        try enterWrongPasscodes(1...5, counted: { try attempts.count(for: keybag) }) { wrong in
            #expect(throws: KeybagError.self) { try attempts.verify(try passcode(wrong), of: keybag) }
        }
        clock.turnBack()
        #expect(try attempts.delay(for: keybag) == 60)
        clock.advance(100_000)
        _ = try attempts.verify(try passcode("secret"), of: keybag)
    }

    @Test("With a clock that cannot be read no passcode is tried, and no delay seems to have passed")
    func unreadableClock() throws {
        let (clock, storage) = (ManualClock(), SpyStorage())
        let attempts = PasscodeAttempts(storage, clock: clock.clock)
        let (keybag, _) = try protected()
        for number in 1...5 {
            #expect(throws: KeybagError.self) { try attempts.verify(try passcode("wrong \(number)"), of: keybag) }
        }
        clock.becomeUnreadable()
        let before = storage.record.withLock { $0 }
        for typed in ["secret", "wrong"] {
            do {
                _ = try attempts.verify(try passcode(typed), of: keybag)
                Issue.record("it was tried")
            } catch KeybagError.system {
            }
        }
        #expect(throws: KeybagError.self) { try attempts.delay(for: keybag) }
        #expect(storage.record.withLock { $0 } == before)
    }

    @Test("The generation of a removed key is not used again")
    func generations() throws {
        let (set, key) = try protected()
        let first = try DeviceKeybag(opening: try set.finishingReseal(key), deviceKey: deviceKey)
        let removed = try DeviceKeybag(
            opening: try first.removingPasscode(key), deviceKey: deviceKey)
        let (again, _) = try protected(removed)
        let newest = try #require(again.currentGenerations[.whenPasscodeSetThisDeviceOnly])
        #expect(newest > (first.currentGenerations[.whenPasscodeSetThisDeviceOnly] ?? 0))
        // The old keys are not mistaken for the new ones.
        #expect(try first.unlock(with: key).retained(in: again.record) == nil)
    }

    @Test(
        "A damaged keybag is not recovered as if its device key were lost"
    )
    func damagedRecovery() throws {
        let (keybag, key) = try protected()
        let recovery = RecoveryKey.random()
        var stored = try keybag.addingRecoveryKey(recovery, key)
        stored.deviceTag[3] ^= 1
        let damaged = stored
        #expect(throws: KeybagError.self) {
            try DeviceKeybag.recovering(
                damaged, with: recovery, deviceKey: deviceKey, passcode: key,
                PasscodeParameters.fresh(PasscodeCost(exponent: 10)))
        }
    }

    @Test("The tenth wrong passcode destroys the protected keys if the settings require it")
    func wipe() throws {
        let clock = ManualClock()
        let attempts = PasscodeAttempts(inMemory: clock.clock)
        let (keybag, key) = try protected()
        let strict = try DeviceKeybag(
            opening: keybag.changingSettings(to: KeybagSettings(wipesAfterTen: true), key), deviceKey: deviceKey)
        try enterWrongPasscodes(1...9, counted: { try attempts.count(for: strict) }) { wrong in
            #expect(throws: KeybagError.self) { try attempts.verify(try passcode(wrong), of: strict) }
            clock.advance(3600)
        }
        do {
            _ = try attempts.verify(try passcode("wrong 10"), of: strict)
            Issue.record("it was verified")
        } catch KeybagError.wiped {
        }
        let wiped = try DeviceKeybag(opening: try strict.wiping(), deviceKey: deviceKey)
        #expect(!wiped.hasPasscode)
        let previous = Set(strict.record.keys.filter { $0.wrapping == .user }.map(\.slot))
        #expect(previous.isDisjoint(with: wiped.record.keys.map(\.slot)))
    }

    // MARK: Helpers

    private func passcode(_ text: String) throws -> Passcode {
        try Passcode(SharedSecret(copying: text.utf8))
    }

    private func protected(_ before: DeviceKeybag? = nil) throws -> (keybag: DeviceKeybag, key: PasscodeKey) {
        let before =
            try before ?? DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: deviceKey), deviceKey: deviceKey)
        let parameters = PasscodeParameters.fresh(cost)
        let key = try PasscodeKey.derive(try passcode("secret"), parameters)
        return (try DeviceKeybag(opening: try before.settingPasscode(key, parameters), deviceKey: deviceKey), key)
    }
}

/// A clock that changes only when it is told to.
private final class ManualClock: Sendable {
    private let state = Mutex((now: UInt64(1_000_000_000_000), boot: 1))

    var clock: BootClock {
        BootClock(now: { self.state.withLock { $0.now } }, identifier: { "boot \(self.state.withLock { $0.boot })" })
    }

    func advance(_ seconds: Double) { state.withLock { $0.now += UInt64(seconds * 1e9) } }
    func turnBack() { state.withLock { $0.now = 1 } }
    func becomeUnreadable() { state.withLock { $0.now = BootClock.unreadable } }
    func reboot() { state.withLock { $0 = (1_000_000_000, $0.boot + 1) } }
}

/// Attempt storage in memory. It can simulate a process that ends after a save.
private final class SpyStorage: AttemptStorage {
    let record = Mutex<[UInt8]?>(nil)
    let failsAfterSave = Mutex(false)
    let isReadOnly = Mutex(false)

    func requireWritable() throws(KeybagError) {
        if isReadOnly.withLock({ $0 }) { throw .attemptsReadOnly(path: "/state") }
    }
    func lock() throws(KeybagError) -> any AttemptLock { BinarySemaphore() }
    func load() throws(KeybagError) -> [UInt8]? { record.withLock { $0 } }
    func save(_ new: [UInt8]?) throws(KeybagError) {
        record.withLock { $0 = new }
        if failsAfterSave.withLock({ $0 }) { throw .noMemory("the process ended") }
    }
}
