// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey security-key enroll`.
struct SecurityKeyEnroll: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll", abstract: "Enroll the security key that is plugged in.",
        discussion: """
            Requires the passcode of the keychain, the PIN of the security key if it has one, and two touches. If an \
            enrolled key is plugged in as well, touch it first: items that only it opens then open with the new one, \
            too.

            EXAMPLES:
              latchkey security-key enroll blue
              latchkey security-key enroll --user-presence "key at home"
            """)

    @Argument(help: ArgumentHelp("A name for the key.", valueName: "name"))
    var name: String

    @Flag(help: "The key also opens items with userPresence, instead of the passcode.")
    var userPresence = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var passcode: PasscodeOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let key = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let code = try passcode.source.read(in: session)
            session.io.say("latchkey: touch the security key each time it blinks\n")
            return try keychain.enrollSecurityKey(
                SecurityKeyRequest(name: name, satisfiesUserPresence: userPresence), passcode: code)
        }
        if json { return try session.write(JSONText.of(SecurityKeyReport(key))) }
        session.io.say("latchkey: the security key \(key.name) is enrolled\n")
    }
}
