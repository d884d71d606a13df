// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
@_spi(Testing) import LinuxSystem
import SecretMemory
import Testing

/// What a lock does where the system has no thread left for it.
@Suite("Lockable keybag")
struct LockableKeybagTests {
    @Test("A watch for idleness whose thread could not start is not counted as running, and starts with the next use")
    func watch() throws {
        let (lockable, user) = try lockable(KeybagSettings(lockInterval: 3600))
        BackgroundThread.$isExhausted.withValue(true) { lockable.unlock(user) }
        #expect(!lockable.isWatched)
        lockable.recordUse()
        #expect(lockable.isWatched)
    }

    @Test("Where no thread can wait for the end of the grace, a lock closes at once")
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
