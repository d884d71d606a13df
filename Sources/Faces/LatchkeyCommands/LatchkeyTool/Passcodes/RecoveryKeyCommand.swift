// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey recovery-key`.
struct RecoveryKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.recoveryKey.rawValue, abstract: LatchkeySubcommand.recoveryKey.abstract,
        discussion: """
            A recovery key opens the items that may leave this device, if the passcode is forgotten or the device key \
            is lost. Items of the ThisDeviceOnly classes are then lost. The recovery key is printed once and not \
            stored: write it down.

            EXAMPLES:
              latchkey recovery-key create
              latchkey recovery-key use
            """,
        subcommands: [Create.self, Use.self, Remove.self])

    /// `latchkey recovery-key create`.
    struct Create: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create a recovery key and print it once. An earlier one becomes invalid.",
            discussion: """
                EXAMPLES:
                  latchkey recovery-key create
                  install -m 600 /dev/null paper.txt
                  latchkey recovery-key create --passcode-file ~/.passcode > paper.txt
                """)

        @OptionGroup var passcode: PasscodeOptions

        func run(in session: CommandSession) throws(CommandFailure) {
            let keychain = try session.keychain()
            let text = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                let code =
                    try keychain.lockStatus().hasPasscode ? try passcode.source.read(in: session) : nil
                return try keychain.createRecoveryKey(code)
            }
            do throws(CommandFailure) {
                try session.writeSecret(
                    SecretBytes(count: text.count + 1) { line in
                        text.withUnsafeBytes { line[..<text.count].copyBytes(from: $0) }
                        line[text.count] = UInt8(ascii: "\n")
                    }, to: .output)
            } catch {
                session.io.say(
                    """
                    latchkey: a recovery key was created but could not be printed; earlier ones are no longer valid. \
                    Create another one

                    """
                )
                throw error
            }
            session.io.say("latchkey: write it down and keep it away from this device; it is shown only once\n")
        }
    }

    /// `latchkey recovery-key use`.
    struct Use: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "use", abstract: "Unlock the keychain with its recovery key and set a new passcode.",
            discussion: """
                If the device key is lost, a new one is created. Items of the ThisDeviceOnly classes with lost keys \
                are removed.

                EXAMPLES:
                  latchkey recovery-key use --dry-run
                  latchkey recovery-key use
                  latchkey recovery-key use --key-file paper.txt --passcode-file ~/.passcode
                """)

        @Option(
            help: ArgumentHelp(
                "Take the recovery key from the first line of this file (mode 0600).", valueName: "file"),
            completion: .file())
        var keyFile: FilePath?

        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var weak: AllowWeakOption

        @Flag(name: [.customShort("n"), .long], help: "Only show the items that would be lost.")
        var dryRun = false

        func run(in session: CommandSession) throws(CommandFailure) {
            let source = PasscodeSource(
                file: keyFile, fileOption: "--key-file", noun: "recovery key", usesEnvironment: false)
            let key = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try source.read("recovery key: ", in: session)
            }
            // Checks the key before the user is asked for a new passcode.
            let deletedCount = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try KeychainClient.recover(with: key, newPasscode: nil)
            }
            session.io.say(
                "latchkey: the recovery key fits; \(Self.items(deletedCount)) \(dryRun ? "would" : "will") be lost\n")
            if dryRun { return }
            let new = try weak.require(try passcode.source.readNew("new passcode: ", in: session), in: session)
            _ = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try KeychainClient.recover(with: key, newPasscode: new)
            }
            session.io.say("latchkey: the new passcode is set\n")
        }

        private static func items(_ count: Int) -> String {
            count == 1 ? "1 item that may not leave its device" : "\(count) items that may not leave their device"
        }
    }

    /// `latchkey recovery-key remove`.
    struct Remove: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Make the recovery key invalid.",
            discussion: """
                EXAMPLES:
                  latchkey recovery-key remove
                """)

        @OptionGroup var passcode: PasscodeOptions

        func run(in session: CommandSession) throws(CommandFailure) {
            let keychain = try session.keychain()
            let existed = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                let code =
                    try keychain.lockStatus().hasPasscode ? try passcode.source.read(in: session) : nil
                return try keychain.removeRecoveryKey(code)
            }
            session.io.say(
                existed ? "latchkey: the recovery key is no longer valid\n" : "latchkey: there is no recovery key\n")
        }
    }
}
