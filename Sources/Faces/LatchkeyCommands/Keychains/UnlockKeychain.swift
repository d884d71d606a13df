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
            CommandOption("-p", .required("password"), help: "the passcode; every process can read it there"),
            CommandOption("-u", help: "accepted; there is no other way than the passcode"),
        ] + CommandOption.passcode,
        operands: "[keychain]",
        notes: [
            "A keychain without a passcode is always open, and the command then does nothing. Better than -p is to be asked, or --passcode-file."
        ],
        examples: ["unlock-keychain", "unlock-keychain --passcode-file ~/.passcode"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        guard let word = arguments["-p"] else {
            return try LockOperations.unlock(try PasscodeSource(arguments), in: session)
        }
        session.warn(
            "a passcode on the command line can be read by every process",
            hint: "leave -p out, or use --passcode-file FILE")
        try LockOperations.unlock(keychain, with: word.secret, in: session)
    }
}
