// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey unlock`.
struct UnlockCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.unlock.rawValue, abstract: LatchkeySubcommand.unlock.abstract,
        discussion: """
            EXAMPLES:
              latchkey unlock
              latchkey unlock --passcode-file ~/.passcode
            """)

    @OptionGroup var passcode: PasscodeOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        if try LockOperations.hasPasscode(try session.keychain()) { try DaemonStart.ifNeeded(in: session) }
        try LockOperations.unlock(try session.keychain(), passcode.source, in: session)
    }
}
