// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LatchkeyService
import SecretMemory

/// A keychain whose calls all fail with the same error.
struct FailingService: KeychainService {
    let error: KeychainError

    func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord { throw error }
    func addIdentities(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError) -> Int {
        throw error
    }

    func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches { throw error }

    func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord] { throw error }

    func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError) -> Int {
        throw error
    }
    func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int { throw error }
    func status() throws(KeychainError) -> KeychainStatus { throw error }
    func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding] { throw error }
    func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int {
        throw error
    }
    func callerReport(_ caller: CallerIdentity) throws(KeychainError) -> CallerReport { throw error }
    func auditLines(after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool) throws(KeychainError) -> UInt64
    { throw error }
    func verifyAudit() throws(KeychainError) -> AuditVerification { throw error }
    func checkpoint() throws(KeychainError) { throw error }
    func close() {}
}

/// A keychain in which only damaged items match, and whose health check has a finding.
struct DamagedService: KeychainService {
    var logLines = [#"{"sequence":1,"operation":"add"}"#, #"{"sequence":2,"operation":"copy"}"#]
    var lock = LockStatus(
        state: .unlocked, hasPasscode: false, hasRecoveryKey: false, settings: KeybagSettings(),
        open: Set(ProtectionClass.allCases.filter { !$0.requiresPasscode }))

    func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord { throw .decode }
    func addIdentities(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError) -> Int {
        throw .decode
    }

    func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches { ItemMatches(records: [], damaged: 1) }

    func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord] { throw .itemNotFound }

    func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError) -> Int {
        throw .decode
    }
    func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int { throw .decode }

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
    func close() {}
}

/// The lock operations of these keychains. Commands on items do not call them.
extension FailingService {
    func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError) -> GeneratedKey {
        throw error
    }
    func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo
    { throw error }
    func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput { throw error }
    func exportKey(_ reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError) -> KeyOutput {
        throw error
    }
    func lockStatus() throws(KeychainError) -> LockStatus { throw error }
    func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) { throw error }
    func lock(immediately: Bool) throws(KeychainError) { throw error }
    func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int { 0 }
    func removeLockObserver(_ number: Int) {}
    func recordBackup() {}
    func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError) { throw error }
    func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError) { throw error }
    func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int { throw error }
    func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret { throw error }
    func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool { throw error }
    func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) { throw error }
    func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, includesNonExtractable: Bool,
        to sink: @escaping BackupSink,
        progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport { throw error }
    func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport { throw error }
}

extension DamagedService {
    func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError) -> GeneratedKey {
        throw .decode
    }
    func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo
    { throw .decode }
    func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput { throw .decode }
    func exportKey(_ reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError) -> KeyOutput {
        throw .decode
    }
    func lockStatus() throws(KeychainError) -> LockStatus { lock }

    func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) { throw .decode }
    func lock(immediately: Bool) throws(KeychainError) { throw .decode }
    func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int { 0 }
    func removeLockObserver(_ number: Int) {}
    func recordBackup() {}
    func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError) { throw .decode }
    func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError) { throw .decode }
    func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int {
        throw .decode
    }
    func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret { throw .decode }
    func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool { throw .decode }
    func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) { throw .decode }
    func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, includesNonExtractable: Bool,
        to sink: @escaping BackupSink,
        progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport { throw .decode }
    func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport { throw .decode }
}

extension FailingService {
    func addChangeObserver(_ body: @escaping @Sendable (KeychainChangeEvent) -> Void) throws(KeychainError) -> Int {
        throw error
    }
    func removeChangeObserver(_ number: Int) {}
}

extension DamagedService {
    func addChangeObserver(_ body: @escaping @Sendable (KeychainChangeEvent) -> Void) throws(KeychainError) -> Int {
        throw .notAvailable
    }
    func removeChangeObserver(_ number: Int) {}
}
