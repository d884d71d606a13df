// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey root`.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.root.rawValue, abstract: LatchkeySubcommand.root.abstract,
        discussion: """
            The device key opens every item that needs no passcode, and is part of what opens the others. In a file, \
            it is in every copy of the disk. In the TPM, it stays on this machine: if the TPM is cleared or replaced, \
            only the recovery key or a backup helps. The keychain never uses another device key than the one that it \
            records.

            EXAMPLES:
              latchkey root show --json
              latchkey root tpm --dry-run
              latchkey root tpm
            """,
        subcommands: [Show.self, ToTPM.self, ToFile.self])

    /// `latchkey root show`.
    struct Show: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show where the device key is.",
            discussion: """
                EXAMPLES:
                  latchkey root show
                  latchkey root show --json
                """)

        @Flag(help: "Print JSON.")
        var json = false

        func run(in session: CommandSession) throws(CommandFailure) {
            let keychain = try session.keychain()
            let status = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.status() }
            let report = RootReport(status)
            try session.write(json ? try JSONText.of(report) : report.text)
        }
    }

    /// `latchkey root tpm`.
    struct ToTPM: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "tpm", abstract: "Move the device key to the TPM, and destroy its file.",
            discussion: """
                Afterwards only latchkeyd and this command open the keychain: programs cannot do it themselves. \
                Disks and backups can still have the file.

                EXAMPLES:
                  latchkey root tpm --dry-run
                  latchkey root tpm --passcode-file ~/.passcode
                """)

        @OptionGroup var move: RootMove

        func run(in session: CommandSession) throws(CommandFailure) { try move.run(to: .tpm, in: session) }
    }

    /// `latchkey root file`.
    struct ToFile: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "file", abstract: "Move the device key to a file of mode 0600.",
            discussion: """
                EXAMPLES:
                  latchkey root file --dry-run
                  latchkey root file
                """)

        @OptionGroup var move: RootMove

        func run(in session: CommandSession) throws(CommandFailure) { try move.run(to: .file, in: session) }
    }
}

/// The options of moves, and the move.
struct RootMove: ParsableArguments {
    @Flag(name: [.customShort("n"), .long], help: "Only check that the device key can be moved.")
    var dryRun = false

    @OptionGroup var passcode: PasscodeOptions

    func run(to root: KeychainStatus.Root, in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let (isMoved, lock) = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let lock = try keychain.lockStatus()
            let needsPasscode = lock.hasPasscode && !dryRun
            let code = needsPasscode ? try passcode.source.read("passcode: ", in: session) : nil
            return (try keychain.moveRoot(to: root, code, dryRun: dryRun), lock)
        }
        let place: TerminalText = root == .tpm ? "in the TPM" : "in a file"
        guard isMoved else { return session.io.say("latchkey: the device key is \(place) already\n") }
        session.io.say(
            dryRun
                ? "latchkey: the device key can be moved: it would be \(place)\n"
                : "latchkey: the device key is \(place)\n")
        guard root == .tpm, !lock.hasRecoveryKey else { return }
        session.io.say("latchkey: warning: without a recovery key, all items are lost if the TPM is cleared\n")
        session.io.say("hint: latchkey recovery-key create\n")
    }
}

/// Where the device key is, in the shape of its JSON.
struct RootReport: Encodable {
    /// `file`, `tpm`, `credential`, `memory`.
    var root: String
    var path: String?

    init(_ status: KeychainStatus) { (root, path) = (status.root.rawValue, status.deviceKeyPath) }

    var text: TerminalText {
        switch KeychainStatus.Root(rawValue: root) {
        case .tpm: "the device key is sealed by the TPM: \(path ?? "")\n"
        case .credential: "the device key is a credential of systemd: \(path ?? "")\n"
        case .file: "the device key is in a file: \(path ?? "")\n"
        case .memory, nil: "the device key is in memory\n"
        }
    }
}
