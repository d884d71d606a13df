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

    @Flag(help: "Lock immediately, without the grace period.")
    var now = false

    func run(in session: CommandSession) throws(CommandFailure) {
        try LockOperations.lock(try session.keychain(), immediately: now, in: session)
    }
}
