// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey passcode`.
struct PasscodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.passcode.rawValue,
        abstract: LatchkeySubcommand.passcode.abstract,
        discussion: """
            The passcode is prompted for on the terminal, or read from a line of standard input if that is not a \
            terminal, or from the source that --passcode-file, --passcode-fd, LATCHKEY_PASSCODE_FILE or systemd's \
            credential latchkey.passcode names. It is never an argument.

            EXAMPLES:
              latchkey passcode set
              latchkey passcode change --passcode-file old --new-passcode-file new
              latchkey passcode remove --dry-run
              latchkey passcode tie-to-login
            """,
        subcommands: [Set.self, Change.self, PasscodeRemove.self, PasscodeTie.self, PasscodeUntie.self])

    /// `latchkey passcode set`.
    struct Set: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Protect the keychain with a passcode.",
            discussion: """
                Re-encrypts every item that the passcode protects. If this is interrupted, the passcode is set, and \
                the next unlock continues. An existing recovery key becomes invalid.

                EXAMPLES:
                  latchkey passcode set
                  latchkey passcode set --passcode-file ~/.passcode
                """)

        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var weak: AllowWeakOption

        func run(in session: CommandSession) throws(CommandFailure) {
            let keychain = try session.keychain()
            let status = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.lockStatus() }
            guard !status.hasPasscode else {
                throw .status(KeychainError(.param, "a passcode is already set", hint: "latchkey passcode change"))
            }
            let new = try weak.require(try passcode.source.readNew("new passcode: ", in: session), in: session)
            let progress = ProgressLine("items re-encrypted", io: session.io)
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                defer { progress.clear() }
                try keychain.setPasscode(new) { progress.show($0, of: $1) }
            }
            session.io.say("latchkey: the passcode is set\n")
            if status.hasRecoveryKey {
                session.io.say("hint: the recovery key is no longer valid; latchkey recovery-key create\n")
            }
        }
    }

    /// `latchkey passcode change`.
    struct Change: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "change", abstract: "Change the passcode.",
            discussion: """
                EXAMPLES:
                  latchkey passcode change
                  printf '%s\\n' "$old" "$new" | latchkey passcode change
                  latchkey passcode change --passcode-file old --new-passcode-file new --rotate
                """)

        @OptionGroup var passcode: PasscodeOptions

        @Option(
            help: ArgumentHelp(
                "Take the new passcode from the first line of this file (mode 0600).", valueName: "file"),
            completion: .file())
        var newPasscodeFile: FilePath?

        @Option(help: ArgumentHelp("Take the new passcode from this file descriptor.", valueName: "number"))
        var newPasscodeFd: Int32?

        @Flag(help: "Also generate new keys and re-encrypt every item; for an old passcode that is known to others.")
        var rotate = false

        @OptionGroup var weak: AllowWeakOption

        func validate() throws {
            if newPasscodeFile != nil, newPasscodeFd != nil {
                throw ValidationError("--new-passcode-file and --new-passcode-fd exclude each other")
            }
        }

        func run(in session: CommandSession) throws(CommandFailure) {
            let keychain = try session.keychain()
            let status = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.lockStatus() }
            guard status.hasPasscode else {
                throw .status(KeychainError(.param, "no passcode is set", hint: "latchkey passcode set"))
            }
            let old = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try passcode.source.read(in: session)
            }
            let source = PasscodeSource(
                file: newPasscodeFile, descriptor: newPasscodeFd, fileOption: "--new-passcode-file",
                usesEnvironment: false)
            let new = try weak.require(try source.readNew("new passcode: ", in: session), in: session)
            let progress = ProgressLine("items re-encrypted", io: session.io)
            let rotates = rotate
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                defer { progress.clear() }
                try keychain.changePasscode(from: old, to: new, rotates: rotates) { progress.show($0, of: $1) }
            }
            session.io.say("latchkey: the passcode is changed\n")
            if rotates, status.hasRecoveryKey {
                session.io.say("hint: the recovery key is no longer valid; latchkey recovery-key create\n")
            }
        }
    }
}
