// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey passcode tie-to-login`.
struct PasscodeTie: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "tie-to-login", abstract: "Let the passcode follow the login password.",
        discussion: """
            A change of the login password then changes the passcode as well, if the passcode is the old password. \
            Requires the PAM module pam_latchkey; it also unlocks the keychain at login if the passcode is the login \
            password.

            EXAMPLES:
              latchkey passcode tie-to-login
            """)

    @OptionGroup var passcode: PasscodeOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        try LoginTie.change(to: true, passcode.source, in: session)
        LoginRefusalMarker.remove()
        session.io.say("latchkey: the passcode follows the login password, if it is the login password now\n")
    }
}

/// `latchkey passcode untie-from-login`.
struct PasscodeUntie: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "untie-from-login", abstract: "Let the passcode no longer follow the login password.",
        discussion: """
            The keychain is still unlocked at login as long as the passcode is the login password.

            EXAMPLES:
              latchkey passcode untie-from-login
            """)

    @OptionGroup var passcode: PasscodeOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        try LoginTie.change(to: false, passcode.source, in: session)
        session.io.say("latchkey: the passcode stays as it is when the login password changes\n")
    }
}

/// The setting that both change.
private enum LoginTie {
    static func change(
        to isTied: Bool, _ source: PasscodeSource, in session: CommandSession
    ) throws(CommandFailure) {
        let keychain = try LoginPasswordCommand.keychain()
        let status = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.lockStatus() }
        guard status.hasPasscode else {
            throw .status(
                KeychainError(
                    .param, "no passcode is set",
                    hint: "latchkey passcode set, with the login password as the passcode"))
        }
        var settings = status.settings
        settings.isTiedToLogin = isTied
        guard settings != status.settings else { return }
        try SettingsCommand.change(keychain, to: settings, of: status, source, in: session)
    }
}
