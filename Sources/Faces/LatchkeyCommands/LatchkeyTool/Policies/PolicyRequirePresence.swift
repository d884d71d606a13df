// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

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
            try policies.add(group)
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
