// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory

/// A keychain whose calls all fail with the same error.
struct FailingService: OperationPerformer {
    let error: KeychainError

    func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity?, progress: ChangeProgress,
        _ take: ((any ResponseContent) throws(KeychainError) -> Void)?
    ) throws(KeychainError) -> Operation.Answer { throw error }

    func auditLines(after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool) throws(KeychainError) -> UInt64
    { throw error }

    func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int { 0 }
    func removeLockObserver(_ number: Int) {}
    func addChangeObserver(_ body: @escaping @Sendable (KeychainChangeEvent) -> Void) throws(KeychainError) -> Int {
        throw error
    }
    func removeChangeObserver(_ number: Int) {}
    func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport { throw error }
    func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource, caller: CallerIdentity
    ) throws(KeychainError) { throw error }
    func close() {}
}

/// A keychain in which only damaged items match, and whose health check has a finding.
struct DamagedService: OperationPerformer {
    var logLines = [#"{"sequence":1,"operation":"add"}"#, #"{"sequence":2,"operation":"copy"}"#]
    var lock = LockStatus(
        state: .unlocked, hasPasscode: false, hasRecoveryKey: false, settings: KeybagSettings(),
        open: Set(ProtectionClass.allCases.filter { !$0.requiresPasscode }))

    /// Other operations than those below fail.
    func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity?, progress: ChangeProgress,
        _ take: ((any ResponseContent) throws(KeychainError) -> Void)?
    ) throws(KeychainError) -> Operation.Answer { throw .decode }

    func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches { ItemMatches(records: [], damaged: 1) }

    func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord] { throw .itemNotFound }

    func status() throws(KeychainError) -> KeychainStatus {
        KeychainStatus(
            mode: .embedded, root: .file, databasePath: "/data/keychain.db", deviceKeyPath: "/state/device.key",
            formatVersion: 1,
            hasPasscode: false,
            counts: [KeychainStatus.Count(itemClass: .genericPassword, protection: .whenUnlocked, count: 2)],
            quarantined: 1)
    }

    func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding] {
        for rows in [1, 9000, 10000, 10001, 11000] { progress(rows) }
        return [
            KeychainFinding("schema", isHealthy: true, detail: "version 1"),
            KeychainFinding("rows", isHealthy: false, detail: "1 of 2 does not open", hint: "restore a backup"),
        ]
    }

    func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int { 1 }
    func callerReport(_ caller: CallerIdentity) throws(KeychainError) -> CallerReport {
        CallerReport(
            facts: [
                CallerReport.Fact("user", "1000", .attested, source: "the kernel, when the connection was made"),
                CallerReport.Fact(
                    "unit", "backup.service", .attested, source: "its control group; no login is possible as its user"),
                CallerReport.Fact("executable", "/usr/bin/backup", .claimed, source: "the program says so"),
            ], groups: [AccessGroup("backup.keys", grade: .attested), AccessGroup("own", grade: .claimed)],
            reason: "the administrator grants it the attested ones")
    }

    func auditLines(after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool) throws(KeychainError) -> UInt64
    {
        _ = body(logLines) && body([])
        return 2
    }

    func verifyAudit() throws(KeychainError) -> AuditVerification {
        AuditVerification(
            isIntact: false, lines: 1, firstWrong: 2, detail: "line 2 was changed or is missing")
    }

    func checkpoint() throws(KeychainError) {}
    func lockStatus() throws(KeychainError) -> LockStatus { lock }
    func recordBackup() {}

    func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int { 0 }
    func removeLockObserver(_ number: Int) {}
    func addChangeObserver(_ body: @escaping @Sendable (KeychainChangeEvent) -> Void) throws(KeychainError) -> Int {
        throw .notAvailable
    }
    func removeChangeObserver(_ number: Int) {}
    func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport { throw .decode }
    func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource, caller: CallerIdentity
    ) throws(KeychainError) { throw .decode }
    func close() {}
}
