// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService

/// A keychain that fails all calls with the same error.
final class FailingService: ScriptedService {
    private let error: KeychainError

    init(error: KeychainError) { self.error = error }

    func answer(
        to operation: any KeychainOperation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> (any ResponseContent)? { throw error }
}

/// A keychain that matches only damaged items, and has a finding in its health check.
final class DamagedService: ScriptedService {
    private let logLines: [String]
    private let lock: LockStatus

    init(
        logLines: [String] = [#"{"sequence":1,"operation":"add"}"#, #"{"sequence":2,"operation":"copy"}"#],
        lock: LockStatus = LockStatus(
            state: .unlocked, hasPasscode: false, hasRecoveryKey: false, settings: KeybagSettings(),
            open: Set(ProtectionClass.allCases.filter { !$0.requiresPasscode }))
    ) {
        (self.logLines, self.lock) = (logLines, lock)
    }

    /// Other operations than those below fail.
    func answer(
        to operation: any KeychainOperation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> (any ResponseContent)? {
        switch operation {
        case is CopyItems: return FoundItems(ItemMatches(records: [], damaged: 1))
        case is CopyIdentities: throw .itemNotFound
        case is ReadStatus: return Self.status
        case is CheckKeychain:
            for rows in [1, 9000, 10000, 10001, 11000] { exchange.progress(rows, 0) }
            return Findings([
                KeychainFinding("schema", isHealthy: true, detail: "version 1"),
                KeychainFinding("rows", isHealthy: false, detail: "1 of 2 does not open", hint: "restore a backup"),
            ])
        case is RepairKeychain: return ItemCount(1)
        case is IdentifyCaller: return Self.report
        case is ReadLog: return LogPart(AuditLines(lines: logLines, last: 2), moreFollows: false)
        case is VerifyLog:
            return AuditVerification(
                isIntact: false, lines: 1, firstWrong: 2, detail: "line 2 was changed or is missing")
        case is CheckpointKeychain, is RecordBackup: return Done()
        case is ReadLockStatus: return lock
        default: throw .decode
        }
    }

    private static let status = KeychainStatus(
        mode: .embedded, root: .file, databasePath: "/data/keychain.db", deviceKeyPath: "/state/device.key",
        formatVersion: 1, hasPasscode: false,
        counts: [KeychainStatus.Count(itemClass: .genericPassword, protection: .whenUnlocked, count: 2)],
        quarantined: 1)

    private static let report = CallerReport(
        facts: [
            CallerReport.Fact("user", "1000", .attested, source: "the kernel, when the connection was made"),
            CallerReport.Fact(
                "unit", "backup.service", .attested, source: "its control group; no login is possible as its user"),
            CallerReport.Fact("executable", "/usr/bin/backup", .claimed, source: "the program says so"),
        ], groups: [AccessGroup("backup.keys", grade: .attested), AccessGroup("own", grade: .claimed)],
        reason: "the administrator grants it the attested ones")
}
