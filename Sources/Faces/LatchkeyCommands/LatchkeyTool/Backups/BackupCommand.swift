// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey backup`.
struct BackupCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.backup.rawValue, abstract: LatchkeySubcommand.backup.abstract,
        discussion: """
            The file is encrypted with a passphrase of its own. Items of the ThisDeviceOnly classes can be restored on \
            this device only; those of whenPasscodeSetThisDeviceOnly are left out.

            Keys that are not extractable are saved if the keychain has a passcode, and the command asks for it; \
            otherwise they are left out, unless --include-non-extractable is given.

            EXAMPLES:
              latchkey backup ~/keychain.latchkey
              latchkey backup --include-files ~/keychain.latchkey
              latchkey backup --passphrase-file ~/.passphrase - > /media/stick/keychain
            """)

    @Argument(
        help: "The file to write. It must not exist, unless --force is given. - is standard output.",
        completion: .file())
    var file: FilePath

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var weak: AllowWeakOption

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(help: "Also save keys that are not extractable.")
    var includeNonExtractable = false

    @Flag(help: "Also save the files that items stand for; see 'latchkey protect move --help'.")
    var includeFiles = false

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        guard file != "-" || !session.io.isOutputInteractive else {
            throw .parameter(
                "a backup is not text, and standard output is a terminal", hint: "latchkey backup - > FILE")
        }
        let keychain = try session.keychain()
        let code = try passcode.required(by: keychain, in: session)
        let rawPassphrase = try passphrase.source.readNew("passphrase for the backup: ", in: session)
        let phrase = try weak.require(rawPassphrase, noun: "passphrase", in: session)
        let text = BackupCommandReport(try write(keychain, phrase, code, session.io))
        keychain.recordBackup()
        let report = json ? try JSONText.of(text) : text.text
        // If the backup goes to standard output, the report goes to standard error.
        if file == "-" { session.io.say(report) } else { try session.write(report) }
    }

    private var contents: BackupContents {
        var contents: BackupContents = []
        if includeNonExtractable { contents.insert(.nonExtractableKeys) }
        if includeFiles { contents.insert(.files) }
        return contents
    }

    private func write(
        _ keychain: KeychainSession, _ phrase: SharedSecret, _ code: SharedSecret?, _ io: any CommandIO
    ) throws(CommandFailure) -> BackupReport {
        let progress = ProgressLine("items", io: io)
        let (path, replaces, contents) = (file, force, contents)
        let backup = { (sink: @escaping BackupSink) throws(KeychainError) in
            try keychain.backup(under: phrase, passcode: code, including: contents, to: sink) {
                progress.show($0, of: $1)
            }
        }
        return try KeyFileIO.hinting("--force replaces it") { () throws(KeychainError) in
            defer { progress.clear() }
            if path == "-" { return try backup { (bytes) throws(KeychainError) in try io.write(bytes, to: .output) } }
            return try BackupFile.write(path, replaces: replaces, backup)
        }
    }
}

/// The report of `latchkey backup`, in the shape of its JSON.
struct BackupCommandReport: Encodable {
    var items: Int
    var portable: Int
    var deviceBound: Int
    var leftOut: Int
    var damaged: Int
    var files: Int
    var missingFiles: Int
    var notExtractable: Int
    /// The names of the first ones.
    var notExtractableNames: [String]

    init(_ report: BackupReport) {
        portable = report.portable
        deviceBound = report.deviceBound
        items = portable + deviceBound
        leftOut = report.staying
        damaged = report.damaged
        files = report.files
        missingFiles = report.missingFiles
        notExtractable = report.notExtractable
        notExtractableNames = report.notExtractableNames
    }

    var text: TerminalText {
        var lines: [TerminalText] = [
            "saved:        \(items), \(deviceBound) of them for this device only"
        ]
        if files > 0 { lines.append("files:        \(files)") }
        if missingFiles > 0 { lines.append("missing:      \(missingFiles) files; their items are saved") }
        if leftOut > 0 { lines.append("left out:     \(leftOut) that exist only while a passcode is set") }
        if notExtractable > 0 {
            lines.append(
                "left out:     \(notExtractable) that are not extractable; set a passcode, or --include-non-extractable"
            )
            for name in notExtractableNames { lines.append("              \(name)") }
        }
        if damaged > 0 { lines.append("damaged:      \(damaged), left out; see latchkey doctor") }
        return lines.joined(separator: "\n") + "\n"
    }
}
