// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
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
            As on macOS, a name or a relative path is below ~/Library/Keychains, where the names of files end in -db. \
            The file is a marker for programs that look for one, and has no secret: the keychain is a directory below \
            $XDG_DATA_HOME/latchkey/keychains. A file that exists is never replaced.
            """,
            """
            If no latchkeyd is running, the command starts one to keep the keychain unlocked for the commands that \
            follow. LATCHKEY_NO_DAEMON=1 forbids that.
            """,
        ],
        examples: [
            "create-keychain build.keychain", "create-keychain --passcode-file ~/.pass /tmp/build.keychain-db",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard !arguments.operands.isEmpty else { throw .usage("the name of the keychain is missing") }
        let overview = try KeychainOperand.overview(in: session)
        let files = try arguments.operands.map { (word) throws(CommandFailure) in
            try KeychainOperand.new(word, overview)
        }
        let password = try KeychainPassword.new(arguments, in: session)
        // A keychain without a password needs no process that keeps it unlocked.
        if password.count > 0 { try DaemonStart.ifNeeded(in: session) }
        for (file, word) in zip(files, arguments.operands) {
            try CommandFailure.mapErrors("SecKeychainCreate \(word.text)") { () throws(KeychainError) in
                try KeychainClient.createKeychain(file, passcode: password.count > 0 ? password : nil)
            }
            if let path = file.path, !file.exists {
                session.warn("note: there is no file at \(path), because this process cannot write there")
            }
        }
    }
}
