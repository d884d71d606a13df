// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Whether the device key of a keychain opens it, and if not, the steps that lead back to the items. It changes
/// nothing.
struct RootDiagnosis {
    private let home: KeychainHome
    private let hardware: SecureHardware
    /// Whether no file is changed: false in a process that may have the keychain open for writing.
    private let inspects: Bool

    init(_ home: KeychainHome, _ hardware: SecureHardware, inspects: Bool) {
        (self.home, self.hardware, self.inspects) = (home, hardware, inspects)
    }

    /// - Parameters:
    ///   - problem: the error of the attempt to open it.
    ///   - mode: who opens it; this decides how it is replaced.
    func ofClosedKeychain(_ problem: KeychainError, _ mode: KeychainStatus.Mode) -> [KeychainFinding] {
        var finding = KeychainFinding("keychain", isHealthy: false, detail: problem.problem, hint: problem.hint)
        guard let stored else { return [finding, backups] }
        let (machine, silence) = ofHardware(stored)
        if let cause = silence ?? cause(stored) {
            let recovery = RootRecovery(home, stored, mode, hasBackup: LastBackupFile.date(in: home) != nil)
            finding.steps = recovery.steps(after: cause, hasHardware: hardware.root != nil, isSilent: silence != nil)
        }
        return [finding] + machine + [recoveryKey(stored), backups]
    }

    /// Whether the keychain will open again: its device key may be gone since it was opened.
    func ofOpenKeychain() -> [KeychainFinding] {
        guard let stored else { return [] }
        let (machine, silence) = ofHardware(stored)
        guard let cause = silence ?? cause(stored) else {
            return machine + [KeychainFinding("root", isHealthy: true, detail: "the device key opens the keychain")]
        }
        let error = KeychainError(cause)
        return machine + [
            KeychainFinding(
                "root", isHealthy: false,
                detail: "the keychain is still open, but would not open again: \(error.problem)", hint: error.hint,
                steps: [
                    "while it is open: latchkey backup FILE",
                    "note elsewhere the items of the classes ThisDeviceOnly: a backup leaves them out",
                    "latchkey doctor, when it is closed: it shows the next steps",
                ])
        ]
    }

    private var stored: StoredKeybag? {
        try? KeychainStore.storedKeybag(path: home.databasePath, inspects: inspects)
    }

    // MARK: The cause

    /// Why the device key does not open the keychain; nil if it does.
    private func cause(_ stored: StoredKeybag) -> KeybagError? {
        var checked = stored
        while true {
            guard let error = Self.check(checked, home, hardware) else { return nil }
            // Another process may have changed the keybag, and the counter with it, meanwhile.
            guard let now = self.stored, now != checked else { return error }
            checked = now
        }
    }

    private static func check(
        _ stored: StoredKeybag, _ home: KeychainHome, _ hardware: SecureHardware
    ) -> KeybagError? {
        do throws(KeybagError) {
            try ClosedKeychain.storage(home, hardware, mayCreate: false).check(stored)
            return nil
        } catch {
            return error
        }
    }

    /// - Returns: the findings, and why the TPM does not answer; nil if it does.
    private func ofHardware(_ stored: StoredKeybag) -> ([KeychainFinding], silence: KeybagError?) {
        guard stored.root == .tpm else { return ([], nil) }
        guard let root = hardware.root else {
            return ([KeychainFinding("TPM", isHealthy: false, detail: "this program finds none")], nil)
        }
        do throws(KeychainError) {
            return ([KeychainFinding("TPM", isHealthy: true, detail: try root.describe())], nil)
        } catch {
            let finding = KeychainFinding("TPM", isHealthy: false, detail: error.problem, hint: error.hint)
            return ([finding], .hardware(error))
        }
    }

    private func recoveryKey(_ stored: StoredKeybag) -> KeychainFinding {
        KeychainFinding(
            "recovery key", isHealthy: stored.hasRecoveryKey,
            detail: stored.hasRecoveryKey
                ? "there is one; it opens the items that may leave this device" : "there is none")
    }

    private var backups: KeychainFinding {
        let date = LastBackupFile.date(in: home)
        return KeychainFinding(
            "backups", isHealthy: date != nil,
            detail: date.map { "the last one was made on \($0)" } ?? "none was made here")
    }
}
