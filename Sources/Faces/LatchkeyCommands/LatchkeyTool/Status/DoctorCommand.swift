// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey doctor`.
struct DoctorCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.doctor.rawValue,
        abstract: LatchkeySubcommand.doctor.abstract,
        discussion: """
            Checks permissions, tables, every item, the device key and the free space, and exits with 1 if something \
            is wrong. Protected files, and directories that contain them, are checked if they are named: those with a \
            damaged header are listed, and none is opened. Of a keychain that cannot be opened, for example because \
            the TPM was cleared, it shows the way back to the items, step by step. Without --repair and \
            --empty-quarantine it changes nothing, and it creates no keychain. --report prints facts to send with a \
            question: versions, modes, counts and results, and no secret, name, path, user or host. LATCHKEY_LOG=debug \
            makes any command write its steps to standard error, with the same limits.

            --build reads no keychain, but the symbols of executables: it lists the calls of Foundation that do not \
            protect, because the program is not linked with LatchkeyRedirections. Of a debug build it also lists calls \
            that the program does not make.

            EXAMPLES:
              latchkey doctor
              latchkey doctor --json | jq '.findings[] | select(.healthy | not)'
              latchkey doctor --passcode-file ~/.passcode
              latchkey doctor --repair --dry-run
              latchkey doctor --repair
              latchkey doctor ~/Documents
              latchkey doctor --upgrade-check
              latchkey doctor --report > report.txt
              latchkey doctor --build .build/release/app
            """)

    @Argument(
        help: ArgumentHelp(
            "Protected files and directories to check as well; with --build, executables.", valueName: "file"),
        completion: .file())
    var paths: [FilePath] = []

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(
        name: .customLong("report"), help: "Print a report for a question, without secrets, names and paths.")
    var isForOthers = false

    @Flag(help: "Show the formats of the keychain's files, and whether this version converts them. Opens nothing.")
    var upgradeCheck = false

    @Flag(help: "Check which calls of Foundation in executables are redirected. Opens no keychain.")
    var build = false

    @Flag(help: "Move items that cannot be opened to quarantine, where no search finds them. They are not deleted.")
    var repair = false

    @Flag(help: "Permanently delete the items in quarantine.")
    var emptyQuarantine = false

    @Flag(name: [.customShort("n"), .long], help: "With --repair or --empty-quarantine: only show the changes.")
    var dryRun = false

    @OptionGroup var passcode: PasscodeOptions

    func validate() throws {
        if dryRun, !repair, !emptyQuarantine {
            throw ValidationError("--dry-run requires --repair or --empty-quarantine")
        }
        let uses = [isForOthers, upgradeCheck, build, repair || emptyQuarantine].filter { $0 }
        guard uses.count <= 1 else {
            throw ValidationError(
                "--report, --upgrade-check, --build, and --repair with --empty-quarantine exclude each other")
        }
        if build, paths.isEmpty {
            throw ValidationError("--build requires an executable: latchkey doctor --build FILE")
        }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        guard actions.isEmpty || dryRun else { return try check(in: session) }
        try KeychainClient.inspecting { () throws(CommandFailure) in try check(in: session) }
    }

    private func check(in session: CommandSession) throws(CommandFailure) {
        if upgradeCheck { return try checkUpgrade(in: session) }
        if isForOthers { return try writeReport(in: session) }
        if build { return try finish(DoctorReport(BuildCheck(paths).findings), in: session) }
        do throws(CommandFailure) {
            try unlockIfNamed(in: session)
            for action in actions { try perform(action, in: session) }
        } catch {
            // The report says why a keychain does not open; other failures are those of the options.
            let findings = Self.findings(in: session) + fileFindings
            guard findings.contains(where: { $0.subject == "keychain" && !$0.isHealthy }) else { throw error }
            try write(DoctorReport(findings), in: session)
            throw .reported(1)
        }
        try finish(DoctorReport(Self.findings(in: session) + fileFindings + Self.desktopFindings), in: session)
    }

    /// Writes the report, and fails if something is wrong.
    private func finish(_ report: DoctorReport, in session: CommandSession) throws(CommandFailure) {
        try write(report, in: session)
        guard report.healthy else { throw .reported(1) }
    }

    private func write(_ report: DoctorReport, in session: CommandSession) throws(CommandFailure) {
        try session.write(json ? try JSONText.of(report) : report.text)
    }

    /// Writes the report. It is made to be sent, so the command succeeds with any content.
    private func writeReport(in session: CommandSession) throws(CommandFailure) {
        try? unlockIfNamed(in: session)
        let report = DiagnosticReport(Self.findings(in: session))
        try session.write(json ? try JSONText.of(report) : report.text)
    }

    private func checkUpgrade(in session: CommandSession) throws(CommandFailure) {
        let report = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try UpgradeReport.read() }
        try session.write(json ? try JSONText.of(report) : report.text)
        guard report.readable else { throw .reported(1) }
    }

    /// Unlocks the keychain if a passcode is given, so that locked items are checked as well.
    private func unlockIfNamed(in session: CommandSession) throws(CommandFailure) {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            guard let named = try passcode.source.named(), try KeychainClient.missingHome() == nil else { return }
            try KeychainClient.session().unlock(named) { _, _ in }
        }
    }

    private var actions: [RepairAction] {
        (repair ? [.moveDamaged] : []) + (emptyQuarantine ? [.emptyQuarantine] : [])
    }

    private func perform(_ action: RepairAction, in session: CommandSession) throws(CommandFailure) {
        let dryRun = self.dryRun
        let progress = ProgressLine("items checked", io: session.io)
        let count = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            defer { progress.clear() }
            return try KeychainClient.session().repair(action, dryRun: dryRun) { progress.show($0) }
        }
        let items = count == 1 ? "1 item" : "\(count) items"
        // The result goes to standard error, so that standard output contains only the report.
        switch action {
        case .moveDamaged: session.io.say("latchkey: \(items) \(dryRun ? "would be " : "")moved to quarantine\n")
        case .emptyQuarantine:
            session.io.say("latchkey: \(items) \(dryRun ? "would be " : "")deleted from quarantine\n")
        }
    }

    /// The finding about the session bus: another Secret Service is no fault. None without a session bus.
    private static var desktopFindings: [KeychainFinding] {
        guard let found = SecretServiceStatus.current() else { return [] }
        return [KeychainFinding("secret service", isHealthy: true, detail: found.text, hint: found.hint)]
    }

    /// The finding about the protected files that were named; none without.
    private var fileFindings: [KeychainFinding] { paths.isEmpty ? [] : [ProtectedFileCheck(paths).finding] }

    /// Returns the findings about the user's other keychains, each with the name of the keychain.
    private static func otherFindings(_ progress: ProgressLine) throws(KeychainError) -> [KeychainFinding] {
        guard try KeychainClient.selectedName() == nil else { return [] }
        let overview = try KeychainClient.registry().keychains()
        var findings: [KeychainFinding] = []
        for place in overview.places where place.name != overview.list.defaultKeychain {
            do throws(KeychainError) {
                let found = try KeychainClient.session(named: place.name).check { progress.show($0) }
                for var finding in found {
                    finding.subject = "\(place.name): \(finding.subject)"
                    findings.append(finding)
                }
            } catch {
                findings.append(
                    KeychainFinding(
                        "\(place.name): keychain", isHealthy: false, detail: error.problem, hint: error.hint))
            }
        }
        return findings
    }

    /// Returns the finding about keychains that no command shows, because their file was removed; none without.
    private static func withoutFileFindings() throws(KeychainError) -> [KeychainFinding] {
        let paths = try KeychainClient.keychainsWithoutFile().map(\.text)
        guard !paths.isEmpty else { return [] }
        let keychains = paths.count == 1 ? "the file of 1 keychain was" : "the files of \(paths.count) keychains were"
        return [
            KeychainFinding(
                "keychain files", isHealthy: true, detail: "\(keychains) removed; no command shows their items",
                hint: "to delete them: security delete-keychain \(paths.map(\.shellQuoted).joined(separator: " "))")
        ]
    }

    /// Returns the findings. A keychain that cannot be opened or does not exist yet is also a
    /// finding.
    private static func findings(in session: CommandSession) -> [KeychainFinding] {
        let progress = ProgressLine("items checked", io: session.io)
        defer { progress.clear() }
        do throws(KeychainError) {
            if let home = try KeychainClient.missingHome() {
                let (missing, parents) = ("none yet at \(home.databasePath)", home.checkParents())
                guard parents.isHealthy else {
                    return [KeychainFinding("keychain", isHealthy: true, detail: missing), parents]
                }
                let finding = KeychainFinding(
                    "keychain", isHealthy: true, detail: "\(missing); it is created on first use")
                return try [finding] + otherFindings(progress) + withoutFileFindings()
            }
            return try KeychainClient.check { progress.show($0) } + otherFindings(progress) + withoutFileFindings()
        } catch {
            return [KeychainFinding("keychain", isHealthy: false, detail: error.problem, hint: error.hint)]
        }
    }
}
