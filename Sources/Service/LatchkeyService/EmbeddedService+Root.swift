// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem
public import SecretMemory

extension EmbeddedService {
    public func moveRoot(
        to root: KeychainStatus.Root, _ passcode: SharedSecret?, dryRun: Bool
    ) throws(KeychainError) -> Bool {
        guard let home, root != .memory else {
            throw .parameter("only the device key of a keychain on a disk can be moved, to file or tpm")
        }
        let directory: PrivateDirectory
        do throws(SystemError) {
            directory = try PrivateDirectory(creating: home.stateDirectory)
        } catch {
            throw KeychainError(error)
        }
        let target: DeviceKey.Root = root == .tpm ? .tpm : .file
        if target == .tpm { try requireRootHardware() }
        let passcode = try passcode.map { (passcode) throws(KeychainError) in try Self.passcode(passcode) }
        let storage = DeviceKeyStorage(directory, hardware: hardware.root)
        return try run { () throws(StoreError) in
            guard !dryRun else { return store.root != target }
            return try store.moveRoot(to: target, in: storage, passcode: passcode)
        }
    }

    /// Throws if nothing can seal a key, before anything is changed.
    private func requireRootHardware() throws(KeychainError) {
        guard let sealer = hardware.root else {
            throw KeychainError(
                .notAvailable, "there is no TPM to hold the device key", hint: "latchkey status; LATCHKEY_TPM names one"
            )
        }
        let sample = SharedSecret(.random(count: DeviceKey.length))
        guard try sealer.unseal(sealer.seal(sample)) == sample else {
            throw KeychainError(.internalFailure, "the TPM does not return what it has sealed")
        }
    }
}
