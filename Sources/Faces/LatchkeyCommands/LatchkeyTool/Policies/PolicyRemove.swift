// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions

/// `latchkey policy remove`.
struct PolicyRemove: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "End the policy of a group; its items keep their access controls.",
        discussion: """
            EXAMPLES:
              latchkey policy remove program.bank
            """)

    @Argument(help: "The access group.")
    var group: String

    func run(in session: CommandSession) throws(CommandFailure) {
        let policies = try session.policies()
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try policies.remove(group) }
    }
}
