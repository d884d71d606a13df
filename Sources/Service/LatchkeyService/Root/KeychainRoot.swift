// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import KeychainStore
public import SecretMemory

/// The root of a keychain: the file, TPM or credential that holds its device key.
public struct KeychainRoot: Sendable {
    let keychain: OpenKeychain

    public func move(
        to target: RootTarget, _ passcode: SharedSecret?, dryRun: Bool
    ) throws(KeychainError) -> Bool {
        guard let home = keychain.home, let root = DeviceKey.Root(target.root) else {
            throw .parameter("only the device key of a keychain on a disk can be moved, to file, tpm or credential")
        }
        let binding = try Self.binding(target, root)
        try checkRoot(root, binding)
        let passcode = try Passcode.of(passcode)
        return try keychain.run { () throws(StoreError) in
            let storage: DeviceKeyStorage
            do throws(KeybagError) {
                storage = try ClosedKeychain.storage(home, keychain.hardware)
            } catch {
                throw .keybag(error)
            }
            // With PCRs, the key in the TPM is sealed again each time, with the new code.
            let isBound = !target.registers.isEmpty || !registers.isEmpty
            guard !dryRun else { return keychain.store.root != root || root == .tpm && isBound }
            return try keychain.store.roots.move(to: root, binding, in: storage, passcode: passcode)
        }
    }

    /// The PCRs that the device key is sealed to.
    var registers: Set<UInt8> {
        guard keychain.store.root == .tpm, let home = keychain.home else { return [] }
        return (try? ClosedKeychain.storage(home, keychain.hardware).registers()) ?? []
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
            guard let hardware = keychain.hardware.root else {
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
            let sealer = keychain.hardware.credentialSealer
            guard try sealer.unseal(sealer.seal(sample)) == sample else { throw Self.wrongSample }
        }
    }

    private static let wrongSample = KeychainError(
        .internalFailure, "the root does not return the key that it has sealed")
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
