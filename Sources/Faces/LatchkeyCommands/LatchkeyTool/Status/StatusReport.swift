// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// The report of `latchkey status`, in the shape of its JSON.
struct StatusReport: Encodable {
    /// The path of the database; absent for a keychain in memory.
    var database: String?
    /// The name of the keychain.
    var name: String
    /// `embedded`, `ephemeral`, `user`, `system` or `session`.
    var mode: String
    /// The format of the database.
    var format: Int
    /// `file` or `memory`.
    var root: String
    var deviceKey: String?
    var passcode: Bool
    /// Whether a change of the login password changes the passcode.
    var tiedToLogin: Bool
    /// `before-first-unlock`, `unlocked` or `locked`; without a daemon, the state of this process.
    var lock: String
    /// Whether the items of a class can be read and written now, by Apple's code of the class.
    var open: [String: Bool]
    /// The names of these classes.
    var openClasses: [String]
    var recoveryKey: Bool
    /// How many items with an access control the recovery key does not open; their recovery needs a
    /// new one.
    var itemsWithoutRecovery: Int
    /// How many items a removal of the passcode would destroy.
    var itemsRequiringPasscode: Int
    /// The seconds until the next passcode is checked, after several wrong ones.
    var delay: Int
    /// Absent if there were no wrong passcodes since the last correct one.
    var wrongPasscodes: WrongPasscodesReport?
    /// How the identities of programs are established: `claimed`, or `attested` if the kernel and
    /// the administrator attest some of them.
    var identity: String
    var auditLog: Bool
    var items: Int
    var counts: [Count]
    var quarantined: Int
    /// How the person can be asked; absent if that is unknown.
    var presence: PresenceReport?
    /// The holder of new keys for a Secure Enclave: `tpm`, `software`; absent if there is none.
    var enclave: String?
    /// The daemon that holds the keychain; absent without one.
    var daemon: Daemon?
    /// The program that answers desktop programs; absent without a session bus.
    var secretService: SecretServiceStatus?
    /// Whether the commands that unlock start a daemon if there is none.
    var startsDaemon: Bool
    /// The user's keychains: the one that every user has is first.
    var keychains: [Place] = []
    /// Whether the keychain exists. If not, the first item creates it, and the other fields
    /// describe the keychain that will be created.
    var exists = true

    struct Count: Encodable {
        var itemClass: String
        /// The name of Apple's constant.
        var protection: String
        var protectionName: String
        var count: Int

        enum CodingKeys: String, CodingKey {
            case itemClass = "class", protection, protectionName, count
        }
    }

    struct Daemon: Encodable {
        var pid: Int32
        /// Whether it ends when nothing is unlocked.
        var onDemand: Bool
    }

    /// One of the user's keychains.
    struct Place: Encodable {
        var name: String
        var path: String
        /// Its place in the search list, from 1 on; absent if it is not searched.
        var searched: Int?
        /// Whether it gets new items.
        var isDefault: Bool

        enum CodingKeys: String, CodingKey {
            case name, path, searched, isDefault = "default"
        }
    }

    init(_ status: KeychainStatus, _ lock: LockStatus, _ presence: PresenceStatus? = nil) {
        database = status.databasePath
        name = status.name.text
        mode = status.mode.rawValue
        daemon = status.daemon.map { Daemon(pid: $0.process, onDemand: $0.isOnDemand) }
        startsDaemon = !KeychainClient.forbidsDaemon
        format = status.formatVersion
        root = status.root.rawValue
        deviceKey = status.deviceKeyPath
        passcode = status.hasPasscode
        tiedToLogin = lock.settings.isTiedToLogin
        self.lock = lock.state.rawValue
        open = Dictionary(uniqueKeysWithValues: ProtectionClass.allCases.map { ($0.rawValue, lock.open.contains($0)) })
        openClasses = ProtectionClass.allCases.filter { lock.open.contains($0) }.map(\.name)
        recoveryKey = lock.hasRecoveryKey
        itemsWithoutRecovery = status.itemsWithoutRecovery
        itemsRequiringPasscode = status.itemsRequiringPasscode
        delay = lock.delay
        wrongPasscodes = WrongPasscodesReport(lock)
        identity =
            status.mode == .system ? AccessGroup.Grade.attested.description : AccessGroup.Grade.claimed.description
        auditLog = status.hasAuditLog
        let full = status.counts.filter { $0.count > 0 }
        items = full.reduce(0) { $0 + $1.count }
        counts = full.map {
            Count(
                itemClass: $0.itemClass.rawValue, protection: $0.protection.constant,
                protectionName: $0.protection.name, count: $0.count)
        }
        quarantined = status.quarantined
        enclave = status.enclave?.shortName
        self.presence = presence.map(PresenceReport.init)
    }

    /// Creates the report for a keychain that does not exist yet.
    init(missingAt home: KeychainHome) {
        let open = Set(ProtectionClass.allCases.filter { !$0.requiresPasscode })
        self.init(
            KeychainStatus(
                mode: .embedded, root: .file, databasePath: home.databasePath, deviceKeyPath: home.deviceKeyPath,
                formatVersion: 0,
                hasPasscode: false, counts: [], quarantined: 0),
            LockStatus(
                state: .unlocked, hasPasscode: false, hasRecoveryKey: false, settings: KeybagSettings(), open: open))
        exists = false
    }
}

// MARK: - Text

extension StatusReport {
    private var daemonText: String {
        if let daemon {
            return "process \(daemon.pid)"
                + (daemon.onDemand ? ", started by a command; it ends when nothing is unlocked" : "")
        }
        return startsDaemon
            ? "none; the commands that unlock a keychain start one" : "none; LATCHKEY_NO_DAEMON=1 forbids to start one"
    }

