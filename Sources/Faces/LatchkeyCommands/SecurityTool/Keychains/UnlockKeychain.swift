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
            """,
            """
            If no latchkeyd is running, the command starts one to keep the keychain unlocked for the commands that \
            follow. LATCHKEY_NO_DAEMON=1 forbids that.
            """,
        ],
        examples: [
            "unlock-keychain", "unlock-keychain -p password build.keychain",
            "unlock-keychain --passcode-file ~/.passcode",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        var keychain = try KeychainOperand.one(of: arguments.operands, in: session)
        try keychain.requireChangeable()
        guard try LockOperations.hasPasscode(keychain.session) else { return }
        try DaemonStart.ifNeeded(in: session)
        keychain = try KeychainOperand.one(of: arguments.operands, in: session)
        guard let word = arguments["-p"] else {
            // macOS's prompt, because programs that type wait for it.
            return try LockOperations.unlock(
                keychain.session, try PasscodeSource(arguments), prompt: "password to unlock the keychain: ",
                in: session)
        }
        // A script acts on purpose, and its output is that of macOS.
        if session.io.isErrorInteractive {
            session.warn(
                "a passcode on the command line is visible to every process",
                hint: "omit -p, or use --passcode-file FILE")
        }
        try LockOperations.unlock(keychain.session, with: word.secret, in: session)
    }
}
