// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
import KeychainTesting
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// What a passcode is, what it opens, and how often it may be guessed.
@Suite("Passcode")
struct PasscodeTests {
    private let deviceKey = DeviceKey.ephemeral()
    private let cost = PasscodeCost(exponent: 10)

    // MARK: The passcode itself

    @Test("The same characters are the same passcode, however they are composed (NFKC)")
    func normalisation() throws {
        #expect(try passcode("caf\u{E9}66").bytes == passcode("cafe\u{301}66").bytes)
        #expect(try passcode("ﬁnally").bytes == passcode("finally").bytes)
        #expect(try passcode("secret").bytes != passcode("Secret").bytes)
        #expect(try passcode("e\u{301}e\u{301}e\u{301}").length == 3)
    }

    @Test(
        "What everybody guesses first is known: one character repeated, sequences, and the commonest in either case",
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

    @Test("Empty, endless and undecodable passcodes are refused, and short ones when they are new")
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
        "A cost of more than twice what is written is refused before any memory is taken",
        arguments: [
            (40, 8, 1), (17, 4096, 1), (17, 8, 99), (0, 8, 1), (20, 16, 1), (19, 8, 1), (18, 16, 1), (18, 8, 2),
            (17, 16, 2), (17, 8, 3),
        ])
    func hugeCost(_ exponent: UInt8, _ blockSize: UInt32, _ parallelism: UInt32) throws {
        let parameters = PasscodeParameters(
            salt: .random(count: 32),
            cost: PasscodeCost(exponent: exponent, blockSize: blockSize, parallelism: parallelism))
        #expect(throws: KeybagError.self) { try PasscodeKey.derive(try passcode("secret"), parameters) }
        // Also where the record is authentic.
        let device = try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: deviceKey), deviceKey: deviceKey)
        #expect(throws: KeybagError.self) {
            try DeviceKeybag(opening: try device.settingPasscode(.none, parameters), deviceKey: deviceKey)
        }
    }

    @Test("Twice the cost that is written is still taken", arguments: [(18, 8, 1), (17, 16, 1), (17, 8, 2)])
    func doubleCost(_ exponent: UInt8, _ blockSize: UInt32, _ parallelism: UInt32) throws {
        #expect(throws: Never.self) {
            try PasscodeCost(exponent: exponent, blockSize: blockSize, parallelism: parallelism).validate()
        }
    }

    // MARK: What it opens

    @Test("A passcode opens the classes that need one, and a wrong one nothing")
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
        "Setting a passcode makes new keys for what it protects: the old ones open no new row, and go when the rows are resealed"
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
        // What D alone has of them after that: nothing.
        #expect(done.keys.keys.allSatisfy { ProtectionClass(number: $0.protection)?.needsPasscode != true })
    }

    @Test(
        "A change rewraps the same keys; rotation makes new ones; removal gives them to the device key and destroys those of akpu"
    )
    func changes() throws {
        let (first, key) = try protected()
        let keybag = try DeviceKeybag(opening: try first.finishingReseal(key), deviceKey: deviceKey)
        let unlocked = try keybag.unlock(with: key)
        let parameters = PasscodeParameters.fresh(cost)
        let newKey = try PasscodeKey.derive(try passcode("another secret"), parameters)
        let changed = try DeviceKeybag(
            opening: try keybag.changingPasscode(unlocked, to: newKey, parameters, rotates: false), deviceKey: deviceKey
        )
        #expect(throws: KeybagError.self) { try changed.unlock(with: key) }
        #expect(try changed.unlock(with: newKey).keys == unlocked.keys)
        let rotated = try DeviceKeybag(
            opening: try keybag.changingPasscode(unlocked, to: newKey, parameters, rotates: true), deviceKey: deviceKey)
        #expect(rotated.isResealing)
        #expect(try rotated.unlock(with: newKey).keys.count == unlocked.keys.count * 2)
        let removed = try DeviceKeybag(opening: try keybag.removingPasscode(unlocked), deviceKey: deviceKey)
        #expect(!removed.hasPasscode && removed.stored.userTag.isEmpty)
        #expect(removed.currentGenerations[.whenPasscodeSetThisDeviceOnly] == nil)
        #expect(Keyring(removed, nil).isOpen(.whenUnlocked))
    }

    @Test("Every flipped byte of a keybag with a passcode is damage, and none is a wrong passcode")
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

    @Test("A recovery key is read as it is written, forgives what people mistake, and notices a wrong character")
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

    @Test("A recovery key opens what may leave the device, with another device key too; the rest is lost")
    func recovery() throws {
        let (keybag, key) = try protected()
        let recovery = RecoveryKey.random()
        let stored = try keybag.addingRecoveryKey(recovery, try keybag.unlock(with: key), key)
        let before = try DeviceKeybag(opening: stored, deviceKey: deviceKey)
        let parameters = PasscodeParameters.fresh(cost)
        let newKey = try PasscodeKey.derive(try passcode("after the loss"), parameters)
        let newDevice = DeviceKey.ephemeral()
        let recovered = try DeviceKeybag.recovering(
            stored, with: recovery, deviceKey: newDevice, passcode: newKey, parameters)
        #expect(recovered.lost == Set(ProtectionClass.allCases.filter(\.isThisDeviceOnly)))
        let after = try DeviceKeybag(opening: recovered.stored, deviceKey: newDevice)
        let old = try before.unlock(with: key).keys.merging(before.keys) { $1 }
        let new = try after.unlock(with: newKey).keys.merging(after.keys) { $1 }
        for (slot, secret) in old where ProtectionClass(number: slot.protection)?.isThisDeviceOnly != true {
            #expect(new[slot] == secret)
        }
        // With the device key, what it opens stays.
        let kept = try DeviceKeybag.recovering(
            stored, with: recovery, deviceKey: deviceKey, passcode: newKey, parameters)
        #expect(!kept.lost.contains(.alwaysThisDeviceOnly))
        #expect(throws: KeybagError.self) {
            try DeviceKeybag.recovering(stored, with: .random(), deviceKey: newDevice, passcode: newKey, parameters)
        }
    }

    // MARK: Attempts

    @Test("Four wrong passcodes cost nothing; then the delays of the table, on the clock of the boot")
    func delays() throws {
        let clock = ManualClock()
        let attempts = PasscodeAttempts(inMemory: clock.clock)
        let keybag = try protected().keybag
        var number = 0
        func wrong() -> KeybagError? {
            number += 1
            do {
                _ = try attempts.verify(try Passcode(SharedSecret(copying: "wrong \(number)".utf8)), of: keybag)
            } catch { return error }
            return nil
        }
        for _ in 1...5 { guard case .wrongPasscode = wrong() else { return #expect(Bool(false)) } }
        for delay in [60, 300, 900, 900, 3600, 3600] {
            guard case .passcodeDelay(let seconds) = wrong() else {
                return #expect(Bool(false), "no delay of \(delay)")
            }
            #expect(seconds == delay)
            clock.advance(Double(delay) - 1)
            guard case .passcodeDelay(1) = wrong() else { return #expect(Bool(false)) }
            clock.advance(1)
            guard case .wrongPasscode = wrong() else { return #expect(Bool(false)) }
        }
        // The machine starts anew: the delay begins again, in full.
        clock.reboot()
        guard case .passcodeDelay(3600) = wrong() else { return #expect(Bool(false)) }
        // Not even the right one is judged meanwhile; after that it clears the count.
        #expect(throws: KeybagError.self) { try attempts.verify(try passcode("secret"), of: keybag) }
        clock.advance(3600)
        _ = try attempts.verify(try passcode("secret"), of: keybag)
        #expect(try attempts.count(for: keybag) == 0)
    }

    @Test("The same wrong passcode again is not another attempt")
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

    @Test("An attempt is counted durably before it is judged")
    func countedFirst() throws {
        let spy = SpyStorage()
        let keybag = try protected().keybag
        let attempts = PasscodeAttempts(spy, clock: .system)
        spy.failsAfterSave.withLock { $0 = true }
        // The plug is pulled between the count and the judgement: even the right passcode has been counted.
        #expect(throws: KeybagError.self) { try attempts.verify(try passcode("secret"), of: keybag) }
        spy.failsAfterSave.withLock { $0 = false }
        #expect(try attempts.count(for: keybag) == 1)
    }

    @Test(
        "Where attempts cannot be saved, no passcode is judged, be it right or wrong",
        arguments: ["secret", "wrong one"])
    func readOnlyCount(_ typed: String) throws {
        let spy = SpyStorage()
        let keybag = try protected().keybag
        let attempts = PasscodeAttempts(spy, clock: .system)
        #expect(throws: KeybagError.self) { try attempts.verify(try passcode("wrong one"), of: keybag) }
        spy.isReadOnly.withLock { $0 = true }
        // Neither is the wrong one that is known already, which would not be counted again.
        #expect { try attempts.verify(try passcode(typed), of: keybag) } throws: { error in
            if case KeybagError.attemptsReadOnly = error { true } else { false }
        }
        #expect(try attempts.count(for: keybag) == 1)
        spy.isReadOnly.withLock { $0 = false }
        _ = try attempts.verify(try passcode("secret"), of: keybag)
    }

    @Test("A count that was changed is refused, and not taken for none")
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
                Issue.record("byte \(index) was believed")
            } catch KeybagError.attemptsDamaged {
            }
        }
        try storage.save(record)
        #expect(try attempts.count(for: keybag) == 1)
    }

    @Test("Damage that only shows with the passcode is no attempt; a clock that went back stops nobody by a trap")
    func notCounted() throws {
        let clock = ManualClock()
        let attempts = PasscodeAttempts(inMemory: clock.clock)
        let (keybag, _) = try protected()
        var stored = keybag.stored
        stored.userTag[0] ^= 1
        let damaged = try DeviceKeybag(opening: stored, deviceKey: deviceKey)
        do {
            _ = try attempts.verify(try passcode("secret"), of: damaged)
            Issue.record("it was judged")
        } catch KeybagError.damaged {
        }
        #expect(try attempts.count(for: keybag) == 0)
        for number in 1...5 {
            #expect(throws: KeybagError.self) { try attempts.verify(try passcode("wrong \(number)"), of: keybag) }
        }
        clock.turnBack()
        #expect(try attempts.delay(for: keybag) == 60)
        clock.advance(100_000)
        _ = try attempts.verify(try passcode("secret"), of: keybag)
    }

    @Test("The numbers of keys that are gone never come again")
    func generations() throws {
        let (set, key) = try protected()
        let first = try DeviceKeybag(opening: try set.finishingReseal(key), deviceKey: deviceKey)
        let removed = try DeviceKeybag(
            opening: try first.removingPasscode(try first.unlock(with: key)), deviceKey: deviceKey)
        let (again, _) = try protected(removed)
        let newest = try #require(again.currentGenerations[.whenPasscodeSetThisDeviceOnly])
        #expect(newest > (first.currentGenerations[.whenPasscodeSetThisDeviceOnly] ?? 0))
        // Who holds the old keys is not taken for one who holds the new ones.
        #expect(try first.unlock(with: key).retained(in: again.record) == nil)
    }

    @Test(
        "A damaged keybag is not recovered as if its device key were another one, which would lose what the device key opens"
    )
    func damagedRecovery() throws {
        let (keybag, key) = try protected()
        let recovery = RecoveryKey.random()
        var stored = try keybag.addingRecoveryKey(recovery, try keybag.unlock(with: key), key)
        stored.deviceTag[3] ^= 1
        let damaged = stored
        #expect(throws: KeybagError.self) {
            try DeviceKeybag.recovering(
                damaged, with: recovery, deviceKey: deviceKey, passcode: key,
                PasscodeParameters.fresh(PasscodeCost(exponent: 10)))
        }
    }

    @Test("The tenth wrong passcode destroys, where the settings say so")
    func wipe() throws {
        let clock = ManualClock()
        let attempts = PasscodeAttempts(inMemory: clock.clock)
        let (keybag, key) = try protected()
        let strict = try DeviceKeybag(
            opening: keybag.changingSettings(to: KeybagSettings(wipesAfterTen: true), key), deviceKey: deviceKey)
        for number in 1...9 {
            #expect(throws: KeybagError.self) { try attempts.verify(try passcode("wrong \(number)"), of: strict) }
            clock.advance(3600)
        }
        do {
            _ = try attempts.verify(try passcode("wrong 10"), of: strict)
            Issue.record("it was judged")
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

/// A clock that stands still until it is moved.
private final class ManualClock: Sendable {
    private let state = Mutex((now: UInt64(1_000_000_000_000), boot: 1))

    var clock: BootClock {
        BootClock(now: { self.state.withLock { $0.now } }, identifier: { "boot \(self.state.withLock { $0.boot })" })
    }

    func advance(_ seconds: Double) { state.withLock { $0.now += UInt64(seconds * 1e9) } }
    func turnBack() { state.withLock { $0.now = 1 } }
    func reboot() { state.withLock { $0 = (1_000_000_000, $0.boot + 1) } }
}

/// Attempts in memory, whose process ends as soon as something was saved.
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
        if failsAfterSave.withLock({ $0 }) { throw .noMemory("the plug was pulled") }
    }
}
