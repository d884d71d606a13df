// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import SecretMemory

/// `security create-keychain`.
enum CreateKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "create-keychain",
        summary: "Create keychains with a password, and add them to the search list.",
        options: [
            CommandOption("-p", .required("password"), help: "the password; visible to every process"),
            CommandOption("-P", help: "ask for the password"),
        ] + CommandOption.passcode,
        operands: "keychain...",
        notes: [
            """
            Without -p, the password is asked for twice on a terminal, and otherwise read from one line of standard \
            input, or from two equal ones. A keychain with an empty password is always unlocked.
            """,
            """
            The keychain is a directory below $XDG_DATA_HOME/latchkey/keychains. Of a path, only the last part counts.
            """,
            """
            If no latchkeyd is running, the command starts one, which keeps the keychain unlocked for the commands that \
            follow. LATCHKEY_NO_DAEMON=1 forbids that.
            """,
        ],
        examples: ["create-keychain build.keychain", "create-keychain --passcode-file ~/.pass build.keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard !arguments.operands.isEmpty else { throw .usage("the name of the keychain is missing") }
        let overview = try KeychainOperand.overview(in: session)
        var names: [KeychainName] = []
        for word in arguments.operands {
            let operand = try KeychainOperand(word, overview)
            guard case .named(let name) = operand, overview.place(name) == nil else {
                throw .status(KeychainError(.duplicateKeychain), of: "SecKeychainCreate \(word.text)")
            }
            names.append(name)
        }
        let password = try KeychainPassword.new(arguments, in: session)
        // A keychain without a password needs no process that keeps it unlocked.
        if password.count > 0 { try DaemonStart.ifNeeded(in: session) }
        for (name, word) in zip(names, arguments.operands) {
            try CommandFailure.mapErrors("SecKeychainCreate \(word.text)") { () throws(KeychainError) in
                try KeychainClient.registry().createKeychain(name, passcode: password.count > 0 ? password : nil)
            }
        }
    }
}
