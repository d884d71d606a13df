// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

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
    fileprivate func policies() throws(CommandFailure) -> KeychainPolicies { KeychainPolicies(try keychain()) }
}

/// `latchkey policy list`.
struct PolicyList: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the groups with a policy.",
        discussion: """
            EXAMPLES:
              latchkey policy list
              latchkey policy list --json | jq -r '.[].group'
            """)

    @Flag(help: "Print JSON.")
    var json = false

    private struct Report: Encodable {
        let group: String
        let policy = "require-presence"
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let policies = try session.policies()
        let groups = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try policies.guardedGroups() }
        if json { return try session.write(JSONText.of(groups.map(Report.init))) }
        for group in groups { try session.write("\(group)\trequire-presence\n") }
    }
}

/// `latchkey policy require-presence`.
struct PolicyRequirePresence: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "require-presence", abstract: "Require the person for every secret of a group.",
        discussion: """
            The keychain must have a passcode. Items that can be synchronized cannot require the person: they are named, \
            and the command exits with 1.

            EXAMPLES:
              latchkey policy require-presence --dry-run program.bank
              latchkey policy require-presence program.bank
            """)

    @Argument(help: "The access group.")
    var group: String

    @Flag(name: [.customShort("n"), .long], help: "Only show the items that would require the person.")
    var dryRun = false

    @OptionGroup var passcode: PasscodeOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.source.unlockOnDemand(in: session)
        guard !group.isEmpty, group != "*", group != AccessGroup.token.name else {
            throw .parameter("'\(group)' is no access group with items of programs")
        }
        let keychain = try session.keychain()
        let policies = KeychainPolicies(keychain)
        let items = try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> [ItemRecord] in
            guard try keychain.lockStatus().hasPasscode else {
                throw KeychainError(
                    .notAvailable, "the keychain has no passcode, so nothing can show that the person is present",
                    hint: "latchkey passcode set")
            }
            let items = try policies.unguardedItems(in: group)
            guard !dryRun else { return items }
            do throws(KeychainError) { try policies.add(group) } catch {
                guard error.status == .duplicateItem else { throw error }
            }
            // Also those that were added meanwhile.
            return try policies.unguardedItems(in: group)
        }
        var left = 0
        for item in items {
            let name = item.itemClass.isPassword ? item.passwordName.text : item[.label]?.text ?? ""
            guard !dryRun else {
                try session.write("would require the person: \(name)\n")
                continue
            }
            do throws(KeychainError) {
                if try policies.guardItem(item) { session.io.say("latchkey: requires the person: \(name)\n") }
            } catch {
                left += 1
                session.io.say("latchkey: does not require the person: \(name): \(error.problem)\n")
            }
        }
        guard left == 0 else { throw .reported(1) }
    }
}

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
