// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
@testable import Keybag
import KeychainModel
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// The places of keys in memory while a keychain is unlocked and after it was locked. The test searches the whole
/// memory of this process, as an attacker with a core dump would, and also the arena of secrets. The arena is not part
/// of a dump.
@Suite("Keys in memory", .serialized)
struct MemoryTests {
    @Test("While unlocked, keys are only in the arena; after the lock, the locked keys are not in memory", .long)
    func search() throws {
        let deviceKey = DeviceKey.ephemeral()
        let memory = ProcessMemory()
        let lockable: LockableKeybag
        do {
            let plain = try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: deviceKey), deviceKey: deviceKey)
            let parameters = PasscodeParameters.fresh(PasscodeCost(exponent: 10))
            let passcode = try Passcode(SharedSecret(copying: "correct horse battery".utf8))
            let key = try PasscodeKey.derive(passcode, parameters)
            let set = try DeviceKeybag(opening: try plain.settingPasscode(key, parameters), deviceKey: deviceKey)
            let keybag = try DeviceKeybag(opening: set.finishingReseal(key), deviceKey: deviceKey)
            let unlocked = try keybag.unlock(with: key)
            lockable = LockableKeybag(keybag, clock: .system)
            lockable.keepBiometryKey()
            lockable.unlock(unlocked)
            try lockable.openBiometry(with: key)
            for privateKey in try keybag.openedPairs(with: key) {
                memory.remember("presence \(privateKey.identity.kind)", privateKey.secret)
            }
            try useConstraint(of: lockable, key, memory)
            memory.remember("D", deviceKey.secret)
            memory.remember("P", key.secret)
            memory.remember(
                "KEK_device", KeybagCryptography.derive(from: deviceKey.secret, label: "latchkey v1 device KEK"))
            let parts = SecretBytes(count: 96) { buffer in
                deviceKey.secret.withUnsafeBytes { buffer[0..<32].copyBytes(from: $0) }
                key.secret.withUnsafeBytes { buffer[64..<96].copyBytes(from: $0) }
            }
            memory.remember("KEK_user", KeybagCryptography.derive(from: parts, label: "latchkey v1 user KEK"))
            for (slot, classKey) in unlocked.keys {
                guard let protection = ProtectionClass(number: slot.protection) else { continue }
                memory.remember("\(protection.accessibility) \(protection.rawValue) \(slot.kind)", classKey.copy())
            }
        }
        try work(with: lockable)
        // Control: a marker in ordinary memory must be found there.
        let control = Array("a marker that lies in ordinary memory, thirty-two bytes and more".utf8)
        memory.remember("control", control)

        let unlocked = memory.search()
        #expect(unlocked.ordinary.contains("control"), "the search finds nothing: the proof is void")
        #expect(unlocked.ordinary == ["control"], "keys lie in ordinary memory: \(unlocked.ordinary.sorted())")
        let closing = Set(memory.names.filter { $0.hasPrefix("whenUnlocked") })
        #expect(closing.count == 6)
        #expect(unlocked.arena.contains("presence biometry"), "the key of biometry is not kept: the proof is void")
        #expect(unlocked.arena.isDisjoint(with: ["presence passcode", "constraint key", "evaluated"]))
        #expect(closing.isSubset(of: unlocked.arena), "the search does not read the arena: the proof is void")
        #expect(
            !unlocked.arena.contains("P") && !unlocked.arena.contains("KEK_user")
                && !unlocked.arena.contains("KEK_device"))

        lockable.lock(immediately: true)
        #expect(!lockable.keyring.isOpen(.whenUnlocked))
        let locked = memory.search()
        #expect(locked.ordinary == ["control"])
        #expect(locked.arena.isDisjoint(with: memory.names.filter { $0.hasPrefix("presence") }))
        #expect(
            locked.arena.isDisjoint(with: closing),
            "keys left after the lock: \(locked.arena.intersection(closing).sorted())")
        #expect(locked.arena.contains { $0.hasPrefix("afterFirstUnlock") })
        withExtendedLifetime((control, lockable)) {}
    }

    /// Seals and opens a constraint, as adding and reading an item with an access control do.
    private func useConstraint(of lockable: LockableKeybag, _ passcode: PasscodeKey, _ memory: ProcessMemory) throws {
        let constraints = try #require(try AccessConstraints.parse([.devicePasscode, .biometryAny, .and]))
        let set = try #require(EnrolledSet(digest: Array(repeating: 5, count: 32)))
        let item = Array(repeating: UInt8(3), count: 16)
        let sealed = try lockable.keyring.presence.seal(constraints, item: item, revision: 1, ConstraintBinding())
        memory.remember("constraint key", sealed.key.secret)
        let keys = lockable.constraintKeys()
        try lockable.satisfy(keys, with: passcode)
        try lockable.satisfy(keys, with: BiometricMatch(recognizedAgainst: set))
        memory.remember("evaluated", try keys.key(of: EncodedConstraint(sealed.record), item: item).secret)
    }

    /// Wraps and unwraps the item key of a row, as every operation does.
    private func work(with lockable: LockableKeybag) throws {
        let keyring = lockable.keyring
        let wrapped = try keyring.wrap(
            SymmetricKey(size: .bits256), of: .secret, protection: .whenUnlocked, generation: 2)
        _ = try keyring.unwrap(wrapped[...], of: .secret, protection: .whenUnlocked, generation: 2)
    }
}
