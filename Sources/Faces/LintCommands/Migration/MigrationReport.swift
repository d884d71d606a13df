// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyCommands
internal import LinuxSystem
internal import SecretScan

/// The secrets that a migration moves or has moved, and the findings that stay.
struct MigrationReport {
    private let plan: MigrationPlan
    private let leaves: MigrationOptions.Rest
    /// The files that were not changed.
    private var failed: Set<FilePath> = []
    private(set) var problems: [ScanProblem]
    /// Whether the moves were made, or are only planned.
    var isDone = false

    init(_ plan: MigrationPlan, leaves: MigrationOptions.Rest) {
        (self.plan, self.leaves, problems) = (plan, leaves, plan.problems)
    }

    mutating func add(failure reason: String, of file: MigrationPlan.File) {
        failed.insert(file.path)
        problems.append(ScanProblem(names: [file.name], reason: reason))
    }

    private var files: [MigrationPlan.File] { plan.files.filter { !failed.contains($0.path) } }
    private var values: [MigrationPlan.Value] { files.flatMap(\.values) }

    /// 0, 1 for findings that stay, 2 if something was not scanned or not moved.
    var exitValue: Int32 { problems.isEmpty ? plan.staying.isEmpty ? 0 : 1 : 2 }

    // MARK: Text

    /// A line for each finding.
    var text: TerminalText {
        values.map { value -> TerminalText in
            "\(LintReport.line(value.finding)) -> \(TerminalText(value.reference.text, maxLength: 400))\n"
        }.joined()
            + plan.staying.map { "\(LintReport.line($0.finding)) stays: \(TerminalText($0.reason, maxLength: 200))\n" }
            .joined()
    }

    /// The problems and the counts, for standard error.
    var summary: TerminalText {
        let secrets = LintReport.count(values.count, "secret") + " of " + LintReport.count(files.count, "file")
        let left: TerminalText = plan.staying.isEmpty ? "" : ", and \(plan.staying.count) left where they are"
        return LintReport.lines(problems, verb: "not moved")
            + "\(secrets) \(isDone ? "" : "would be ")moved into the keychain\(left)\n"
            + (isDone && !values.isEmpty ? Self.traces : "")
    }

    private static let traces: TerminalText = """
        The old files can still be in backups, snapshots and the history of a repository: change the secrets that others \
        may have seen.

        """

    // MARK: JSON

    /// The shape of `--json`.
    struct JSON: Encodable {
        struct Moved: Encodable {
            let finding: LintReport.JSON.Finding
            let service: String
            let account: String
            /// The text in the place of the secret; empty for nothing.
            let replacement: String
        }

        struct Staying: Encodable {
            let finding: LintReport.JSON.Finding
            let reason: String
        }

        let dryRun: Bool
        let moved: [Moved]
        let staying: [Staying]
        let problems: [LintReport.JSON.Problem]
    }

    var json: JSON {
        JSON(
            dryRun: !isDone,
            moved: values.map { value in
                JSON.Moved(
                    finding: LintReport.JSON.Finding(value.finding), service: value.reference.service,
                    account: value.reference.account,
                    replacement: leaves == .nothing ? "" : value.reference.text)
            },
            staying: plan.staying.map {
                JSON.Staying(finding: LintReport.JSON.Finding($0.finding), reason: $0.reason)
            },
            problems: problems.map(LintReport.JSON.Problem.init))
    }
}
