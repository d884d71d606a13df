// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// The report of `latchkey doctor --report`, in the shape of its JSON: the facts that a question needs, without
/// secrets, names, paths, users and hosts. Every text is a ``DiagnosticText``, a type that admits none of them.
struct DiagnosticReport: Encodable {
    /// The version of this report.
    var report = 1
    var version = DiagnosticText(unchecked: LatchkeyVersion.current)
    var machine = MachineFacts.ofThisMachine()
    /// The variables of Latchkey that are set; not their values.
    var variables: [DiagnosticText] = DiagnosticReport.setVariables
    /// The programs of this installation.
    var programs: [DiagnosticText] = DiagnosticReport.installedPrograms
    var keychain: Keychain
    /// The formats of the files, where this process reads them.
    var formats: [Format] = []
    var findings: [Finding] = []

    struct Keychain: Encodable {
        var exists: Bool
        /// The error if it does not open, or a part of this report could not be read.
        var error: DiagnosticText?
        /// Whether another process has locked the database, so that it was not read.
        var inUse = false
        var status: Status?
        var presence: Presence?
    }

    struct Status: Encodable {
        var mode: DiagnosticText
        var root: DiagnosticText
        var format: Int
        var lock: DiagnosticText
        var passcode: Bool
        var recoveryKey: Bool
        var tiedToLogin: Bool
        var lockAfter: Int
        var grace: Int
        var wrongPasscodes: Int
        var daemon: Bool
        var daemonOnDemand: Bool
        var auditLog: Bool
        var enclave: DiagnosticText
        var isLogin: Bool
        var keychains: Int
        var quarantined: Int
        var itemsWithoutRecovery: Int
        var counts: [Count]
    }

    struct Count: Encodable {
        var itemClass: DiagnosticText
        var protection: DiagnosticText
        var count: Int

        enum CodingKeys: String, CodingKey {
            case itemClass = "class", protection, count
        }
    }

    struct Presence: Encodable {
        var methods: [Method]
        var biometry: DiagnosticText
        var securityKeys: Int

        struct Method: Encodable {
            var name: DiagnosticText
            var available: Bool
        }
    }

    struct Format: Encodable {
        var part: DiagnosticText
        var found: Int
        var next: Int
    }

    struct Finding: Encodable {
        var subject: DiagnosticText
        var healthy: Bool
    }
}

// MARK: - The keychain

extension DiagnosticReport {
    /// - Parameter found: the findings of the health check; their details have paths and names, and are left
    ///   out.
    init(_ found: [KeychainFinding]) {
        keychain = Self.readKeychain()
        formats = Self.readFormats()
        findings = found.map { Finding(subject: Self.subject($0.subject), healthy: $0.isHealthy) }
    }

    private static func readKeychain() -> Keychain {
        var keychain = Keychain(exists: true)
        do throws(KeychainError) {
            guard try KeychainClient.missingHome() == nil else { return Keychain(exists: false) }
            let session = try KeychainClient.session()
            let (status, lock) = (try session.status(), try session.lockStatus())
            let places = try KeychainClient.registry().keychains().places
            keychain.status = Status(status, lock, keychains: places.count)
            guard status.mode != .ephemeral else { return keychain }
            keychain.presence = Presence(try session.presenceStatus())
        } catch {
            keychain.error = "\(error)"
            keychain.inUse = error == .databaseInUse
        }
        return keychain
    }

    /// Of the keychain that every user has; others have the same after they were used.
    private static func readFormats() -> [Format] {
        guard let home = try? KeychainClient.home(), let formats = try? KeychainFormats.of(home) else { return [] }
        return formats.findings.map { finding in
            Format(part: DiagnosticText(unchecked: finding.part.rawValue), found: finding.found, next: finding.next)
        }
    }

    /// Returns the subject of a finding without the name of a keychain. The check of another keychain puts that name
    /// before the subject.
    private static func subject(_ text: String) -> DiagnosticText {
        if let own = DiagnosticText(text, of: subjects) { return own }
        guard let known = subjects.first(where: { text.hasSuffix(": \($0.string)") }) else { return "other" }
        return "another keychain: \(known)"
    }

    private static let subjects: [DiagnosticText] = [
        "data directory", "database", "state directory", "device key", "parent directories", "free space",
        "recovery options", "recovery key", "schema", "rows", "stored files", "protected files", "keychain",
        "keychain files", "root", "TPM", "backups",
    ]

    private static var setVariables: [DiagnosticText] {
        let names: [DiagnosticText] = [
            "LATCHKEY_EPHEMERAL", "LATCHKEY_HOME", "LATCHKEY_KEYCHAIN", "LATCHKEY_LOG", "LATCHKEY_NO_DAEMON",
            "LATCHKEY_PASSCODE_FILE", "LATCHKEY_SESSION_FD", "LATCHKEY_SYSTEM_SOCKET", "LATCHKEY_TPM", "XDG_DATA_HOME",
            "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
        ]
        return names.filter { SecureEnvironment.value(of: $0.string) != nil }
    }

    private static var installedPrograms: [DiagnosticText] {
        let names: [DiagnosticText] = [
            "latchkeyd", "latchkey-tls", "latchkey-secret-service", "latchkey-biometry-digest", "security",
        ]
        guard let installation = Installation.current else { return [] }
        return names.filter { installation.program($0.string) != nil }
    }
}

