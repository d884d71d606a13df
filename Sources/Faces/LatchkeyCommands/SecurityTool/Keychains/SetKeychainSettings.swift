// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
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
        notes: ["If a passcode is set, the change requires it."],
        examples: ["set-keychain-settings -lut 21600"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        let status = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.lockStatus() }
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
        try SettingsCommand.change(to: settings, of: status, try PasscodeSource(arguments), in: session)
    }
}
