// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore

/// Whether the device key of a keychain opens it, and if not, what leads back to the items.
struct RootDiagnosis {
    private let home: KeychainHome
    private let hardware: SecureHardware

    init(_ home: KeychainHome, _ hardware: SecureHardware) { (self.home, self.hardware) = (home, hardware) }

    /// - Parameter problem: the error of the attempt to open it.
    func ofClosedKeychain(_ problem: KeychainError) -> [KeychainFinding] {
        var finding = KeychainFinding("keychain", isHealthy: false, detail: problem.problem, hint: problem.hint)
        guard let stored = try? KeychainStore.storedKeybag(path: home.databasePath) else { return [finding, backups] }
        let (machine, cause) = (ofHardware(stored), cause(stored))
        if let cause { finding.steps = steps(after: cause, stored, isOpen: false) }
        return [finding] + machine + [recoveryKey(stored), backups]
    }

    /// Whether the keychain will open again: its device key may be gone since it was opened.
    func ofOpenKeychain() -> [KeychainFinding] {
        guard let stored = try? KeychainStore.storedKeybag(path: home.databasePath) else { return [] }
        let machine = ofHardware(stored)
        guard let cause = cause(stored) else {
            return machine + [KeychainFinding("root", isHealthy: true, detail: "the device key opens the keychain")]
        }
        let error = KeychainError(cause)
        return machine + [
            KeychainFinding(
                "root", isHealthy: false,
                detail: "the keychain is still open, but would not open again: \(error.problem)", hint: error.hint,
                steps: steps(after: cause, stored, isOpen: true))
        ]
    }

    // MARK: What is wrong

    /// Why the device key does not open the keychain; nil if it does.
    private func cause(_ stored: StoredKeybag) -> KeybagError? {
        do throws(KeybagError) {
            try EmbeddedService.storage(home, hardware).check(stored)
            return nil
        } catch {
            return error
        }
    }

    private func ofHardware(_ stored: StoredKeybag) -> [KeychainFinding] {
        guard stored.root == .tpm else { return [] }
        guard let root = hardware.root else {
            return [KeychainFinding("TPM", isHealthy: false, detail: "this program finds none")]
        }
        do throws(KeychainError) {
            return [KeychainFinding("TPM", isHealthy: true, detail: try root.describe())]
        } catch {
            return [KeychainFinding("TPM", isHealthy: false, detail: error.problem, hint: error.hint)]
        }
    }

    private func recoveryKey(_ stored: StoredKeybag) -> KeychainFinding {
        KeychainFinding(
            "recovery key", isHealthy: true,
            detail: stored.hasRecoveryKey
                ? "there is one; it opens the items that may leave this device" : "there is none")
    }

    private var backups: KeychainFinding {
        KeychainFinding(
            "backups", isHealthy: true,
            detail: LastBackupFile.date(in: home).map { "the last one was made on \($0)" } ?? "none was made here")
    }

    // MARK: What leads back

    private func steps(after cause: KeybagError, _ stored: StoredKeybag, isOpen: Bool) -> [String] {
        let first: [String]
        switch cause {
        case .hardware(let error): first = hardwareSteps(error, stored)
        case .rolledBack: first = ["if there is a newer copy of \(directories): put it back"]
        case .deviceKeyMissing, .foreignDeviceKey:
            first = ["if there is a copy of \(home.stateDirectory) of the same time as the database: put it back"]
        // The file has other damage, which a new device key does not mend.
        default: return []
        }
        let now = ["now, while it is open: latchkey backup FILE, and set what is in no backup aside"]
        return (isOpen ? now : []) + first + lastSteps(stored)
    }

    private func hardwareSteps(_ error: KeychainError, _ stored: StoredKeybag) -> [String] {
        guard stored.root == .tpm else {
            return ["if the credential was encrypted on another machine, or for another: use it there"]
        }
        guard hardware.root != nil else {
            return ["if the TPM of this machine has sealed it: let this program use the TPM (ls -l /dev/tpmrm0)"]
        }
        // Bytes that the TPM does not take for its own; anything else may pass.
        if error.status == .decode {
            return ["if the TPM or the disk was exchanged: put the former one back, and everything opens again"]
        }
        let isBound = !((try? EmbeddedService.storage(home, hardware).registers()) ?? []).isEmpty
        return [
            isBound
                ? "after an update: latchkey root reseal, which asks for the code of latchkey root tpm --pcrs"
                : "try again: the TPM may be busy, suspended or locked out; nothing is lost while it exists",
            "only if that TPM is gone for good: LATCHKEY_TPM=none in the environment, or tpm = none in daemon.conf",
        ]
    }

    /// With the recovery key, or with a backup.
    private func lastSteps(_ stored: StoredKeybag) -> [String] {
        let recovery = [
            "latchkey recovery-key use --dry-run shows how many items it does not open",
            "latchkey recovery-key use opens the others, with a new device key in a file and a new passcode",
        ]
        let backup =
            "\(stored.hasRecoveryKey ? "without the recovery key" : "there is no recovery key, so"): "
            + "end latchkeyd, move \(directories) away, and latchkey restore FILE"
        let enclave = "keys of the Secure Enclave are lost with a TPM: create new ones, and register them anew"
        let seal = "latchkey root tpm seals the new device key by the present TPM"
        let isTPM = stored.root == .tpm
        return (stored.hasRecoveryKey ? recovery : []) + [backup] + (isTPM ? [seal, enclave] : [])
    }

    private var directories: String { "\(home.dataDirectory) and \(home.stateDirectory)" }
}