    private var desktopRows: [(name: String, value: String)] {
        guard let secretService else { return [] }
        return [("desktop", secretService.text)] + (secretService.hint.map { [("", "  hint: \($0)")] } ?? [])
    }

    private var keychainRows: [(name: String, value: String)] {
        guard keychains.count > 1 || keychains.contains(where: { $0.searched == nil }) else { return [] }
        return keychains.enumerated().map { index, place in
            let use = place.searched.map { "searched as number \($0)" } ?? "not searched"
            let text = "\(place.name)\(place.isDefault ? ", default" : ""), \(use): \(place.path)"
            return (index == 0 ? "keychains" : "", text)
        }
    }

    /// The report as text.
    var text: TerminalText {
        guard exists else {
            let place = "none yet at \(database ?? ""); the first item creates it"
            return Self.text([("keychain", place), ("daemon", daemonText)] + desktopRows + keychainRows)
        }
        var rows: [(name: String, value: String)] = [
            ("keychain", database ?? "in memory, ends with the program"),
            ("name", name),
            ("mode", modeText),
            ("daemon", daemonText),
            ("format", "\(format)"),
            (
                "device key",
                deviceKeyText
            ),
            (
                "passcode",
                passcode ? passcodeText : "none: the keychain is always unlocked; only the device key protects it"
            ),
            ("login", tiedToLogin ? "the passcode follows the login password, with pam_latchkey" : ""),
            ("classes", "open: \(openClasses.joined(separator: ", "))"),
            ("", closedClassesText),
            ("enclave", enclaveText),
            ("recovery", recoveryText),
            ("identity", identityText),
            ("audit log", auditLog ? "kept: see latchkey log" : "none: only latchkeyd keeps one"),
            ("items", "\(items)"),
        ]
        rows.removeAll { $0.value.isEmpty }
        rows += desktopRows + keychainRows
        if let wrongPasscodes {
            rows.insert(contentsOf: wrongPasscodes.rows, at: rows.firstIndex { $0.name == "classes" } ?? rows.endIndex)
        }
        if itemsWithoutRecovery > 0 {
            let row = ("", "  hint: latchkey recovery-key create: the new key replaces it")
            rows.insert(row, at: rows.firstIndex { $0.name == "identity" } ?? rows.endIndex)
        }
        for count in counts { rows.append(("", "\(count.count) \(count.itemClass), \(count.protectionName)")) }
        rows.append(("quarantine", quarantined == 0 ? "empty" : "\(quarantined) damaged; see latchkey doctor"))
        if let presence {
            rows.insert(contentsOf: presence.rows, at: rows.firstIndex { $0.name == "identity" } ?? rows.endIndex)
        }
        return Self.text(rows)
    }

    private static func text(_ rows: [(name: String, value: String)]) -> TerminalText {
        rows.map { row -> TerminalText in
            let name = row.name.isEmpty ? "" : "\(row.name):"
            return "\(name)\(TerminalText.spaces(13 - name.count))\(row.value)\n"
        }.joined()
    }

    private var passcodeText: String {
        let isShared = KeychainStatus.Mode(rawValue: mode)?.isShared == true
        let state = isShared ? lock : "\(lock) in this process"
        return "set, \(state)\(delay > 0 ? "; after wrong passcodes, none is checked for \(delay) s" : "")"
    }

    private var deviceKeyText: String {
        guard let deviceKey else { return "in memory" }
        return root == KeychainStatus.Root.tpm.rawValue
            ? "\(deviceKey), sealed by the TPM" : "\(deviceKey), a file: a program that can read both files has the key"
    }

    private var enclaveText: String {
        switch enclave {
        case EnclaveKind.tpm.shortName?: "Secure Enclave: the TPM"
        case EnclaveKind.software.shortName?: "Secure Enclave: software, in latchkeyd's memory; there is no TPM"
        default: "no Secure Enclave: there is no TPM"
        }
    }

    private var recoveryText: String {
        guard recoveryKey else { return "no recovery key" }
        guard itemsWithoutRecovery > 0 else { return "there is a recovery key" }
        let items = itemsWithoutRecovery == 1 ? "1 item" : "\(itemsWithoutRecovery) items"
        return "the recovery key is too old for \(items) with an access control"
    }

    private var modeText: String {
        switch KeychainStatus.Mode(rawValue: mode) {
        // Other programs do not link the code that a TPM needs.
        case .embedded where root == KeychainStatus.Root.tpm.rawValue:
            "embedded: latchkey opens the database itself; other programs need latchkeyd for the TPM"
        case .embedded: "embedded: every program opens the database itself"
        case .ephemeral, nil: "ephemeral"
        case .user: "user: through this user's latchkeyd"
        case .system: "system: through the machine's latchkeyd, the only reader of the database"
        case .session: "session: through a process that unlocked it for its children"
        }
    }

    private var identityText: String {
        let claimed = "claimed: programs of the same user are kept apart by policy, not by proof"
        guard identity != AccessGroup.Grade.claimed.description else { return claimed }
        return "attested where the administrator's entitlements name a user, unit or domain; otherwise \(claimed)"
    }

    private var closedClassesText: String {
        let closed = ProtectionClass.allCases.map(\.name).filter { !openClasses.contains($0) }
        return closed.isEmpty ? "" : "closed: \(closed.joined(separator: ", "))"
    }
}

extension KeychainOverview {
    /// The keychains, for the report.
    var reports: [StatusReport.Place] {
        places.map { place in
            StatusReport.Place(
                name: place.name.text, path: place.path,
                searched: list.search.firstIndex(of: place.name).map { $0 + 1 },
                isDefault: list.defaultKeychain == place.name)
        }
    }
}
