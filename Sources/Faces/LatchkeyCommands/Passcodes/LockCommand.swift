// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey lock`.
struct LockCommand: OwnParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OwnCommand.lock.rawValue, abstract: OwnCommand.lock.abstract,
        discussion: """
            EXAMPLES:
              latchkey lock
              latchkey lock --now
            """)

    @Flag(help: "Close at once, without the grace of the settings.")
    var now = false

    func run(in session: CommandSession) throws(CommandFailure) {
        try SharedLock.lock(immediately: now, in: session)
    }
}
