// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem
public import SecretMemory

extension EmbeddedService {
    public func moveRoot(
        to target: RootTarget, _ passcode: SharedSecret?, dryRun: Bool
    ) throws(KeychainError) -> Bool {
        guard let home, let root = DeviceKey.Root(target.root) else {
            throw .parameter("only the device key of a keychain on a disk can be moved, to file, tpm or credential")
        }
        let binding = try Self.binding(target, root)
        try checkRoot(root, binding)
        let passcode = try passcode.map { (passcode) throws(KeychainError) in try Self.passcode(passcode) }
        let hardware = hardware
        return try run { () throws(StoreError) in
            let storage: DeviceKeyStorage
            do throws(KeybagError) {
                storage = try Self.storage(home, hardware)
            } catch {
                throw .keybag(error)
            }
            // With PCRs, the key in the TPM is sealed again each time, with the new code.
            let isBound = !target.registers.isEmpty || !rootRegisters.isEmpty
            guard !dryRun else { return store.root != root || root == .tpm && isBound }
            return try store.moveRoot(to: root, binding, in: storage, passcode: passcode)
        }
    }

    /// Seals the device key of a keychain that does not open to the present values of the PCRs.
    ///
    /// - Parameters:
    ///   - code: the code of its move to the TPM.
    ///   - ownership: the daemon's lock on the home, if the caller is a daemon.
    /// - Throws: errSecAuthFailed for another code, errSecParam if it is not sealed to PCRs.
    public static func resealRoot(
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

    /// The PCRs to which the device key is sealed.
    var rootRegisters: Set<UInt8> {
        guard store.root == .tpm, let home else { return [] }
        return (try? Self.storage(home, hardware).registers()) ?? []
    }

    static func storage(
        _ home: KeychainHome, _ hardware: SecureHardware, mayCreate: Bool = true
    ) throws(KeybagError) -> DeviceKeyStorage {
        guard mayCreate else {
            return DeviceKeyStorage(
                try existingState(home), hardware: hardware.root, credentials: hardware.credentialSealer)
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
    static func existingState(_ home: KeychainHome) throws(KeybagError) -> PrivateDirectory {
        do throws(SystemError) {
            if try FileStatus.of(home.stateDirectory) != nil {
                return try PrivateDirectory(existing: home.stateDirectory)
            }
        } catch {
            throw .system(error)
        }
        throw .deviceKeyMissing(path: home.deviceKeyPath)
    }

    private static func binding(
        _ target: RootTarget, _ root: DeviceKey.Root
    ) throws(KeychainError) -> RegisterBinding? {
        guard !target.registers.isEmpty else { return nil }
        guard root == .tpm else { throw .parameter("only a TPM seals the device key to PCRs") }
        guard let code = target.code else {
            throw .parameter("a device key that is sealed to PCRs needs a code for when they change")
        }
        do throws(KeybagError) {
            return RegisterBinding(target.registers, code: try RecoveryKey(text: code))
        } catch {
            throw .parameter("not a code: \(error)")
        }
    }

    /// Throws if the root cannot hold a key, before anything is changed.
    private func checkRoot(_ root: DeviceKey.Root, _ binding: RegisterBinding?) throws(KeychainError) {
        let sample = SharedSecret(.random(count: DeviceKey.length))
        switch root {
        case .file, .memory: return
        case .tpm:
            guard let hardware = hardware.root else {
                throw KeychainError(
                    .notAvailable, "there is no TPM to hold the device key",
                    hint: "latchkey status; LATCHKEY_TPM names one")
            }
            let sealed = if let binding { try hardware.seal(sample, to: binding) } else { try hardware.seal(sample) }
            guard try hardware.unseal(sealed) == sample else { throw Self.wrongSample }
            guard let binding else { return }
            let opened = try hardware.unseal(sealed, authorization: binding.authorization)
            guard opened == sample else { throw Self.wrongSample }
        case .credential:
            let sealer = hardware.credentialSealer
            guard try sealer.unseal(sealer.seal(sample)) == sample else { throw Self.wrongSample }
        }
    }

    private static let wrongSample = KeychainError(.internalFailure, "the root does not return what it has sealed")
}

extension DeviceKey.Root {
    /// nil for a root that is not on a disk.
    fileprivate init?(_ root: KeychainStatus.Root) {
        switch root {
        case .file: self = .file
        case .tpm: self = .tpm
        case .credential: self = .credential
        case .memory: return nil
        }
    }
}
