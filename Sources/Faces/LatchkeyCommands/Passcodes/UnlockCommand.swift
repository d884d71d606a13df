// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey unlock`.
struct UnlockCommand: OwnParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OwnCommand.unlock.rawValue, abstract: OwnCommand.unlock.abstract,
        discussion: """
            EXAMPLES:
              latchkey unlock
              latchkey unlock --passcode-file ~/.passcode
            """)

    @OptionGroup var passcode: PasscodeOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        try SharedLock.unlock(passcode.source, in: session)
    }
}
