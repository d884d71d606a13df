// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions

/// `latchkey policy`.
struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.policy.rawValue, abstract: LatchkeySubcommand.policy.abstract,
        discussion: """
            A policy is about an access group, as 'latchkey list' shows it. With 'require-presence', every password and \
            private key of the group has the access control userPresence: a finger, a security key or the passcode \
            opens it, and no program without the person. Items with another access control keep it.

            EXAMPLES:
              latchkey policy require-presence program.bank
              latchkey policy list
              latchkey policy remove program.bank
            """,
        subcommands: [PolicyList.self, PolicyRequirePresence.self, PolicyRemove.self])
}

extension CommandSession {
    /// Returns the policies of the keychain.
    func policies() throws(CommandFailure) -> KeychainPolicies { KeychainPolicies(try keychain()) }
}
