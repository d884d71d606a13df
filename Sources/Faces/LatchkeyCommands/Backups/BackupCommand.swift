// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

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

    var text: TerminalText {
        var lines: [TerminalText] = ["saved:        \(items), of which \(deviceBound) can be restored on this device only"]
        if leftOut > 0 { lines.append("left out:     \(leftOut) that exist only while a passcode is set") }
        if damaged > 0 { lines.append("damaged:      \(damaged), left out; see latchkey doctor") }
        return lines.joined(separator: "\n") + "\n"
    }
}