extension DiagnosticReport.Status {
    init(_ status: KeychainStatus, _ lock: LockStatus, keychains: Int) {
        mode = "\(status.mode)"
        root = "\(status.root)"
        format = status.formatVersion
        self.lock = "\(lock.state)"
        passcode = status.hasPasscode
        recoveryKey = lock.hasRecoveryKey
        tiedToLogin = lock.settings.isTiedToLogin
        lockAfter = Int(lock.settings.lockInterval)
        grace = Int(lock.settings.graceSeconds)
        wrongPasscodes = lock.wrongPasscodes
        daemon = status.daemon != nil
        daemonOnDemand = status.daemon?.isOnDemand ?? false
        auditLog = status.hasAuditLog
        enclave = status.enclave.map { $0 == .tpm ? "tpm" : "software" } ?? "none"
        isLogin = status.name == .login
        self.keychains = keychains
        quarantined = status.quarantined
        itemsWithoutRecovery = status.itemsWithoutRecovery
        counts = status.counts.filter { $0.count > 0 }.map { count in
            DiagnosticReport.Count(
                itemClass: "\(count.itemClass)", protection: "\(count.protection)", count: count.count)
        }
    }
}

extension DiagnosticReport.Presence {
    init(_ status: PresenceStatus) {
        methods = status.methods.map { method in
            Method(
                name: DiagnosticText(method.name, of: ["pinentry", "agent"]) ?? "other",
                available: method.problem == nil)
        }
        biometry =
            switch status.biometry {
            case .available: "available"
            case .needsPasscode: "needs-passcode"
            case .lockedOut: "locked-out"
            case .notEnrolled: "not-enrolled"
            case .notAvailable: "not-available"
            }
        securityKeys = status.securityKeys
    }
}

// MARK: - Text

/// A line of the report as text.
private struct ReportRow {
    let name: DiagnosticText
    let value: DiagnosticText

    init(_ name: DiagnosticText, _ value: DiagnosticText) { (self.name, self.value) = (name, value) }

    var line: TerminalText { "\(name):\(TerminalText.spaces(11 - name.string.count))\(value)\n" }
}

extension DiagnosticReport {
    /// The report as text, one fact a line.
    var text: TerminalText {
        var rows = [
            ReportRow("report", "\(report), without secrets, names, paths, users and hosts"),
            ReportRow("version", version),
            ReportRow("programs", programs.isEmpty ? "none" : programs.joined(separator: ", ")),
            ReportRow("variables", variables.isEmpty ? "none" : variables.joined(separator: ", ")),
        ]
        rows += machine.rows
        rows += keychain.rows
        for format in formats {
            rows.append(
                ReportRow(
                    "format",
                    format.next == format.found
                        ? "\(format.part) \(format.found)" : "\(format.part) \(format.found) to \(format.next)"))
        }
        for finding in findings {
            let result: DiagnosticText = finding.healthy ? "ok     " : "WRONG  "
            rows.append(ReportRow("finding", "\(result)\(finding.subject)"))
        }
        return rows.map(\.line).joined()
    }
}

extension MachineFacts {
    fileprivate var rows: [ReportRow] {
        [
            ReportRow("kernel", "\(kernel) \(architecture)"),
            ReportRow("system", "\(distribution) \(distributionVersion), glibc \(library)"),
            ReportRow("desktop", "\(desktop), shell \(shell)"),
            ReportRow(
                "services", "systemd \(serviceManager), of the user \(userServiceManager), session bus \(sessionBus)"),
            ReportRow("machine", "container \(container), read-only \(readOnlyRoot), TPM \(tpm)"),
        ]
    }
}

extension DiagnosticReport.Keychain {
    fileprivate var rows: [ReportRow] {
        guard exists else { return [ReportRow("keychain", "none yet")] }
        var rows: [ReportRow] = []
        if let error { rows.append(ReportRow("error", error)) }
        if inUse { rows.append(ReportRow("in use", "another process has locked the database")) }
        if let status { rows += status.rows }
        if let presence { rows += presence.rows }
        return rows
    }
}

extension DiagnosticReport.Status {
    fileprivate var rows: [ReportRow] {
        var rows = [
            ReportRow(
                "keychain", "mode \(mode), root \(root), format \(format), one of \(keychains), login \(isLogin)"
            ),
            ReportRow(
                "lock", "\(lock), passcode \(passcode), recovery key \(recoveryKey), tied to login \(tiedToLogin)"
            ),
            ReportRow("settings", "lock after \(lockAfter) s, grace \(grace) s, wrong passcodes \(wrongPasscodes)"),
            ReportRow("daemon", "\(daemon), on demand \(daemonOnDemand), audit log \(auditLog), enclave \(enclave)"),
            ReportRow("damaged", "\(quarantined) in quarantine, \(itemsWithoutRecovery) without recovery"),
        ]
        for count in counts {
            rows.append(ReportRow("items", "\(count.count) \(count.itemClass) \(count.protection)"))
        }
        return rows
    }
}

extension DiagnosticReport.Presence {
    fileprivate var rows: [ReportRow] {
        var rows: [ReportRow] = []
        for method in methods {
            rows.append(ReportRow("presence", "\(method.name), available \(method.available)"))
        }
        return rows + [ReportRow("biometry", "\(biometry), security keys \(securityKeys)")]
    }
}
