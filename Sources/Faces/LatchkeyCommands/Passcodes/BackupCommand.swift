// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import SecretMemory

/// The options that say where the passphrase of a backup is.
struct PassphraseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Take the backup's passphrase from the first line of this file (mode 0600).", valueName: "file"))
    var passphraseFile: String?

    @Option(help: ArgumentHelp("Take the backup's passphrase from this file descriptor.", valueName: "number"))
    var passphraseFd: Int32?

    func validate() throws {
        if passphraseFile != nil, passphraseFd != nil {
            throw ValidationError("--passphrase-file and --passphrase-fd exclude each other")
        }
    }

    var source: PasscodeSource {
        PasscodeSource(file: passphraseFile, descriptor: passphraseFd, fileOption: "--passphrase-file", usesEnvironment: false)
    }
}

/// `latchkey backup`.
struct BackupCommand: OwnParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OwnCommand.backup.rawValue, abstract: OwnCommand.backup.abstract,
        discussion: """
            The file is encrypted under a passphrase of its own. Items of the ThisDeviceOnly classes can be restored on this device only; those
            of whenPasscodeSetThisDeviceOnly are left out.

            EXAMPLES:
              latchkey backup ~/keychain.latchkey
              latchkey backup --passphrase-file ~/.passphrase --passcode-file ~/.passcode /media/stick/keychain.latchkey
            """)

    @Argument(help: "The file to write. It must not exist, unless --force is given.")
    var file: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var passcode: PasscodeOptions

    @Flag(help: "Replace the file where there is one.")
    var force = false

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let code = try passcode.required(by: keychain, in: session)
        let phrase = try passphrase.source.readNew("passphrase for the backup: ", in: session)
        PasscodeAdvice.give(on: phrase, in: session)
        let progress = ProgressLine("items", io: session.io)
        let (path, replaces) = (file, force)
        let report = try CommandFailure.naming(nil) { () throws(KeychainError) in
            defer { progress.clear() }
            return try BackupFile.write(path, replaces: replaces) { (sink) throws(KeychainError) in
                try keychain.backup(under: phrase, passcode: code, to: sink) { progress.show($0, of: $1) }
            }
        }
        keychain.noteBackup()
        try session.write(json ? try JSONText.of(BackupText(report)) : BackupText(report).text)
    }
}

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

extension PasscodeOptions {
    /// The keychain's passcode, where it has one.
    func required(by keychain: any KeychainService, in session: CommandSession) throws(CommandFailure) -> SharedSecret? {
        try CommandFailure.naming(nil) { () throws(KeychainError) in
            try keychain.lockStatus().hasPasscode ? try source.read("passcode of the keychain: ", in: session) : nil
        }
    }
}

/// What `latchkey backup` tells, in the shape of its JSON.
struct BackupText: Encodable {
    var items: Int
    var portable: Int
    var deviceBound: Int
    var leftOut: Int
    var damaged: Int

    init(_ report: BackupReport) {
        portable = report.portable
        deviceBound = report.deviceBound
        items = portable + deviceBound
        leftOut = report.staying
        damaged = report.damaged
    }

    var text: String {
        var lines = ["saved:        \(items), of which \(deviceBound) can be restored on this device only"]
        if leftOut > 0 { lines.append("left out:     \(leftOut) that exist only while a passcode is set") }
        if damaged > 0 { lines.append("damaged:      \(damaged), left out; see latchkey doctor") }
        return lines.joined(separator: "\n") + "\n"
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

    var text: String {
        var lines = dryRun ? ["Nothing was changed. A restore would do this:"] : []
        lines.append("added:     \(added)")
        if replaced > 0 { lines.append("replaced:  \(replaced) older ones") }
        if kept > 0 { lines.append("left out:  \(kept), because the ones here are newer") }
        if foreign > 0 { lines.append("left out:  \(foreign), because they may be restored on their own device only") }
        if deleted > 0 { lines.append("deleted:   \(deleted) that were here") }
        return lines.joined(separator: "\n") + "\n"
    }
}
