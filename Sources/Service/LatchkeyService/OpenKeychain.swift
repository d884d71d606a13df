// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// A keychain that is open in this process: its store, the values that it was opened with, and its automatic unlock
/// when a locked item is needed. The parts of ``EmbeddedService`` share it.
final class OpenKeychain: Sendable {
    let store: KeychainStore
    /// nil for a keychain in memory.
    let home: KeychainHome?
    /// Whether it was opened for a report, and changes no file.
    let isInspected: Bool
    /// Returns seconds since 2001.
    let now: @Sendable () -> Double
    let passcodeCost: PasscodeCost
    /// The owner of the keychain. This user is asked.
    let user: UInt32
    let presence: PresenceSources
    let hardware: SecureHardware
    /// Whether new items may have a class that is open without the passcode.
    let allowsAlwaysOpen: Bool
    /// The account of the user's storage on the disk; nil for no limit.
    let account: StorageAccount?
    /// The policies of groups that were read last.
    let knownPolicies = SystemMutex<GroupPolicies.Known?>(nil)
    private let automaticUnlock: AutomaticUnlock

    /// Opens the keychain under `home`, and creates it if it does not exist; the parameters are those of
    /// ``EmbeddedService``.
    init(
        home: KeychainHome, clocks: Clocks, account: StorageAccount?, user: UInt32, presence: PresenceSources,
        hardware: SecureHardware, allowsAlwaysOpen: Bool, inspects: Bool,
        automaticPasscode: @escaping AutomaticUnlock.Source
    ) throws(KeychainError) {
        let (path, state) = inspects ? try Self.existingFiles(home) : try Self.files(home)
        let storage = DeviceKeyStorage(state, hardware: hardware.root, credentials: hardware.credentialSealer)
        do throws(StoreError) {
            let attempts = PasscodeAttempts(in: state, clock: clocks.boot)
            func deviceKey(_ place: DeviceKeyPlace) throws(KeybagError) -> DeviceKey {
                switch place {
                case .new: try storage.create()
                case .existing(let root): try storage.load(root)
                }
            }
            store =
                inspects
                ? try KeychainStore(inspecting: path, attempts: attempts, clock: clocks.boot, deviceKey: deviceKey)
                : try KeychainStore(
                    path: path, attempts: attempts, clock: clocks.boot, account: account, deviceKey: deviceKey)
            try store.roots.finishMove(in: storage)
        } catch {
            throw KeychainError(error)
        }
        (self.home, isInspected, now, passcodeCost) = (home, inspects, clocks.wall, clocks.passcodeCost)
        (self.user, self.presence, self.hardware) = (user, presence, hardware)
        (self.allowsAlwaysOpen, self.account) = (allowsAlwaysOpen, account)
        automaticUnlock = AutomaticUnlock(automaticPasscode)
    }

    /// Creates a keychain in memory. It lives as long as the object.
    init(inMemory clocks: Clocks, user: UInt32, presence: PresenceSources, hardware: SecureHardware)
        throws(KeychainError)
    {
        do throws(StoreError) {
            store = try KeychainStore(inMemoryWith: .ephemeral(), clock: clocks.boot)
        } catch {
            throw KeychainError(error)
        }
        (home, isInspected, now, passcodeCost) = (nil, false, clocks.wall, clocks.passcodeCost)
        (self.user, self.presence, self.hardware) = (user, presence, hardware)
        (allowsAlwaysOpen, account) = (true, nil)
        automaticUnlock = AutomaticUnlock { () throws(KeychainError) in nil }
    }

    /// Creates the directories that do not exist.
    private static func files(_ home: KeychainHome) throws(KeychainError) -> (path: String, state: PrivateDirectory) {
        do throws(SystemError) {
            try home.requireSafeIfNew()
            let data = try PrivateDirectory(creating: home.dataDirectory)
            return (data.appending(KeychainHome.databaseName), try PrivateDirectory(creating: home.stateDirectory))
        } catch {
            throw KeychainError(error)
        }
    }

    private static func existingFiles(
        _ home: KeychainHome
    ) throws(KeychainError) -> (path: String, state: PrivateDirectory) {
        let path: String
        do throws(SystemError) {
            path = try PrivateDirectory(existing: home.dataDirectory).appending(KeychainHome.databaseName)
            guard try FileStatus.ofLink(path) != nil else {
                throw SystemError("open", path: path, code: ENOENT, hint: "restore it from a backup")
            }
        } catch {
            throw KeychainError(error)
        }
        do throws(KeybagError) {
            return (path, try ClosedKeychain.state(of: home))
        } catch {
            throw KeychainError(error)
        }
    }

    /// The directory of the stored files; nil if there is none yet.
    func existingFiles() throws(KeychainError) -> StoredFileDirectory? {
        guard let home = home else { return nil }
        do throws(SystemError) { return try StoredFileDirectory(existingIn: home) } catch { throw KeychainError(error) }
    }

    // MARK: Unlocking automatically

    /// Runs `body`; if it fails because the keychain was never unlocked, unlocks it with the
    /// automatic passcode and runs `body` once more.
    func run<Result>(_ body: () throws(StoreError) -> Result) throws(KeychainError) -> Result {
        do {
            return try body()
        } catch .keybag(.closed(let protection)) where store.lockState == .beforeFirstUnlock {
            guard try unlockWithOwnPasscode() else { throw KeychainError(.closed(protection)) }
        } catch {
            throw KeychainError(error)
        }
        do {
            return try body()
        } catch {
            throw KeychainError(error)
        }
    }

    /// Whether the keychain was not unlocked before, and is now.
    func unlocksAutomatically() -> Bool {
        guard !isInspected, store.lockState == .beforeFirstUnlock, let attempts = try? store.passcodeAttempts(),
            LockStatus.allowsUntypedPasscode(after: attempts.count, delay: attempts.delay)
        else { return false }
        return automaticUnlock.reportingFailures { () throws(KeychainError) in try unlockWithOwnPasscode() }
    }

    private func unlockWithOwnPasscode() throws(KeychainError) -> Bool {
        try automaticUnlock.perform(isNeeded: { store.lockState == .beforeFirstUnlock }) {
            (rawPasscode) throws(KeychainError) in
            let passcode = try Passcode.of(rawPasscode)
            do throws(StoreError) {
                try store.unlock(passcode, floor: passcodeCost, isAutomatic: true)
                return true
            } catch {
                if case .keybag(.wrongPasscode) = error { return false }
                throw KeychainError(error)
            }
        }
    }
}
