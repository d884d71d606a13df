// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel

/// The lock state of the keychain.
extension KeychainStore {
    /// Whether a passcode protects the keychain.
    public var hasPasscode: Bool { keybag.device.hasPasscode }
    /// Whether hardware counts wrong passcodes.
    public var limitsPasscodes: Bool { keybag.device.limitsPasscodes }
    public var hasRecoveryKey: Bool { keybag.device.hasRecoveryKey }
    public var settings: KeybagSettings { keybag.settings }
    public var lockState: LockState { keybag.lockState }

    /// The remaining seconds of the grace period; nil if none is running.
    public var graceLeft: Double? { keybag.graceLeft }

    /// Whether the class is unlocked, so that its items can be read and written.
    public func isOpen(_ protection: ProtectionClass) -> Bool { keybag.keyring.isOpen(protection) }

    /// The UUID of the keychain: 16 bytes.
    public var keychainIdentifier: [UInt8] { keybag.device.keychain }

    /// The number of the newest key of a class. The class may be closed.
    ///
    /// - Throws: if the class needs a passcode, and none is set.
    public func newestGeneration(of protection: ProtectionClass) throws(StoreError) -> UInt32 {
        guard let generation = keybag.device.currentGenerations[protection] else {
            throw .keybag(.passcodeRequired(protection))
        }
        return generation
    }

    /// Calls `body` with every new lock state.
    public func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int { keybag.addObserver(body) }
    public func removeLockObserver(_ number: Int) { keybag.removeObserver(number) }

    /// Returns the keybag as it is stored now, including changes by other processes.
    @discardableResult
    public func refresh() throws(StoreError) -> DeviceKeybag {
        try read { (_, _) throws(StoreError) in () }
        return keybag.device
    }

    /// Returns the number of wrong passcodes since the last correct one, the seconds until the next
    /// passcode is checked, and the seconds since the last wrong one; `elapsed` is nil if that was
    /// before the machine started.
    public func passcodeAttempts() throws(StoreError) -> (count: Int, delay: Int, elapsed: Double?) {
        let device = try refresh()
        // Without a passcode nothing is checked, and the count of an earlier passcode is
        // irrelevant.
        guard device.hasPasscode else { return (0, 0, nil) }
        do {
            return (try attempts.count(for: device), try attempts.delay(for: device), try attempts.elapsed(for: device))
        } catch .attemptsDamaged {
            // The next check of a passcode reports the damage. Reading the state does not fail.
            return (0, 0, nil)
        } catch {
            throw .keybag(error)
        }
    }

    /// Where the device key is.
    public var root: DeviceKey.Root { keybag.device.deviceKey.root }

    // MARK: Lock and unlock

    /// Locks the keychain; see ``LockableKeybag/lock(immediately:)``. Removes deleted data from the
    /// files.
    public func lock(immediately: Bool) {
        keybag.lock(immediately: immediately)
        try? checkpoint()  // If this fails, the log is emptied later. The keychain stays locked.
    }

    /// Unlocks the keychain. If the database is writable and has space, also completes an
    /// interrupted change of the passcode or of the security keys.
    ///
    /// - Parameters:
    ///   - floor: the minimum cost; the cost of a cheaper passcode is raised to it.
    ///   - isAutomatic: whether the passcode comes from a file or a credential.
    public func unlock(
        _ passcode: Passcode, floor: PasscodeCost = .floor, isAutomatic: Bool = false,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) {
        try exclusively { () throws(StoreError) in
            guard try refresh().hasPasscode else { return }
            let changes = KeybagChanges(store: self)
            let key = try changes.verify(passcode, isAutomatic: isAutomatic)
            let device = keybag.device
            keybag.unlock(try mapKeybagErrors { () throws(KeybagError) in try device.unlock(with: key) })
            try mapKeybagErrors { () throws(KeybagError) in try keybag.openBiometry(with: key) }
            guard !isReadOnly else { return }
            do throws(StoreError) {
                let key = try changes.raiseCost(passcode, key, to: floor) ?? key
                try changes.addPresence(key)
                try changes.reseal(key, progress)
                try changes.storeAppliedSettings(key)
                try indexOpenRows()
            } catch {
                // Without space the keychain can be read. The next unlock tries again.
                guard error.isFull else { throw error }
            }
        }
    }
}
