// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyCommands
internal import LatchkeyOperations
internal import LinuxSystem
internal import SecretScan

/// `latchkey lint`.
struct LintScan: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Find secrets that lie in the clear in files.",
        discussion: """
            Reads files and folders, and names private keys, tokens, passwords in URLs, command lines and files of \
            passwords, and values that have a secret's name. It looks into property lists, SQLite databases, archives \
            (zip, tar, gzip), and into base64, hexadecimal digits, percent-encoding and UTF-16, in each other. It shows at \
            most both ends of a secret, and changes no file without --migrate. Symbolic links are not followed. Of .git it \
            reads the configuration; --history reads every version of every file in a repository.

            --migrate moves secrets into items of the keychain and leaves references. It shows the changes, and asks. Only \
            whole values in configuration and histories move, none in code, in encodings and in documents in a file. \
            Programs that read the file must understand the references.

            Exits with 0 if nothing was found, 1 if something was found, and 2 if something could not be scanned, \
            whether or not something was found.

            EXAMPLES:
              latchkey lint ~/.config Sources
              latchkey lint --against-keychain ~/.bash_history ~/.config
              latchkey lint --staged
              latchkey lint --history --json . | jq '.findings[].file'
              latchkey lint --write-baseline lint.json . && latchkey lint --baseline lint.json .
              latchkey lint --sarif . > results.sarif
              latchkey lint --migrate --dry-run ~/src/app/.env
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print SARIF 2.1.0, for code scanning.")
    var sarif = false

    @Flag(help: "Scan what the next commit contains, instead of files.")
    var staged = false

    @Flag(help: "Scan every object of the repository, also those that no branch reaches.")
    var history = false

    @Flag(help: "Also find exact copies of the secrets in your keychain. Needs its passcode, as an export does.")
    var againstKeychain = false

    @OptionGroup var migration: MigrationOptions

    @OptionGroup var passcode: PasscodeOptions

    @Option(
        help: ArgumentHelp("Leave out the findings of a file that --write-baseline has written.", valueName: "file"))
    var baseline: FilePath?

    @Option(
        help: ArgumentHelp(
            "Paths and rules to leave out; the default is .latchkeylint.yaml, if it exists.", valueName: "file"))
    var config: FilePath?

    @Option(help: ArgumentHelp("Write the findings to a new file, and exit with 0.", valueName: "file"))
    var writeBaseline: FilePath?

    @Argument(
        help: "Files and folders; with --staged and --history a repository, by default that of the current directory.",
        completion: .file())
    var paths: [FilePath] = []

    func validate() throws {
        if json && sarif { throw ValidationError("--json and --sarif exclude each other") }
        if staged && history { throw ValidationError("--staged and --history exclude each other") }
        if (staged || history) && paths.count > 1 {
            throw ValidationError("--staged and --history take one repository")
        }
        if migration.migrate, sarif || staged || history || againstKeychain || writeBaseline != nil {
            throw ValidationError(
                "--migrate excludes --sarif, --staged, --history, --against-keychain and --write-baseline")
        }
        if !staged && !history && paths.isEmpty { throw ValidationError("expected a file or folder") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let known = try baseline.map { (path) throws(CommandFailure) in try LintBaseline(reading: path) }
        let configuration = try LintConfiguration.read(config)
        var report = LintReport(known: known, configuration)
        let copies = try againstKeychain ? copySearch(in: session) : nil
        let progress = ProgressLine("files", io: session.io)
        try source(configuration, FileScanner(observer: copies?.observer)).forEachReport { next in
            report.add(next)
            progress.show(report.files)
        }
        progress.clear()
        if migration.migrate { return try migrate(report, in: session) }
        if let copies { report.add(copies.finish()) }
        if let writeBaseline {
            try LintBaseline(report.findings).write(to: writeBaseline)
            session.io.say("wrote \(LintReport.count(report.findings.count, "finding")) to \(writeBaseline)\n")
            if report.problems.isEmpty { return }
        }
        try session.write(try text(of: report))
        if !json && !sarif { session.io.say(report.summary) }
        if report.exitValue != 0 { throw .reported(report.exitValue) }
    }

    private func migrate(_ findings: LintReport, in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let run = try LintMigration(findings, migration, session.keychain())
        // Before the question, also where standard output has JSON.
        if json { session.io.say(run.report.text) } else { try session.write(run.report.text) }
        let report = try run.run(in: session)
        if json { try session.write(JSONText.of(report.json)) } else { session.io.say(report.summary) }
        if report.exitValue != 0 { throw .reported(report.exitValue) }
    }

    private func copySearch(in session: CommandSession) throws(CommandFailure) -> CopySearch {
        let keychain = try session.keychain()
        let code = try passcode.required(by: keychain, in: session)
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            // Without a daemon, the keychain of each new process is locked.
            if let code, try keychain.status().mode == .embedded { try keychain.unlock(code) { _, _ in } }
        }
        return try CopySearch(keychain, passcode: code)
    }

    private func source(_ configuration: LintConfiguration, _ scanner: FileScanner) -> any LintSource {
        let first = paths.first ?? "."
        if staged { return StagedFiles(repository: first, configuration: configuration, scanner: scanner) }
        if history { return RepositoryObjects(repository: first, configuration: configuration, scanner: scanner) }
        return TreeFiles(
            paths: paths, configuration: configuration, scanner: scanner, removesDrafts: migration.moves)
    }

    private func text(of report: LintReport) throws(CommandFailure) -> TerminalText {
        if json { return try JSONText.of(report.json) }
        if sarif { return try JSONText.of(SARIFReport(report)) }
        return report.text
    }
}
