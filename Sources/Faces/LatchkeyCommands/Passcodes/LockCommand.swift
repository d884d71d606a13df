// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey lock`.
struct LockCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.lock.rawValue, abstract: LatchkeySubcommand.lock.abstract,
        discussion: """
            EXAMPLES:
              latchkey lock
              latchkey lock --now
            """)

    @Flag(help: "Close at once, without the grace of the settings.")
    var now = false

    func run(in session: CommandSession) throws(CommandFailure) {
        try LockOperations.lock(immediately: now, in: session)
    }
}
