// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem
public import SecretMemory

/// The operations on a keychain that does not open.
public enum ClosedKeychain {
    /// Reports why the keychain under `home` cannot be opened, and the steps that lead back to its items. It changes
    /// nothing.
    ///
    /// - Parameters:
    ///   - problem: the error of the attempt to open it.
    ///   - mode: who opens it. A daemon may have it open for writing.
    public static func diagnose(
        _ problem: KeychainError, home: KeychainHome, hardware: SecureHardware,
        mode: KeychainStatus.Mode = .embedded
    ) -> [KeychainFinding] {
        RootDiagnosis(home, hardware, inspects: mode == .embedded).ofClosedKeychain(problem, mode)
    }

    /// Opens the keychain under `home` with its recovery key, even if its device key is lost, and
    /// sets a new passcode.
    ///
    /// - Parameters:
    ///   - newPasscode: nil only counts the items that would be lost.
    ///   - ownership: the daemon's lock on the home, if the caller is a daemon.
    ///   - hardware: the hardware that may hold the device key. A device key in a TPM that is gone, was cleared or
    ///     cannot be used is replaced by a new one in a file.
    /// - Returns: how many items are lost because their keys could not leave the device.
    public static func recover(
        home: KeychainHome, key: SharedSecret, newPasscode: SharedSecret?, clocks: Clocks = .system,
        ownership: HomeOwnership? = nil, hardware: SecureHardware = SecureHardware()
    ) throws(KeychainError) -> Int {
        // A daemon that runs at the same time would continue with the replaced keys.
        if ownership == nil { try HomeOwnership.refuse(home) }
        let hold: HomeOwnership
        if let ownership { hold = ownership } else { hold = try HomeOwnership.acquireWithoutDaemon(home) }
        defer { withExtendedLifetime(hold) {} }
        let new = try Passcode.of(newPasscode)
        do throws(StoreError) {
            let recovery = try withErrors(as: StoreError.keybag) { () throws(KeybagError) in
                try new?.requireNew()
                return try RecoveryKey(text: key)
            }
            let data = try withErrors(as: StoreError.system) { () throws(SystemError) in
                try PrivateDirectory(existing: home.dataDirectory)
            }
            let state = try withErrors(as: StoreError.system) { () throws(SystemError) in
                try PrivateDirectory(creating: home.stateDirectory)
            }
            let storage = DeviceKeyStorage(state, hardware: hardware.root, credentials: hardware.credentialSealer)
            let attempts = PasscodeAttempts(in: state, clock: clocks.boot)
            return try KeychainStore.recover(
                path: data.appending(KeychainHome.databaseName), with: recovery, newPasscode: new,
                cost: clocks.passcodeCost,
                attempts: attempts
            ) { (dryRun, root) throws(KeybagError) in
                do throws(KeybagError) {
                    return try storage.load(root)
                } catch {
                    switch error {
                    case .deviceKeyMissing: break
                    // Only a device key that no attempt will ever open is replaced: other hardware, or none.
                    case .hardware(let cause)
                    where cause.status == .decode || root == .tpm && hardware.root == nil: break
                    default: throw error
                    }
                    // A dry run creates no device key file; an ephemeral key is sufficient for
                    // counting.
                    return dryRun ? .ephemeral() : try storage.create()
                }
            }
        } catch {
            throw KeychainError(error)
        }
    }

    /// Seals the device key of a keychain that does not open to the present values of the PCRs.
    ///
    /// - Parameters:
    ///   - code: the code of its move to the TPM.
    ///   - ownership: the daemon's lock on the home, if the caller is a daemon.
    /// - Throws: errSecAuthFailed for another code, errSecParam if it is not sealed to PCRs.
    public static func reseal(
        home: KeychainHome, code: SharedSecret, ownership: HomeOwnership? = nil, hardware: SecureHardware
    ) throws(KeychainError) {
        if ownership == nil { try HomeOwnership.refuse(home) }
        let hold: HomeOwnership
        if let ownership { hold = ownership } else { hold = try HomeOwnership.acquireWithoutDaemon(home) }
        defer { withExtendedLifetime(hold) {} }
        do throws(KeybagError) {
            try storage(home, hardware).reseal(with: try RecoveryKey(text: code))
        } catch .unusableRecoveryKey(let reason) {
            throw .parameter("not a code: \(reason)")
        } catch {
            throw KeychainError(error)
        }
    }

    // MARK: Its files

    static func storage(
        _ home: KeychainHome, _ hardware: SecureHardware, mayCreate: Bool = true
    ) throws(KeybagError) -> DeviceKeyStorage {
        guard mayCreate else {
            return DeviceKeyStorage(
                try state(of: home), hardware: hardware.root, credentials: hardware.credentialSealer)
        }
        do throws(SystemError) {
            let directory = try PrivateDirectory(creating: home.stateDirectory)
            return DeviceKeyStorage(directory, hardware: hardware.root, credentials: hardware.credentialSealer)
        } catch {
            throw .system(error)
        }
    }

    /// The state directory of an existing keychain.
    ///
    /// - Throws: ``KeybagError/deviceKeyMissing(path:)`` if there is none.
    static func state(of home: KeychainHome) throws(KeybagError) -> PrivateDirectory {
        do throws(SystemError) {
            if try FileStatus.of(home.stateDirectory) != nil {
                return try PrivateDirectory(existing: home.stateDirectory)
            }
        } catch {
            throw .system(error)
        }
        throw .deviceKeyMissing(path: home.deviceKeyPath)
    }
}
