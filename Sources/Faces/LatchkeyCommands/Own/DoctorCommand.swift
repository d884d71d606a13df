// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey doctor`.
struct DoctorCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.doctor.rawValue,
        abstract: LatchkeySubcommand.doctor.abstract,
        discussion: """
            Looks at permissions, tables, every item and the free space, and exits with 1 when something is wrong. Without the options below it
            changes nothing, and makes no keychain where there is none.

            EXAMPLES:
              latchkey doctor
              latchkey doctor --json | jq '.findings[] | select(.healthy | not)'
              latchkey doctor --passcode-file ~/.passcode
              latchkey doctor --repair --dry-run
              latchkey doctor --repair
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Move the items that do not open to quarantine, where no search meets them. They are not deleted.")
    var repair = false

    @Flag(help: "Delete what lies in quarantine, for ever.")
    var emptyQuarantine = false

    @Flag(name: [.customShort("n"), .long], help: "With --repair or --empty-quarantine: only say what would be done.")
    var dryRun = false

    @OptionGroup var passcode: PasscodeOptions

    func validate() throws {
        if dryRun, !repair, !emptyQuarantine {
            throw ValidationError("--dry-run goes with --repair or --empty-quarantine: without them nothing is changed")
        }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        try unlockIfNamed(in: session)
        for action in actions { try perform(action, in: session) }
        let report = DoctorReport(Self.findings(in: session))
        try session.write(json ? try JSONText.of(report) : report.text)
        guard report.healthy else { throw .reported(1) }
    }

    /// What is locked is looked into as well, where a passcode is named.
    private func unlockIfNamed(in session: CommandSession) throws(CommandFailure) {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            guard let named = try passcode.source.named(), try KeychainClient.missingHome() == nil else { return }
            try KeychainClient.service().unlock(named) { _, _ in }
        }
    }

    private var actions: [RepairAction] {
        (repair ? [.moveDamaged] : []) + (emptyQuarantine ? [.emptyQuarantine] : [])
    }

    private func perform(_ action: RepairAction, in session: CommandSession) throws(CommandFailure) {
        let dryRun = self.dryRun
        let progress = ProgressLine("items looked at", io: session.io)
        let count = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            defer { progress.clear() }
            return try KeychainClient.service().repair(action, dryRun: dryRun) { progress.show($0) }
        }
        let items = count == 1 ? "1 item" : "\(count) items"
        // On standard error, so that the report stays what a script expects.
        switch action {
        case .moveDamaged: session.io.say("latchkey: \(items) \(dryRun ? "would be " : "")moved to quarantine\n")
        case .emptyQuarantine:
            session.io.say("latchkey: \(items) \(dryRun ? "would be " : "")deleted from quarantine\n")
        }
    }

    /// A keychain that cannot even be opened is a finding like any other, and so is one that is not there yet.
    private static func findings(in session: CommandSession) -> [KeychainFinding] {
        let progress = ProgressLine("items looked at", io: session.io)
        defer { progress.clear() }
        do throws(KeychainError) {
            if let home = try KeychainClient.missingHome() {
                let (missing, parents) = ("there is none yet at \(home.databasePath)", home.checkParents())
                guard parents.isHealthy else {
                    return [KeychainFinding("keychain", isHealthy: true, detail: missing), parents]
                }
                return [KeychainFinding("keychain", isHealthy: true, detail: "\(missing); the first use makes it")]
            }
            return try KeychainClient.service().check { progress.show($0) }
        } catch {
            return [KeychainFinding("keychain", isHealthy: false, detail: error.problem, hint: error.hint)]
        }
    }
}
