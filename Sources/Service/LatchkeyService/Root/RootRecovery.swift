// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel

/// The steps that lead back to the items of a keychain that its device key does not open.
struct RootRecovery {
    private let home: KeychainHome
    private let stored: StoredKeybag
    private let mode: KeychainStatus.Mode
    private let hasBackup: Bool

    init(_ home: KeychainHome, _ stored: StoredKeybag, _ mode: KeychainStatus.Mode, hasBackup: Bool) {
        (self.home, self.stored, self.mode, self.hasBackup) = (home, stored, mode, hasBackup)
    }

    /// - Parameters:
    ///   - hasHardware: whether there is a TPM.
    ///   - isSilent: whether it does not answer.
    /// - Returns: no steps for damage that a new device key does not mend.
    func steps(after cause: KeybagError, hasHardware: Bool, isSilent: Bool) -> [String] {
        switch cause {
        case .hardware(let error):
            if stored.root == .credential { return credentialSteps(error) }
            if !hasHardware { return [Self.useTPM] + recovery + replacement }
            // A device key that another TPM has sealed will never open; any other failure may pass.
            if error.status == .decode { return [Self.putBack] + recovery + replacement }
            return [isSilent ? Self.tryAgain : Self.reseal] + withoutTPM + recovery + replacement
        case .rolledBack: return ["if there is a newer copy of \(directories): put it back"] + recovery + replacement
        case .deviceKeyMissing, .foreignDeviceKey:
            let copy = "if there is a copy of \(home.stateDirectory) that is as old as the database: put it back"
            return [copy] + recovery + replacement
        default: return []
        }
    }

    // MARK: The old device key

    private static let putBack = "if the TPM or the disk was replaced: put the old one back, and everything opens again"
    private static let useTPM =
        "if the TPM of this machine has sealed the device key: let this program use it (ls -l /dev/tpmrm0)"
    private static let tryAgain =
        "try again: the TPM may be busy, suspended or used by another program; nothing is lost while it exists"
    private static let reseal =
        "try again; if the machine was updated: latchkey root reseal, with the code of latchkey root tpm --pcrs"

    /// A recovery does not replace a device key that the TPM may still open.
    private var withoutTPM: [String] {
        let setting =
            switch mode {
            case .system:
                "as the administrator: tpm = none in /etc/latchkey/daemon.conf, then restart latchkeyd.service"
            case .user: "LATCHKEY_TPM=none in the environment of latchkeyd, then restart it"
            default: "export LATCHKEY_TPM=none"
            }
        return ["only if this TPM is gone for good: \(setting); remove the setting after the next steps"]
    }

    private func credentialSteps(_ error: KeychainError) -> [String] {
        // A recovery replaces it only where systemd says that it is another machine's.
        guard error.status == .decode else {
            return ["use the keychain in the service that receives the credential, or as root"] + replacement
        }
        return ["if the disk was moved to another machine: move it back"] + recovery + replacement
    }

    // MARK: A new device key

    private var recovery: [String] {
        guard stored.hasRecoveryKey else { return [] }
        let seal = "latchkey root tpm seals the new device key by the present TPM"
        return [
            "latchkey recovery-key use --dry-run shows how many items it does not open",
            "latchkey recovery-key use opens the others, with a new device key in a file and a new passcode",
        ] + (stored.root == .tpm ? [seal, Self.enclave] : [])
    }

    private static let enclave =
        "keys of the Secure Enclave are lost with a TPM: create new ones, and register their public halves"

    /// With a backup.
    private var replacement: [String] {
        guard stored.hasRecoveryKey || hasBackup else {
            return [
                "otherwise the items are lost: there is no recovery key, and no backup was made here; "
                    + "if there is a backup elsewhere: \(restore)"
            ]
        }
        return ["\(stored.hasRecoveryKey ? "without the recovery key" : "there is no recovery key, so"): \(restore)"]
    }

    private var restore: String {
        let move = "move \(directories) away"
        return switch mode {
        case .system:
            "as the administrator, stop latchkeyd.socket and latchkeyd.service of all users; \(move); "
                + "start latchkeyd.socket; then latchkey restore FILE"
        case .user:
            "stop latchkeyd.socket and latchkeyd.service of the user; \(move); start them; then latchkey restore FILE"
        default: "\(move), then latchkey restore FILE"
        }
    }

    private var directories: String { "\(home.dataDirectory) and \(home.stateDirectory)" }
}
