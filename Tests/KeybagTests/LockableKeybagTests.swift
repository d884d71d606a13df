// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
@_spi(Testing) import LinuxSystem
import SecretMemory
import Testing

/// Idle timer and grace period if the system cannot start a thread.
@Suite("Lockable keybag")
struct LockableKeybagTests {
    @Test("An idle timer whose thread could not start is not counted as running, and starts with the next use")
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
        BackgroundThread.$isExhausted.withValue(true) { lockable.lock(immediately: false) }
        #expect(lockable.graceLeft == nil)
        #expect(lockable.lockState == .locked)
        #expect(!lockable.keyring.isOpen(.whenUnlocked))
        #expect(lockable.keyring.isOpen(.afterFirstUnlock))
    }

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
