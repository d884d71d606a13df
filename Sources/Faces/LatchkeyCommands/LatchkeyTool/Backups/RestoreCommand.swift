// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey restore`.
struct RestoreCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.restore.rawValue, abstract: LatchkeySubcommand.restore.abstract,
        discussion: """
            Existing items stay: of two items with the same key attributes, the newer one is kept. With --replace, \
            all items of the keychain are deleted first. A wrong passphrase or a damaged file changes nothing.

            EXAMPLES:
              latchkey restore --dry-run ~/keychain.latchkey
              latchkey restore ~/keychain.latchkey
              latchkey restore --replace --dry-run ~/keychain.latchkey
              latchkey restore --replace ~/keychain.latchkey
            """)

    @Argument(help: "The backup; - is standard input.", completion: .file())
    var file: FilePath

    @Flag(help: "Keep the items of the keychain; this is the default.")
    var merge = false

    @Flag(help: "Delete the items of the keychain first, after confirmation.")
    var replace = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation before --replace deletes.")
    var yes = false

    @Flag(name: [.customShort("n"), .long], help: "Only show the changes.")
    var dryRun = false

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var passcode: PasscodeOptions

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if merge, replace { throw ValidationError("--merge and --replace exclude each other") }
        // Standard input can be read only once, and --replace runs a dry run before it asks.
        if file == "-", replace, !yes, !dryRun {
            throw ValidationError("--replace with a backup on standard input requires --yes")
        }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let code = try passcode.required(by: keychain, in: session)
        let phrase = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try passphrase.source.read("passphrase of the backup: ", in: session)
        }
        let restore = Restore(
            file: file, passphrase: phrase, passcode: code, merges: !replace, keychain: keychain, io: session.io)
        if replace, !yes, !dryRun { try confirm(try restore.run(dryRun: true), in: session) }
        let text = RestoreCommandReport(try restore.run(dryRun: dryRun), dryRun: dryRun)
        try session.write(json ? try JSONText.of(text) : text.text)
    }

    /// Asks on the terminal whether the items of the keychain may be deleted.
    ///
    /// - Throws: errSecUserCanceled for any answer but yes, errSecParam if there is no
    ///   terminal.
    private func confirm(_ report: RestoreReport, in session: CommandSession) throws(CommandFailure) {
        guard report.deleted > 0 else { return }
        let items = report.deleted == 1 ? "1 item" : "\(report.deleted) items"
        guard session.io.isInputInteractive else {
            throw .parameter(
                "--replace deletes \(items) of the keychain, but no terminal is available for confirmation",
                hint: "--dry-run shows the changes; --yes skips the question; without --replace all items stay"
            )
        }
        try session.confirm(
            "\(items) of the keychain will be deleted, and \(report.added) of the backup added. Continue?")
    }
}

/// One restore. It can also be a dry run.
private struct Restore {
    let file: FilePath
    let passphrase: SharedSecret
    let passcode: SharedSecret?
    let merges: Bool
    let keychain: KeychainSession
    let io: any CommandIO

    func run(dryRun: Bool) throws(CommandFailure) -> RestoreReport {
        let progress = ProgressLine("items", io: io)
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            defer { progress.clear() }
            return try BackupFile.read(file) { (source) throws(KeychainError) in
                try keychain.restore(
                    under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun, from: source
                ) { done, _ in progress.show(done) }
            }
        }
    }
}

/// The report of `latchkey restore`, in the shape of its JSON.
struct RestoreCommandReport: Encodable {
    var dryRun: Bool
    var items: Int
    var added: Int
    var replaced: Int
    var equal: Int
    var kept: Int
    var foreign: Int
    var deleted: Int
    var refused: Int
    var files: Int
    /// The reasons, each one once.
    var refusals: [String]

    init(_ report: RestoreReport, dryRun: Bool) {
        self.dryRun = dryRun
        items = report.items
        added = report.added
        replaced = report.replaced
        equal = report.equal
        kept = report.kept
        foreign = report.foreign
        deleted = report.deleted
        refused = report.refused
        files = report.files
        refusals = report.refusals
    }

    var text: TerminalText {
        var lines: [TerminalText] = dryRun ? ["Nothing was changed. A restore would do this:"] : []
        lines.append("added:     \(added)")
        if files > 0 { lines.append("files:     \(files)") }
        if replaced > 0 { lines.append("replaced:  \(replaced) older ones") }
        if equal > 0 { lines.append("equal:     \(equal), already in the keychain") }
        if kept > 0 { lines.append("left out:  \(kept), because the existing ones are newer") }
        if foreign > 0 { lines.append("left out:  \(foreign), because they may be restored on their own device only") }
        if refused > 0 {
            lines.append("refused:   \(refused) that are not valid items")
            for reason in refusals { lines.append("           \(reason)") }
        }
        if deleted > 0 { lines.append("deleted:   \(deleted) that existed") }
        return lines.joined(separator: "\n") + "\n"
    }
}
