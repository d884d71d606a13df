// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey restore`.
struct RestoreCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.restore.rawValue, abstract: LatchkeySubcommand.restore.abstract,
        discussion: """
            What is in the keychain stays: of two items with the same key attributes
            the newer one counts. With --replace, everything that is in the keychain
            is deleted first. A wrong passphrase or a damaged file changes nothing.

            EXAMPLES:
              latchkey restore --dry-run ~/keychain.latchkey
              latchkey restore ~/keychain.latchkey
              latchkey restore --replace --dry-run ~/keychain.latchkey
              latchkey restore --replace ~/keychain.latchkey
            """)

    @Argument(help: "The backup; - is standard input.")
    var file: String

    @Flag(help: "Keep what is in the keychain; this is the default.")
    var merge = false

    @Flag(help: "Delete what is in the keychain first. Asks before.")
    var replace = false

    @Flag(name: .shortAndLong, help: "Do not ask before --replace deletes.")
    var yes = false

    @Flag(name: [.customShort("n"), .long], help: "Only say what would happen.")
    var dryRun = false

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var passcode: PasscodeOptions

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if merge, replace { throw ValidationError("--merge and --replace exclude each other") }
        // Standard input can be read once, and a rehearsal comes before the question.
        if file == "-", replace, !yes, !dryRun {
            throw ValidationError("a backup on standard input is put in place only with --yes")
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

    /// Asks on the terminal whether what is in the keychain may be deleted.
    ///
    /// - Throws: errSecUserCanceled for any answer but `yes`, errSecParam where there is no terminal to ask on.
    private func confirm(_ report: RestoreReport, in session: CommandSession) throws(CommandFailure) {
        guard report.deleted > 0 else { return }
        let items = report.deleted == 1 ? "1 item" : "\(report.deleted) items"
        guard session.io.isInputInteractive else {
            throw .parameter(
                "--replace deletes \(items) of the keychain, and there is no terminal to ask on",
                hint:
                    "--dry-run shows what would happen, --yes does it without asking, and without --replace nothing is deleted"
            )
        }
        session.io.say(
            "latchkey: \(items) of the keychain will be deleted, and \(report.added) of the backup added. Go on? (yes/no) "
        )
        let answer = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try session.io.readLine() }
        guard answer == SharedSecret(copying: Array("yes".utf8)) else {
            throw .status(KeychainError(.userCanceled, "nothing was changed"))
        }
    }
}

/// One restore, which can be rehearsed.
private struct Restore {
    let file: String
    let passphrase: SharedSecret
    let passcode: SharedSecret?
    let merges: Bool
    let keychain: any KeychainService
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

/// What `latchkey restore` tells, in the shape of its JSON.
struct RestoreCommandReport: Encodable {
    var dryRun: Bool
    var items: Int
    var added: Int
    var replaced: Int
    var kept: Int
    var foreign: Int
    var deleted: Int
    var refused: Int
    /// Why, each reason once.
    var refusals: [String]

    init(_ report: RestoreReport, dryRun: Bool) {
        self.dryRun = dryRun
        items = report.items
        added = report.added
        replaced = report.replaced
        kept = report.kept
        foreign = report.foreign
        deleted = report.deleted
        refused = report.refused
        refusals = report.refusals
    }

    var text: TerminalText {
        var lines: [TerminalText] = dryRun ? ["Nothing was changed. A restore would do this:"] : []
        lines.append("added:     \(added)")
        if replaced > 0 { lines.append("replaced:  \(replaced) older ones") }
        if kept > 0 { lines.append("left out:  \(kept), because the ones here are newer") }
        if foreign > 0 { lines.append("left out:  \(foreign), because they may be restored on their own device only") }
        if refused > 0 {
            lines.append("refused:   \(refused) that no program could have stored here")
            for reason in refusals { lines.append("           \(reason)") }
        }
        if deleted > 0 { lines.append("deleted:   \(deleted) that were here") }
        return lines.joined(separator: "\n") + "\n"
    }
}
