// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyCommands
internal import LinuxSystem
internal import SecretMemory

/// `latchkey lint --migrate`: moves secrets of files into the keychain.
///
/// An item is stored durably before a file loses its secret: a migration that is killed leaves each file as it was or as
/// it will be, and never a secret that is nowhere. A second one finds the items of the first.
struct LintMigration {
    private let options: MigrationOptions
    private let items: MigratedItems
    private let plan: MigrationPlan

    init(_ report: LintReport, _ options: MigrationOptions, _ keychain: KeychainSession) throws(CommandFailure) {
        self.options = options
        var items = MigratedItems(keychain)
        plan = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try MigrationPlan(report, service: options.service, &items)
        }
        self.items = items
    }

    /// The report before the moves.
    var report: MigrationReport { MigrationReport(plan, leaves: options.rest) }

    /// Asks, and moves the secrets.
    func run(in session: CommandSession) throws(CommandFailure) -> MigrationReport {
        var report = report
        guard !options.dryRun, !plan.files.isEmpty else { return report }
        if !options.yes { try confirm(in: session) }
        report.isDone = true
        for file in plan.files {
            do throws(KeychainError) { try move(file) } catch {
                report.add(failure: "\(error.description); items that were stored stay in the keychain", of: file)
            }
        }
        return report
    }

    private func confirm(in session: CommandSession) throws(CommandFailure) {
        let files = LintReport.count(plan.files.count, "file")
        guard session.io.isInputInteractive else {
            throw .parameter(
                "--migrate changes \(files), but no terminal is available for confirmation",
                hint: "--dry-run shows the changes; --yes skips the question")
        }
        try session.confirm(
            "\(LintReport.count(plan.count, "secret")) of \(files) will be moved into the keychain. Continue?")
    }

    private func move(_ file: MigrationPlan.File) throws(KeychainError) {
        for value in file.values {
            try items.store(value.secret, as: value.reference, label: "\(value.reference.account) of \(file.name)")
        }
        try file.file.replace { (old) throws(KeychainError) in
            var (new, position) = ([UInt8](), 0)
            for value in file.values {
                guard value.range.upperBound <= old.count, value.secret == SharedSecret(copying: old[value.range])
                else {
                    throw .changedFile
                }
                new += old[position..<value.range.lowerBound]
                if options.rest == .reference { new += value.reference.text.utf8 }
                position = value.range.upperBound
            }
            return new + old[position...]
        }
    }
}
