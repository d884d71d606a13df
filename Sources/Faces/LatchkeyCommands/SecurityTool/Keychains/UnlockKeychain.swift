// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `security unlock-keychain`.
enum UnlockKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "unlock-keychain",
        summary: "Unlock the keychain.",
        options: [
            CommandOption("-p", .required("password"), help: "the passcode; visible to every process"),
            CommandOption("-u", help: "accepted; only the passcode unlocks the keychain"),
        ] + CommandOption.passcode,
        operands: "[keychain]",
        notes: [
            """
            A keychain without a passcode is always unlocked; the command then does nothing. The prompt and \
            --passcode-file are safer than -p.
            """
        ],
        examples: ["unlock-keychain", "unlock-keychain --passcode-file ~/.passcode"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        guard let word = arguments["-p"] else {
            return try LockOperations.unlock(try PasscodeSource(arguments), in: session)
        }
        session.warn(
            "a passcode on the command line is visible to every process",
            hint: "omit -p, or use --passcode-file FILE")
        try LockOperations.unlock(keychain, with: word.secret, in: session)
    }
}
