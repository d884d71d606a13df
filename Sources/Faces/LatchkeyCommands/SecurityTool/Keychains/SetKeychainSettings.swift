// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService

/// `security set-keychain-settings`.
enum SetKeychainSettings: SecurityCommand {
    static let definition = CommandDefinition(
        name: "set-keychain-settings",
        summary: "Set when the keychain locks itself.",
        options: [
            CommandOption("-l", help: "lock when the machine goes to sleep"),
            CommandOption("-u", help: "lock after the time given with -t"),
            CommandOption("-t", .required("seconds"), help: "lock after this time without use; without -t, never"),
        ] + CommandOption.passcode,
        operands: "[keychain]",
        notes: [
            """
            The change of the login keychain requires its passcode, if one is set. A keychain that create-keychain has \
            made only has to be unlocked; the next unlock stores the change.
            """
        ],
        examples: ["set-keychain-settings -lut 21600 build.keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychain = try KeychainOperand.one(of: arguments.operands, in: session)
        try keychain.requireChangeable()
        let status = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try keychain.session.lockStatus()
        }
        var settings = status.settings
        settings.locksOnSleep = arguments.contains("-l")
        settings.lockInterval = 0
        if let word = arguments["-t"] {
            guard let seconds = UInt32(word.text) else {
                throw .parameter("the value of -t must be a number of seconds, but is '\(word.text)'")
            }
            settings.lockInterval = seconds
        }
        guard settings != status.settings else { return }
        let source = try PasscodeSource(arguments)
        // The lock settings of a script's unlocked keychain change without its password, as on macOS.
        guard keychain.name != .login, status.state == .unlocked else {
            return try SettingsCommand.change(keychain.session, to: settings, of: status, source, in: session)
        }
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try keychain.session.changeSettings(to: settings, try source.namedByOption())
        }
    }
}
