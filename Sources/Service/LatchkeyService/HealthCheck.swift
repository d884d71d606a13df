// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Computes the findings that `doctor` reports.
enum HealthCheck {
    /// - Parameter withoutRecovery: how many items with an access control the recovery key does not
    ///   open.
    static func findings(
        _ inspection: StoreInspection, home: KeychainHome?, deviceKeyPath: String?, hasRecoveryKey: Bool,
        withoutRecovery: Int
    ) -> [KeychainFinding] {
        var findings: [KeychainFinding] = []
        if let home {
            findings += [
                permissions("data directory", home.dataDirectory, allowed: 0o700),
                permissions("database", home.databasePath, allowed: 0o600),
                permissions("state directory", home.stateDirectory, allowed: 0o700),
                permissions("device key", deviceKeyPath ?? home.deviceKeyPath, allowed: 0o600),
                home.checkParents(),
                freeSpace(home.dataDirectory),
                recoveryOptions(home, hasRecoveryKey: hasRecoveryKey),
            ]
        }
        findings.append(
            KeychainFinding(
                "schema", isHealthy: inspection.structure.isEmpty,
                detail: inspection.structure.isEmpty
                    ? "version \(KeychainStore.formatVersion), SQLite's integrity check is ok"
                    : "SQLite's integrity check: \(inspection.structure.prefix(3).joined(separator: "; "))",
                hint: inspection.structure.isEmpty
                    ? nil : "restore a backup; until then, copy the data directory and do not write to it"))
        findings.append(rows(inspection))
        if let home, let finding = storedFiles(home) { findings.append(finding) }
        if withoutRecovery > 0 { findings.append(recoveryKey(withoutRecovery)) }
        return findings
    }

    /// Reports items that the recovery key does not open. It is older than the keys that access controls are bound to.
    private static func recoveryKey(_ count: Int) -> KeychainFinding {
        KeychainFinding(
            "recovery key", isHealthy: false,
            detail: "it is too old for \(count == 1 ? "1 item" : "\(count) items") with an access control, "
                + "and its use would delete \(count == 1 ? "it" : "them")",
            hint: "latchkey recovery-key create: the new key replaces it")
    }

    private static func rows(_ inspection: StoreInspection) -> KeychainFinding {
        let names = inspection.damaged.prefix(5).map {
            "\($0.identifier?.description ?? "unknown item") (\($0.reason))"
        }
        let closed = inspection.closed == 0 ? "" : ", \(inspection.closed) locked and not checked"
        let others = closed + (inspection.quarantined == 0 ? "" : ", \(inspection.quarantined) in quarantine")
        guard !inspection.damaged.isEmpty else {
            return KeychainFinding(
                "rows", isHealthy: true, detail: "all \(inspection.rows - inspection.closed) open\(others)",
                hint: inspection.quarantined == 0
                    ? nil
                    : "rows in quarantine were damaged; a backup may hold them. To delete them: latchkey doctor --empty-quarantine"
            )
        }
        return KeychainFinding(
            "rows", isHealthy: false,
            detail:
                "\(inspection.damaged.count) of \(inspection.rows) do not open\(others): \(names.joined(separator: ", "))",
            hint:
                "restore a backup, or move them out of the way: latchkey doctor --repair (storing an item again does so as well)"
        )
    }

    /// Reports stored files that have a damaged header or cannot be read; nil if the keychain stores no file. They are
    /// not opened: if the two headers differ, one was damaged after it was stored.
    private static func storedFiles(_ home: KeychainHome) -> KeychainFinding? {
        let subject = "stored files"
        do throws(SystemError) {
            guard let directory = try StoredFileDirectory(existingIn: home) else { return nil }
            let names = try directory.names()
            var (damaged, unreadable): ([String], [String]) = ([], [])
            for name in names {
                do throws(SystemError) {
                    if try !directory.hasEqualHeaders(name) { damaged.append(directory.path(of: name)) }
                } catch {
                    unreadable.append(error.description)
                }
            }
            let problems = [("have a damaged header", damaged), ("cannot be read", unreadable)]
                .filter { !$0.1.isEmpty }
                .map { "\($0.1.count) of \(names.count) \($0.0): " + $0.1.prefix(5).joined(separator: ", ") }
            guard !problems.isEmpty else {
                return KeychainFinding(
                    subject, isHealthy: true, detail: "the headers of all \(names.count) files are whole")
            }
            return KeychainFinding(
                subject, isHealthy: false, detail: problems.joined(separator: "; "),
                hint: damaged.isEmpty ? "check the owner and the mode of the files" : "restore a backup")
        } catch {
            return KeychainFinding(subject, isHealthy: false, detail: error.description, hint: error.hint)
        }
    }

    /// Reports whether a backup or a recovery key exists. The finding is healthy without either; it
    /// only informs.
    private static func recoveryOptions(_ home: KeychainHome, hasRecoveryKey: Bool) -> KeychainFinding {
        let saved = LastBackupFile.date(in: home).map { "the last backup was made on \($0)" }
        let parts = [
            saved ?? "no backup was made", hasRecoveryKey ? "there is a recovery key" : "there is no recovery key",
        ]
        return KeychainFinding(
            "recovery options", isHealthy: true, detail: parts.joined(separator: ", "),
            hint: saved == nil && !hasRecoveryKey
                ? "latchkey backup FILE, or latchkey recovery-key create: until then, losing the device key or the passcode loses the items"
                : nil)
    }

    private static func permissions(_ subject: String, _ path: String, allowed: UInt32) -> KeychainFinding {
        do throws(SystemError) {
            guard let status = try FileStatus.of(path) else {
                return KeychainFinding(subject, isHealthy: false, detail: "\(path) is missing")
            }
            try status.requirePrivate(path: path, allowed: allowed)
            return KeychainFinding(subject, isHealthy: true, detail: "\(path) is private")
        } catch {
            return KeychainFinding(subject, isHealthy: false, detail: error.description, hint: error.hint)
        }
    }

    private static func freeSpace(_ path: String) -> KeychainFinding {
        var info = statvfs()
        guard statvfs(path, &info) == 0 else {
            return KeychainFinding(
                "free space", isHealthy: false,
                detail: SystemError.last("read the free space of", path: path).description)
        }
        guard info.f_flag & UInt(ST_RDONLY) == 0 else {
            return KeychainFinding(
                "free space", isHealthy: true, detail: "\(path) is on a read-only file system; nothing can be stored")
        }
        let (product, isTooLarge) = UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize))
        let free = isTooLarge ? UInt64.max : product
        let isSufficient = free >= minFreeSpace
        return KeychainFinding(
            "free space", isHealthy: isSufficient, detail: "\(free >> 20) MiB at \(path)",
            hint: isSufficient ? nil : "free at least \(minFreeSpace >> 20) MiB, or writes will soon fail")
    }

    /// In bytes. With less, a checkpoint of the write-ahead log may fail.
    private static let minFreeSpace: UInt64 = 16 << 20
}

extension KeychainHome {
    /// Returns whether other users can replace the directories of the keychain, even of one that
    /// does not exist yet.
    public func checkParents() -> KeychainFinding {
        let subject = "parent directories"
        do throws(SystemError) {
            guard let parent = try replaceableParent() else {
                return KeychainFinding(
                    subject, isHealthy: true, detail: "only this user and root can replace the keychain's directories")
            }
            return KeychainFinding(subject, isHealthy: false, detail: parent.problem, hint: parent.hint)
        } catch {
            return KeychainFinding(subject, isHealthy: false, detail: error.description, hint: error.hint)
        }
    }
}
