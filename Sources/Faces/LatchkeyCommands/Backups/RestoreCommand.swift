// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey restore`.
struct RestoreCommand: OwnParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OwnCommand.restore.rawValue, abstract: OwnCommand.restore.abstract,
        discussion: """
            Without --merge, everything that is in the keychain is deleted first. With it, the newer of two items with the same key attributes
            stays. A wrong passphrase, or a damaged file, changes nothing.

            EXAMPLES:
              latchkey restore --dry-run ~/keychain.latchkey
              latchkey restore --merge ~/keychain.latchkey
            """)

    @Argument(help: "The backup.")
    var file: String

    @Flag(help: "Keep what is in the keychain.")
    var merge = false

    @Flag(name: [.customShort("n"), .long], help: "Only say what would happen.")
    var dryRun = false

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var passcode: PasscodeOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let code = try passcode.required(by: keychain, in: session)
        let phrase = try CommandFailure.naming(nil) { () throws(KeychainError) in
            try passphrase.source.read("passphrase of the backup: ", in: session)
        }
        let progress = ProgressLine("items", io: session.io)
        let (path, merges, isRehearsal) = (file, merge, dryRun)
        let report = try CommandFailure.naming(nil) { () throws(KeychainError) in
            defer { progress.clear() }
            return try BackupFile.read(path) { (source) throws(KeychainError) in
                try keychain.restore(under: phrase, passcode: code, merges: merges, isRehearsal: isRehearsal, from: source) { done, _ in
                    progress.show(done)
                }
            }
        }
        let text = RestoreText(report, isRehearsal: dryRun)
        try session.write(json ? try JSONText.of(text) : text.text)
    }
}

/// What `latchkey restore` tells, in the shape of its JSON.
struct RestoreText: Encodable {
    var dryRun: Bool
    var items: Int
    var added: Int
    var replaced: Int
    var kept: Int
    var foreign: Int
    var deleted: Int

    init(_ report: RestoreReport, isRehearsal: Bool) {
        dryRun = isRehearsal
        items = report.items
        added = report.added
        replaced = report.replaced
        kept = report.kept
        foreign = report.foreign
        deleted = report.deleted
    }

    var text: TerminalText {
        var lines: [TerminalText] = dryRun ? ["Nothing was changed. A restore would do this:"] : []
        lines.append("added:     \(added)")
        if replaced > 0 { lines.append("replaced:  \(replaced) older ones") }
        if kept > 0 { lines.append("left out:  \(kept), because the ones here are newer") }
        if foreign > 0 { lines.append("left out:  \(foreign), because they may be restored on their own device only") }
        if deleted > 0 { lines.append("deleted:   \(deleted) that were here") }
        return lines.joined(separator: "\n") + "\n"
    }
}
