// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
import KeychainTesting
@_spi(Testing) import LinuxSystem
import SecretMemory
import Testing

/// Idle timer and grace period if the system cannot start a thread.
@Suite("Lockable keybag")
struct LockableKeybagTests {
    @Test("An idle timer without a thread is not counted as running, and starts with the next use")
    func watch() throws {
        let (lockable, user) = try lockable(KeybagSettings(lockInterval: 3600))
        BackgroundThread.$isExhausted.withValue(true) { lockable.unlock(user) }
        #expect(!lockable.isWatched)
        lockable.recordUse()
        #expect(lockable.isWatched)
    }

    @Test("If no thread can wait for the end of the grace period, a lock takes effect immediately")
    func grace() throws {
        let (lockable, user) = try lockable(KeybagSettings(graceSeconds: 600))
        lockable.unlock(user)
        lockable.lock(immediately: false)
        #expect(lockable.keyring.isOpen(.whenUnlocked))
        lockable.unlock(user)
        // The thread that waited for the end ends with the wait.
        #expect(eventually { !lockable.isWatched })
        BackgroundThread.$isExhausted.withValue(true) { lockable.lock(immediately: false) }
        #expect(lockable.graceLeft == nil)
        #expect(lockable.lockState == .locked)
        #expect(!lockable.keyring.isOpen(.whenUnlocked))
        #expect(lockable.keyring.isOpen(.afterFirstUnlock))
    }

    @Test(
        "The thread that waits for a lock learns of a shorter interval, of the lock, and of the end of the keybag",
        .long)
    func changedTimes() throws {
        var (lockable, user) = try lockable(KeybagSettings(graceSeconds: 3600, lockInterval: 86_400))
        lockable.unlock(user)
        #expect(lockable.isWatched)
        lockable.apply(KeybagSettings(graceSeconds: 1, lockInterval: 1))
        #expect(eventually { lockable.lockState == .locked })
        #expect(eventually { !lockable.isWatched })
        // The grace period ends without a request. A request would end it as well.
        lockable.unlock(user)
        lockable.apply(KeybagSettings(graceSeconds: 1))
        lockable.lock(immediately: false)
        #expect(eventually { lockable.graceLeft == nil && !lockable.isWatched })
        // A thread that still waits keeps no keybag.
        (lockable, user) = try self.lockable(KeybagSettings(lockInterval: 86_400))
        let released = Reference(keybag: lockable)
        lockable.unlock(user)
        #expect(lockable.isWatched)
        (lockable, user) = try self.lockable(KeybagSettings())
        #expect(eventually { released.keybag == nil })
    }

    private struct Reference { weak var keybag: LockableKeybag? }

    private func lockable(_ settings: KeybagSettings) throws -> (LockableKeybag, UnlockedKeybag) {
        let deviceKey = DeviceKey.ephemeral()
        let parameters = PasscodeParameters.fresh(PasscodeCost(exponent: 10))
        let key = try PasscodeKey.derive(try Passcode(SharedSecret(copying: "a passcode".utf8)), parameters)
        let new = try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: deviceKey), deviceKey: deviceKey)
        let set = try DeviceKeybag(opening: try new.settingPasscode(key, parameters), deviceKey: deviceKey)
        let keybag = try DeviceKeybag(opening: try set.changingSettings(to: settings, key), deviceKey: deviceKey)
        return (LockableKeybag(keybag, clock: .system), try keybag.unlock(with: key))
    }
}
